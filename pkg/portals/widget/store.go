package widget

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

const columns = `id, name, persona_id, enabled, definition, public_key, last_seen_at, version, created_at, updated_at, deleted_at`

func scan(row pgx.CollectableRow) (Widget, error) { return pgx.RowToStructByPos[Widget](row) }

// one is the widget that a query for one found.
func one(w id.Widget, found []Widget, err error) (Widget, error) {
	switch {
	case err != nil:
		return Widget{}, err
	case len(found) == 0:
		return Widget{}, Noun.NotFound(w)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(w)
	}
	return found[0], nil
}

const selectOne = `SELECT ` + columns + ` FROM widget WHERE org_id = $1 AND id = $2`

// Get finds a widget. The error is errdefs.NotFound or errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, w id.Widget) (Widget, error) {
	var found []Widget
	err := t.Read(ctx, org, func(r *tenant.Reads) { queueGet(r, org, w, &found) })
	return one(w, found, err)
}

func queueGet(r *tenant.Reads, org id.Org, w id.Widget, into *[]Widget) {
	r.Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	}, selectOne, org, w)
}

// Lock finds a widget in a transaction that will change it: nobody else does
// until the commit. The error is errdefs.NotFound or errdefs.Gone.
func Lock(ctx context.Context, tx *tenant.Tx, w id.Widget) (Widget, error) {
	found, err := tenant.AllIn(ctx, tx, scan, selectOne+` FOR UPDATE`, tx.Org, w)
	return one(w, found, err)
}

// List is a page of the widgets, newest first, after one of them; the zero id
// for the first page. A persona narrows it. It rides widget_pkey, or
// widget_by_persona where a persona has few.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, of id.Persona, after id.Widget, limit int) ([]Widget, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM widget
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND ($3::UUID IS NULL OR persona_id = $3) AND deleted_at IS NULL
		ORDER BY id DESC LIMIT $4`, org, after, of, limit)
}

// Author is who changes a widget, when, and in which region.
type Author struct {
	activity.Actor
	Region string
}

// Insert enters a widget as its first version, with a key. The error is a
// errdefs.Invalid, or a conflict where the organization has widgets off.
func Insert(ctx context.Context, tx *tenant.Tx, w Widget, who Author) (Widget, error) {
	w.Version, w.CreatedAt, w.UpdatedAt = 1, who.At, who.At
	if w.Enabled {
		if err := permitted(ctx, tx); err != nil {
			return w, err
		}
	}
	if err := w.prepare(ctx, tx, id.Persona{}, who); err != nil {
		return w, err
	}
	tx.Touch("widget", w.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO widget (org_id, id, name, persona_id, enabled, definition, public_key, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		tx.Org, w.ID, w.Name, w.Persona, w.Enabled, w.Definition, w.PublicKey, w.Version, w.CreatedAt)
	if err != nil {
		return w, err
	}
	who.Log(tx, "widget.created", "widget", w.ID, map[string]any{"name": w.Name, "personaId": w.Persona})
	return w, nil
}

// Update makes of a widget that Lock found what after says. A change of
// nothing makes no version. It answers the names of what changed; the error is
// an errdefs.Invalid, or a conflict where a widget is switched on while the
// organization has them off.
func Update(ctx context.Context, tx *tenant.Tx, before, after Widget, who Author) (Widget, []string, error) {
	if after.Enabled && !before.Enabled {
		if err := permitted(ctx, tx); err != nil {
			return before, nil, err
		}
	}
	if err := after.prepare(ctx, tx, before.Persona, who); err != nil {
		return before, nil, err
	}
	changed := differences(before, after)
	if len(changed) == 0 {
		return before, nil, nil
	}
	after.Version, after.UpdatedAt = before.Version+1, who.At
	tx.Touch("widget", after.ID)
	_, err := tx.Exec(ctx, `
		UPDATE widget SET name = $3, persona_id = $4, enabled = $5, definition = $6, public_key = $7, version = $8, updated_at = $9
		WHERE org_id = $1 AND id = $2`,
		tx.Org, after.ID, after.Name, after.Persona, after.Enabled, after.Definition, after.PublicKey, after.Version, after.UpdatedAt)
	if err != nil {
		return after, changed, err
	}
	action := "widget.updated"
	if after.PublicKey != before.PublicKey {
		action = "widget.key_rotated"
	}
	tellUpdated(tx, after, changed, who.By)
	who.Log(tx, action, "widget", after.ID, map[string]any{"version": after.Version, "changed": changed})
	return after, changed, nil
}

// permitted is nil where the organization lets widgets be shown; else the
// problem that whoever switches one on is told.
func permitted(ctx context.Context, tx *tenant.Tx) error {
	set, err := setting.At(ctx, tx, setting.Place{})
	if err != nil {
		return err
	}
	return set.Require(setting.Widgets)
}

// prepare normalizes the definition, and locks a persona that is new to it.
func (w *Widget) prepare(ctx context.Context, tx *tenant.Tx, had id.Persona, who Author) (err error) {
	if w.Definition, err = w.Definition.Normalize(who.Region); err != nil || w.Persona == had {
		return err
	}
	_, err = persona.Lock(ctx, tx, w.Persona)
	if errdefs.IsAbsent(err, persona.Noun) {
		return invalid("personaId", "is not a persona of this organization")
	}
	return err
}

// tellUpdated tells that a widget was changed.
func tellUpdated(tx *tenant.Tx, w Widget, changed []string, by string) {
	event.Emit(tx, event.Draft{Type: event.WidgetUpdated, At: w.UpdatedAt, Fields: map[string]any{
		"widgetId": w.ID.String(), "changedFields": changed, "enabled": w.Enabled, "allowedOrigins": w.Definition.AllowedOrigins,
		"changedBy": by, "updatedAt": w.UpdatedAt,
	}})
}

// Delete deletes a widget. The error is errdefs.NotFound or errdefs.Gone.
func Delete(ctx context.Context, tx *tenant.Tx, which id.Widget, who Author) error {
	if _, err := Lock(ctx, tx, which); err != nil {
		return err
	}
	tx.Touch("widget", which)
	_, err := tx.Exec(ctx, `
		UPDATE widget SET deleted_at = $3, updated_at = $3, enabled = false WHERE org_id = $1 AND id = $2`, tx.Org, which, who.At)
	if err != nil {
		return err
	}
	who.Log(tx, "widget.deleted", "widget", which, nil)
	return nil
}

// rememberedFor is how long a deleted widget is answered with 410 rather than 404.
const rememberedFor = 90 * 24 * time.Hour

// Sweep forgets widgets of a shard that were deleted long ago.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM widget WHERE (org_id, id) IN (
			SELECT w.org_id, w.id FROM widget w JOIN org_fence f ON f.org_id = w.org_id AND f.state = 'open'
			WHERE w.deleted_at <= $1 LIMIT 1000)`, now.Add(-rememberedFor))
}
