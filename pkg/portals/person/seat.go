package person

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Reason is why somebody cannot come in by a place.
type Reason string

// The reasons. A unit that is switched off switches off the places in it.
const (
	NoMembership           Reason = "no_membership"
	PersonDisabled         Reason = "person_disabled"
	MembershipDisabled     Reason = "membership_disabled"
	NotStarted             Reason = "not_started"
	MembershipEnded        Reason = "membership_ended"
	WasErased              Reason = "erased"
	GuardianConsentMissing Reason = "guardian_consent_missing"
	TooYoung               Reason = "too_young"
)

var sentences = map[Reason]string{
	NoMembership:           "The person has no place on this portal.",
	PersonDisabled:         "The person is switched off.",
	MembershipDisabled:     "The place on this portal, or the group that it belongs to, is switched off.",
	NotStarted:             "The place on this portal has not begun yet.",
	MembershipEnded:        "The place on this portal has ended.",
	WasErased:              "The person was erased.",
	GuardianConsentMissing: "A parent or guardian must agree first.",
	TooYoung:               "The portal is for older people.",
}

// StandingError says that somebody cannot come in to a portal, and why.
type StandingError struct{ Reason Reason }

// Error is a sentence that the person may read.
func (e *StandingError) Error() string { return sentences[e.Reason] }

// Seat is a person's place on a portal that can be used now: the one that is
// named, or else the oldest. The error is errdefs.NotFound, errdefs.Gone or a
// StandingError, which says what is wrong with the oldest.
func Seat(ctx context.Context, tx *tenant.Tx, on id.Portal, who id.Person, which id.Membership, now time.Time) (Standing, error) {
	if _, err := Find(ctx, tx, who); err != nil {
		return Standing{}, err
	}
	rows, err := tx.Query(ctx, standingsOnPortal, tx.Org, who, on, which)
	if err != nil {
		return Standing{}, err
	}
	places, err := collect(rows, now)
	if err != nil {
		return Standing{}, err
	}
	return usable(places)
}

// Seating is a Seat that is read in one trip with other things.
type Seating struct {
	people []Person
	places []Standing
}

// Queue asks for what Seat looks at.
func (s *Seating) Queue(r *tenant.Reads, org id.Org, on id.Portal, who id.Person, which id.Membership, now time.Time) {
	r.Query(func(rows pgx.Rows) (err error) {
		s.people, err = pgx.CollectRows(rows, scan)
		return err
	}, selectOne, org, who)
	r.Query(func(rows pgx.Rows) (err error) {
		s.places, err = collect(rows, now)
		return err
	}, standingsOnPortal, org, who, on, which)
}

// Seat is what came of Queue, as Seat answers it.
func (s *Seating) Seat() (Standing, error) {
	if _, err := one(errdefs.NotFound{Noun: Noun}, s.people, nil); err != nil {
		return Standing{}, err
	}
	return usable(s.places)
}

// usable is the oldest of places that can be used. The error is a StandingError.
func usable(places []Standing) (Standing, error) {
	refusal := NoMembership
	for i, place := range slices.Backward(places) {
		if place.Usable {
			return place, nil
		}
		if i == len(places)-1 {
			refusal = place.Reason
		}
	}
	return Standing{}, &StandingError{refusal}
}

// seenEvery is how exactly it is noted when somebody was seen: they look at many
// pages, and each note is a write.
const seenEvery = 5 * time.Minute

// Seen notes that somebody looked at a page, unless that was noted just before.
func Seen(ctx context.Context, t *tenant.Tenants, org id.Org, p Person, now time.Time) error {
	if p.LastSeenAt != nil && now.Sub(*p.LastSeenAt) < seenEvery {
		return nil
	}
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("person", p.ID)
		_, err := tx.Exec(ctx, `
			UPDATE person SET last_seen_at = $3 WHERE org_id = $1 AND id = $2 AND state <> 'erased' AND (last_seen_at IS NULL OR last_seen_at < $4)`,
			org, p.ID, now, now.Add(-seenEvery))
		return err
	}, tenant.Idempotent(true))
}

// Keep leaves a person, and what switches their places on a portal, as they are
// until the commit, for what is to begin for them: whoever erases or switches
// them off meanwhile finds it, or it finds them so. A zero portal is none.
func Keep(ctx context.Context, tx *tenant.Tx, on id.Portal, who id.Person) error {
	if !on.IsZero() {
		if err := sharePortals(ctx, tx, on); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `SELECT 1 FROM person WHERE org_id = $1 AND id = $2 FOR SHARE`, tx.Org, who)
	return err
}

// SignedIn notes that somebody came in to their place, by a door.
func SignedIn(ctx context.Context, tx *tenant.Tx, who id.Person, place id.Membership, door string, now time.Time) error {
	tx.Touch("person", who)
	if _, err := tx.Exec(ctx, `
		UPDATE person SET last_seen_at = $3, state = CASE WHEN state = 'invited' THEN 'active' ELSE state END WHERE org_id = $1 AND id = $2`,
		tx.Org, who, now); err != nil {
		return err
	}
	tx.Touch("membership", place)
	_, err := tx.Exec(ctx, `
		UPDATE membership SET last_sign_in_at = $3, door = $4 WHERE org_id = $1 AND id = $2`, tx.Org, place, now, door)
	return err
}
