package admission

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/consent"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/person"
	"visavis.dev/pkg/portal"
	"visavis.dev/pkg/tenant"
)

// Reason is why somebody's place on a portal cannot be used.
type Reason string

// The reasons.
const (
	NoMembership           Reason = "no_membership"
	PersonDisabled         Reason = "person_disabled"
	MembershipDisabled     Reason = "membership_disabled"
	NotStarted             Reason = "not_started"
	MembershipEnded        Reason = "membership_ended"
	GuardianConsentMissing Reason = "guardian_consent_missing"
	TooYoung               Reason = "too_young"
)

var sentences = map[Reason]string{
	NoMembership:           "The person has no place on this portal.",
	PersonDisabled:         "The person is switched off.",
	MembershipDisabled:     "The place on this portal, or the group that it belongs to, is switched off.",
	NotStarted:             "The place on this portal has not begun yet.",
	MembershipEnded:        "The place on this portal has ended.",
	GuardianConsentMissing: "A parent or guardian must agree first.",
	TooYoung:               "The portal is for older people.",
}

// StandingError says that somebody's place on a portal cannot be used, and why.
type StandingError struct{ Reason Reason }

// Error is a sentence that the person may read.
func (e *StandingError) Error() string { return sentences[e.Reason] }

// Seat is a person's place on a portal that can be used now: the one that is
// named, or any. d is the portal as it was published. The error is
// person.ErrUnknown, person.ErrErased or a StandingError.
func Seat(ctx context.Context, tx *tenant.Tx, d portal.Definition, p id.Portal, who id.Person, which id.Membership, now time.Time) (person.Person, person.Membership, error) {
	sits, err := person.Find(ctx, tx, who)
	if err != nil {
		return sits, person.Membership{}, err
	}
	places, err := placesOn(ctx, tx, p, who, which)
	if err != nil {
		return sits, person.Membership{}, err
	}
	err = &StandingError{NoMembership}
	for i, place := range places {
		failed := usable(ctx, tx, d, sits, place, now)
		if failed == nil {
			return sits, place, nil
		}
		if i == 0 {
			err = failed
		}
	}
	return sits, person.Membership{}, err
}

// placesOn are a person's places on a portal, oldest first. It rides
// membership_by_person.
func placesOn(ctx context.Context, tx *tenant.Tx, p id.Portal, who id.Person, which id.Membership) ([]person.Membership, error) {
	rows, err := tx.Query(ctx, `
		SELECT id FROM membership
		WHERE org_id = $1 AND person_id = $2 AND portal_id = $3 AND ($4::UUID IS NULL OR id = $4) ORDER BY id`, tx.Org, who, p, which)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.Membership])
	if err != nil {
		return nil, err
	}
	places := make([]person.Membership, len(ids))
	for i, m := range ids {
		if places[i], err = person.FindMembership(ctx, tx, m); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// usable says whether a place can be used now.
func usable(ctx context.Context, tx *tenant.Tx, d portal.Definition, who person.Person, m person.Membership, now time.Time) error {
	enabled, agreed, err := surroundings(ctx, tx, m)
	if err != nil {
		return err
	}
	youngest, oldest := years(who.AgeBand)
	refusal := Reason("")
	switch {
	case who.State == person.Disabled:
		refusal = PersonDisabled
	case !m.Enabled || !enabled:
		refusal = MembershipDisabled
	case m.StartsAt != nil && now.Before(*m.StartsAt):
		refusal = NotStarted
	case m.EndsAt != nil && !now.Before(*m.EndsAt):
		refusal = MembershipEnded
	case d.MinAge != nil && oldest < *d.MinAge:
		refusal = TooYoung
	case d.GuardianConsentUnder != nil && who.AgeBand.Minor() && youngest < *d.GuardianConsentUnder && !agreed:
		refusal = GuardianConsentMissing
	}
	if refusal != "" {
		return &StandingError{refusal}
	}
	return nil
}

// surroundings says whether the units that a place belongs to are switched on, and
// whether a guardian agreed to it.
func surroundings(ctx context.Context, tx *tenant.Tx, m person.Membership) (enabled, agreed bool, err error) {
	var b pgx.Batch
	enabled = true
	if !m.Unit.IsZero() {
		b.Queue(`
			WITH RECURSIVE above (parent_id, enabled, depth) AS (
				SELECT parent_id, enabled, 1 FROM unit WHERE org_id = $1 AND id = $2
				UNION ALL
				SELECT u.parent_id, u.enabled, a.depth + 1 FROM above a JOIN unit u ON u.org_id = $1 AND u.id = a.parent_id WHERE a.depth < 100)
			SELECT COALESCE(bool_and(enabled), false) FROM above`, tx.Org, m.Unit).
			QueryRow(func(row pgx.Row) error { return row.Scan(&enabled) })
	}
	if !m.Consent.IsZero() {
		b.Queue(`SELECT count(*) > 0 FROM consent WHERE org_id = $1 AND id = $2 AND state = $3`, tx.Org, m.Consent, consent.Given).
			QueryRow(func(row pgx.Row) error { return row.Scan(&agreed) })
	}
	if b.Len() == 0 {
		return enabled, agreed, nil
	}
	return enabled, agreed, tx.SendBatch(ctx, &b).Close()
}

// nobodyIsOlder is above every age that a portal can ask for.
const nobodyIsOlder = 1000

// years are the least and the greatest age of a band. Who is of an unknown age is
// not taken for a minor.
func years(band person.AgeBand) (youngest, oldest int64) {
	switch band {
	case person.Under13:
		return 0, 12
	case person.From13:
		return 13, 15
	case person.From16:
		return 16, 17
	case person.Adult, person.UnknownAge:
	}
	return 18, nobodyIsOlder
}

// young says whether conversations of somebody of a band are read by nobody (spec,
// learner_conversation).
func young(band person.AgeBand) bool { return band == person.Under13 || band == person.From13 }
