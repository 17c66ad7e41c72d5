package person

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func none(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// Change is what became of somebody, or of a place, that was changed.
type Change struct {
	// Fields names what changed, as the API does; none when nothing did.
	Fields []string
}

// LockAll is Lock for a change that may switch the person's places: until the
// commit nobody changes a switch above them.
func LockAll(ctx context.Context, tx *tenant.Tx, p id.Person) (Person, error) {
	// Rides membership_by_person.
	rows, err := tx.Query(ctx, `SELECT DISTINCT portal_id FROM membership WHERE org_id = $1 AND person_id = $2`, tx.Org, p)
	if err != nil {
		return Person{}, err
	}
	portals, err := pgx.CollectRows(rows, pgx.RowTo[id.Portal])
	if err != nil {
		return Person{}, err
	}
	if err := sharePortals(ctx, tx, portals...); err != nil {
		return Person{}, err
	}
	return Lock(ctx, tx, p)
}

// Update makes of a person that LockAll found what after says. What somebody who is
// switched off takes part in ends. The error is a
// errdefs.Invalid, ErrEmailTaken or ErrExternalIDTaken.
func Update(ctx context.Context, tx *tenant.Tx, before, after Person, who Author) (Person, Change, error) {
	if _, err := after.normalize(); err != nil {
		return before, Change{}, err
	}
	change := Change{Fields: differences(before, after)}
	if len(change.Fields) == 0 {
		return before, change, nil
	}
	after.Edition, after.UpdatedAt = before.Edition+1, who.At
	if err := after.save(ctx, tx); err != nil {
		return before, Change{}, err
	}
	// What it was changed to is not noted: the log outlasts the person's details.
	who.Log(tx, "person.updated", "person", after.ID, map[string]any{"changed": change.Fields})
	if slices.Contains(change.Fields, "email") {
		if err := inbox.StopJoining(ctx, tx, after.ID, who); err != nil {
			return after, change, err
		}
	}
	if !slices.Contains(change.Fields, "state") {
		return after, change, nil
	}
	if err := followPerson(ctx, tx, after.ID, who); err != nil || after.State != Disabled {
		return after, change, err
	}
	return after, change, hangUpAll(ctx, tx, ofPerson, after.ID, session.EndedByStaff, who)
}

// differences names what differs between two people, as the API does.
func differences(a, b Person) []string {
	var n names
	n.note("name", a.Name, b.Name)
	n.note("givenName", a.GivenName, b.GivenName)
	n.note("familyName", a.FamilyName, b.FamilyName)
	n.note("email", a.Email, b.Email)
	n.note("phone", a.Phone, b.Phone)
	n.note("externalId", a.ExternalID, b.ExternalID)
	n.note("language", a.Language, b.Language)
	n.note("timezone", a.Timezone, b.Timezone)
	n.note("ageBand", a.AgeBand, b.AgeBand)
	n.note("state", a.State, b.State)
	if !maps.Equal(a.Metadata, b.Metadata) {
		n = append(n, "metadata")
	}
	return n
}

// names are of what differs.
type names []string

func (n *names) note(name string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		*n = append(*n, name)
	}
}

// UpdateMembership makes of a place that LockMembership found what after says. A
// conversation that goes on by a place which is off, or over, ends.
// The error is errdefs.NotFound (of unit.OfPortal), ErrDates or an errdefs.Conflict.
func UpdateMembership(ctx context.Context, tx *tenant.Tx, before, after Membership, who Author) (Membership, Change, error) {
	change := Change{Fields: placeDifferences(before, after)}
	if len(change.Fields) == 0 {
		return before, change, nil
	}
	p, err := Find(ctx, tx, before.Person)
	if err != nil {
		return before, Change{}, err
	}
	if had, err := after.same(ctx, tx); err == nil {
		return before, Change{}, taken(had.ID)
	} else if !errdefs.IsNotFound(err, MembershipNoun) {
		return before, Change{}, err
	}
	if after, err = after.checked(ctx, tx, p); err != nil {
		return before, Change{}, err
	}
	after.Edition, after.UpdatedAt = before.Edition+1, who.At
	tx.Touch("membership", after.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE membership SET unit_id = $3, role = $4, enabled = $5, starts_at = $6, ends_at = $7, external_id = $8, metadata = $9,
			edition = $10, updated_at = $11, told_on = $12
		WHERE org_id = $1 AND id = $2`,
		tx.Org, after.ID, after.Unit, after.Role, after.Enabled, after.StartsAt, after.EndsAt, after.ExternalID, after.Metadata,
		after.Edition, after.UpdatedAt, after.ToldOn); err != nil {
		return before, Change{}, err
	}
	if slices.ContainsFunc(change.Fields, func(name string) bool { return slices.Contains(audienceFields, name) }) {
		unit.PlacesChanged(tx, after.Portal)
	}
	after.tell(tx, before, change.Fields, who)
	who.Log(tx, "membership.updated", "membership", after.ID, map[string]any{"changed": change.Fields})
	if after.ToldOn && (after.EndsAt == nil || who.At.Before(*after.EndsAt)) {
		return after, change, nil
	}
	return after, change, hangUpAll(ctx, tx, ofPlace, after.ID, session.EndedByStaff, who)
}

// audienceFields are what of a place decides what is for who has it.
var audienceFields = []string{"unitId", "role", "startsAt", "endsAt"}

// tell tells of a change: its own switch has an event of its own, unless another
// switch keeps the place off.
func (m Membership) tell(tx *tenant.Tx, before Membership, fields []string, who Author) {
	flips := m.ToldOn != before.ToldOn
	others := slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return name == "enabled" && flips })
	if len(others) > 0 {
		event.Emit(tx, m.draft(event.MemberUpdated, who, map[string]any{"changedFields": others, "updatedAt": who.At}))
	}
	if flips {
		event.Emit(tx, m.switched(who))
	}
}

// placeDifferences names what differs between two places, as the API does.
func placeDifferences(a, b Membership) []string {
	var n names
	n.note("role", a.Role, b.Role)
	n.note("unitId", a.Unit, b.Unit)
	if !sameTime(a.StartsAt, b.StartsAt) {
		n = append(n, "startsAt")
	}
	if !sameTime(a.EndsAt, b.EndsAt) {
		n = append(n, "endsAt")
	}
	n.note("enabled", a.Enabled, b.Enabled)
	n.note("externalId", a.ExternalID, b.ExternalID)
	if !maps.Equal(a.Metadata, b.Metadata) {
		n = append(n, "metadata")
	}
	return n
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// Leave takes a place away that LockMembership found, and ends the conversations that
// go on by it.
func Leave(ctx context.Context, tx *tenant.Tx, m Membership, who Author) error {
	tx.Touch("membership", m.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE membership SET removed_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, m.ID, who.At); err != nil {
		return err
	}
	unit.PlacesChanged(tx, m.Portal)
	event.Emit(tx, m.draft(event.MemberRemoved, who, map[string]any{"removedAt": who.At}))
	if err := hangUpAll(ctx, tx, ofPlace, m.ID, session.EndedByStaff, who); err != nil {
		return err
	}
	who.Log(tx, "membership.deleted", "membership", m.ID, map[string]any{"personId": m.Person, "portalId": m.Portal})
	return nil
}
