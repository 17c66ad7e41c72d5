package person

import (
	"context"
	"maps"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// Place is a place to be given to somebody.
type Place struct {
	Portal id.Portal
	// Unit is the zero id for a place outside any.
	Unit             id.Unit
	Role             Role
	StartsAt, EndsAt *time.Time
	ExternalID       *string
	Metadata         map[string]string
	// Find answers the place that the person has already, as it is, instead of
	// an errdefs.Conflict.
	Find bool
}

// Join gives a person that is locked a place, and answers whether it is new. Whoever
// locks the person calls Hold before. The error is errdefs.NotFound (of
// the portal, or of unit.OfPortal), errdefs.Archived, ErrDates or an errdefs.Conflict.
func Join(ctx context.Context, tx *tenant.Tx, p Person, at Place, who Author) (Membership, bool, error) {
	m, joined, err := join(ctx, tx, p, at, who)
	if err != nil || !joined {
		return m, joined, err
	}
	who.Log(tx, "membership.added", "membership", m.ID, map[string]any{
		"personId": m.Person, "portalId": m.Portal, "role": m.Role,
	})
	return m, true, nil
}

func join(ctx context.Context, tx *tenant.Tx, p Person, at Place, who Author) (Membership, bool, error) {
	if err := Hold(ctx, tx, at.Portal); err != nil {
		return Membership{}, false, err
	}
	m := Membership{
		ID: id.NewMembership(), Person: p.ID, Portal: at.Portal, Unit: at.Unit, Role: at.Role, Enabled: true, StartsAt: at.StartsAt,
		EndsAt: at.EndsAt, ExternalID: at.ExternalID, Metadata: at.Metadata, Edition: 1, CreatedAt: who.At, UpdatedAt: who.At,
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	had, err := m.same(ctx, tx)
	switch {
	case err == nil && at.Find:
		return had, false, nil
	case err == nil:
		return had, false, taken(had.ID)
	case !errdefs.IsNotFound(err, MembershipNoun):
		return Membership{}, false, err
	}
	m, err = m.checked(ctx, tx, p)
	if err != nil {
		return Membership{}, false, err
	}
	tx.Touch("membership", m.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, starts_at, ends_at, external_id, metadata, edition,
			created_at, updated_at, told_on)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)`,
		tx.Org, m.ID, m.Person, m.Portal, m.Unit, m.Role, m.Enabled, m.StartsAt, m.EndsAt, m.ExternalID, m.Metadata, m.Edition,
		m.CreatedAt, m.ToldOn)
	unit.PlacesChanged(tx, m.Portal)
	event.Emit(tx, m.added(who))
	return m, true, err
}

// checked checks a place against its portal and notes whether it is switched on.
func (m Membership) checked(ctx context.Context, tx *tenant.Tx, p Person) (Membership, error) {
	if m.StartsAt != nil && m.EndsAt != nil && !m.StartsAt.Before(*m.EndsAt) {
		return m, ErrDates
	}
	m.ToldOn = m.Enabled && p.State != Disabled
	if m.Unit.IsZero() {
		return m, nil
	}
	u, err := unit.Find(ctx, tx, m.Unit)
	if errdefs.IsNotFound(err, unit.Noun) || err == nil && u.Portal != m.Portal {
		return m, unit.OfPortal.NotFound(m.Unit)
	}
	if err != nil {
		return m, err
	}
	on, err := unit.On(ctx, tx, m.Unit)
	m.ToldOn = m.ToldOn && len(on) > 0
	return m, err
}

// same finds another membership that is the same place. Its person is locked,
// so that it stays so. It rides membership_by_person. The error is errdefs.NotFound.
func (m Membership) same(ctx context.Context, tx *tenant.Tx) (Membership, error) {
	var found id.Membership
	err := tx.QueryRow(ctx, `
		SELECT id FROM membership
		WHERE org_id = $1 AND person_id = $2 AND portal_id = $3 AND unit_id IS NOT DISTINCT FROM $4 AND removed_at IS NULL AND id <> $5`,
		tx.Org, m.Person, m.Portal, m.Unit, m.ID).Scan(&found)
	if none(err) {
		return Membership{}, errdefs.NotFound{Noun: MembershipNoun}
	}
	if err != nil {
		return Membership{}, err
	}
	return FindMembership(ctx, tx, found)
}

// draft is an event of the place; more are the fields that only its type has.
func (m Membership) draft(t event.Type, who Author, more map[string]any) event.Draft {
	fields := map[string]any{
		"membershipId": m.ID, "personId": m.Person, "portalId": m.Portal, "memberRole": m.Role, "changedBy": who.By,
	}
	if !m.Unit.IsZero() {
		fields["unitId"] = m.Unit
	}
	maps.Copy(fields, more)
	return event.Draft{Type: t, At: who.At, Fields: fields}
}

// added is the event of a place that is new.
func (m Membership) added(who Author) event.Draft {
	return m.draft(event.MemberAdded, who, map[string]any{"externalId": m.ExternalID, "addedAt": who.At})
}

// switched is the event of a place that was switched on or off.
func (m Membership) switched(who Author) event.Draft {
	if m.ToldOn {
		return m.draft(event.MemberEnabled, who, map[string]any{"enabledAt": who.At})
	}
	return m.draft(event.MemberDisabled, who, map[string]any{"disabledAt": who.At})
}
