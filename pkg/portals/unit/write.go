package unit

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// Insert enters a unit that is switched on. The error is errdefs.NotFound,
// errdefs.Archived, errdefs.NotFound (of OfPortal), ErrTooDeep or ErrNoManager.
func Insert(ctx context.Context, tx *tenant.Tx, u Unit, who Author) (Unit, error) {
	if _, err := portal.Lock(ctx, tx, u.Portal); err != nil {
		return u, err
	}
	u.Enabled, u.Edition, u.CreatedAt, u.UpdatedAt = true, 1, who.At, who.At
	if err := u.check(ctx, tx); err != nil {
		return u, err
	}
	tx.Touch("unit", u.ID)
	tx.Later(`
		INSERT INTO unit (org_id, id, portal_id, parent_id, kind, name, code, enabled, manager_ids, external_id, metadata, edition,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)`,
		tx.Org, u.ID, u.Portal, u.Parent, u.Kind, u.Name, u.Code, u.Enabled, u.Managers, u.ExternalID, u.Metadata, u.Edition, who.At)
	event.Emit(tx, u.draft(event.UnitCreated, who, map[string]any{"externalId": u.ExternalID, "createdAt": who.At}))
	who.Log(tx, "unit.created", "unit", u.ID, map[string]any{"name": u.Name, "portalId": u.Portal})
	return u, nil
}

// Change is what became of a unit that was changed.
type Change struct {
	// Fields names what changed, as the API does; none when nothing did.
	Fields []string
}

// Switches says whether people below the unit may have been switched on or off
// by the change.
func (c Change) Switches() bool {
	return slices.Contains(c.Fields, "parentId") || slices.Contains(c.Fields, "enabled")
}

// Update makes of a unit that Lock found what after says. The error is
// errdefs.NotFound (of OfPortal), ErrRing, ErrTooDeep or ErrNoManager.
func Update(ctx context.Context, tx *tenant.Tx, before, after Unit, who Author) (Unit, Change, error) {
	change := Change{Fields: differences(before, after)}
	if len(change.Fields) == 0 {
		return before, change, nil
	}
	if err := after.checkChange(ctx, tx, change.Fields); err != nil {
		return before, Change{}, err
	}
	after.Edition, after.UpdatedAt = before.Edition+1, who.At
	tx.Touch("unit", after.ID)
	tx.Later(`
		UPDATE unit SET parent_id = $3, kind = $4, name = $5, code = $6, enabled = $7, manager_ids = $8, external_id = $9, metadata = $10,
			edition = $11, updated_at = $12
		WHERE org_id = $1 AND id = $2`,
		tx.Org, after.ID, after.Parent, after.Kind, after.Name, after.Code, after.Enabled, after.Managers, after.ExternalID, after.Metadata,
		after.Edition, after.UpdatedAt)
	if before.Parent != after.Parent {
		PlacesChanged(tx, after.Portal)
	}
	after.tell(tx, before, change.Fields, who)
	who.Log(tx, "unit.updated", "unit", after.ID, map[string]any{"changed": change.Fields})
	return after, change, nil
}

// tell tells of a change: each kind of change has an event of its own.
func (u Unit) tell(tx *tenant.Tx, before Unit, fields []string, who Author) {
	if slices.Contains(fields, "name") {
		event.Emit(tx, u.draft(event.UnitRenamed, who, map[string]any{"previousName": before.Name, "renamedAt": who.At}))
	}
	others := slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return name == "name" || name == "enabled" })
	if len(others) > 0 {
		event.Emit(tx, u.draft(event.UnitUpdated, who, map[string]any{"changedFields": others, "updatedAt": who.At}))
	}
	switch {
	case !slices.Contains(fields, "enabled"):
	case u.Enabled:
		event.Emit(tx, u.draft(event.UnitEnabled, who, map[string]any{"enabledAt": who.At}))
	default:
		event.Emit(tx, u.draft(event.UnitDisabled, who, map[string]any{"disabledAt": who.At}))
	}
}

// differences names what differs between two units, as the API does.
func differences(a, b Unit) []string {
	var names []string
	note := func(name string, same bool) {
		if !same {
			names = append(names, name)
		}
	}
	note("name", a.Name == b.Name)
	note("parentId", a.Parent == b.Parent)
	note("kind", a.Kind == b.Kind)
	note("code", reflect.DeepEqual(a.Code, b.Code))
	note("enabled", a.Enabled == b.Enabled)
	note("managerIds", slices.Equal(a.Managers, b.Managers))
	note("externalId", reflect.DeepEqual(a.ExternalID, b.ExternalID))
	note("metadata", maps.Equal(a.Metadata, b.Metadata))
	return names
}

// checkChange checks what a change brings; what was there before may stay.
func (u Unit) checkChange(ctx context.Context, tx *tenant.Tx, fields []string) error {
	if slices.Contains(fields, "parentId") {
		if err := u.checkParent(ctx, tx); err != nil {
			return err
		}
	}
	if slices.Contains(fields, "managerIds") {
		return u.checkManagers(ctx, tx)
	}
	return nil
}

func (u Unit) check(ctx context.Context, tx *tenant.Tx) error {
	if err := u.checkParent(ctx, tx); err != nil {
		return err
	}
	return u.checkManagers(ctx, tx)
}

// checkManagers checks that the managers, each named once, manage or teach in
// the portal. It rides membership_by_person.
func (u Unit) checkManagers(ctx context.Context, tx *tenant.Tx) error {
	if len(u.Managers) == 0 {
		return nil
	}
	var known int
	if err := tx.QueryRow(ctx, `
		SELECT count(DISTINCT person_id) FROM membership
		WHERE org_id = $1 AND person_id = ANY($2) AND portal_id = $3 AND removed_at IS NULL AND role IN ('manager', 'teacher', 'admin')`,
		tx.Org, u.Managers, u.Portal).Scan(&known); err != nil {
		return err
	}
	if known != len(u.Managers) {
		return ErrNoManager
	}
	return nil
}
