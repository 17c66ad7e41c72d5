package setting

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Change is a change of a setting at a scope.
type Change struct {
	// Before and After are how it stood and stands. They are the same where
	// nothing changed.
	Before, After Standing
	// Written says that something was set, or is set no more. What was set to what
	// it inherited holds as before.
	Written bool
}

// Told says whether another value holds at the scope now.
func (c Change) Told() bool { return c.Before.Value != c.After.Value }

// Put sets a setting at a scope. Whoever changes settings takes turns (see
// event.LockLog), so that what was before is known. The error is ErrNoScope.
func Put(ctx context.Context, tx *tenant.Tx, d Definition, at Scope, v Value, viewer Viewer, who activity.Actor) (Change, error) {
	before, err := d.find(ctx, tx, at, viewer)
	if err != nil || !before.Inherited && before.Value == v {
		return Change{Before: before, After: before}, err
	}
	if err := put(ctx, tx, at, d.Key, v, who.By, who.At); err != nil {
		return Change{}, err
	}
	return d.written(ctx, tx, before, viewer, who)
}

// Clear has a scope inherit a setting again. The error is ErrNoScope.
func Clear(ctx context.Context, tx *tenant.Tx, d Definition, at Scope, viewer Viewer, who activity.Actor) (Change, error) {
	before, err := d.find(ctx, tx, at, viewer)
	if err != nil || before.Inherited {
		return Change{Before: before, After: before}, err
	}
	tx.Touch("setting", part(at.Kind), part(at.text()), d.Key)
	if _, err := tx.Exec(ctx, `
		DELETE FROM setting WHERE org_id = $1 AND scope_kind = $2 AND scope_id = $3 AND key = $4`,
		tx.Org, at.Kind, at.text(), d.Key); err != nil {
		return Change{}, err
	}
	return d.written(ctx, tx, before, viewer, who)
}

// written logs how a setting stands after a change, and answers it.
func (d Definition) written(ctx context.Context, tx *tenant.Tx, before Standing, viewer Viewer, who activity.Actor) (Change, error) {
	after, err := d.find(ctx, tx, before.At, viewer)
	if err != nil {
		return Change{}, err
	}
	value := after.Value
	if after.Inherited {
		value = nil
	}
	who.Log(tx, "setting.changed", "setting", d.Key, map[string]any{
		"scopeKind": after.At.Kind, "scopeId": after.At.Named(tx.Org), "value": value, "inherited": after.Inherited,
	})
	return Change{Before: before, After: after, Written: true}, nil
}

// find is how a setting stands at a scope.
func (d Definition) find(ctx context.Context, tx *tenant.Tx, at Scope, viewer Viewer) (Standing, error) {
	var (
		b     pgx.Batch
		rows  []row
		found bool
	)
	sql, args := at.place().statement(tx.Org)
	b.Queue(sql, args...).Query(func(all pgx.Rows) (err error) {
		rows, err = collect(all)
		return err
	})
	sql, args = at.exists(tx.Org)
	b.Queue(sql, args...).Query(func(all pgx.Rows) error {
		found = all.Next()
		return nil
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return Standing{}, err
	}
	if !found {
		return Standing{}, ErrNoScope
	}
	return d.stand(at, rows, viewer)
}

// Set sets a switch of the whole organization on behalf of the platform. by is a
// name such as operator.
func Set(ctx context.Context, tx *tenant.Tx, k Key, v Value, by string, at time.Time) error {
	return put(ctx, tx, Organization, k, v, by, at)
}

func put(ctx context.Context, tx *tenant.Tx, at Scope, k Key, v Value, by string, now time.Time) error {
	tx.Touch("setting", part(at.Kind), part(at.text()), k)
	_, err := tx.Exec(ctx, `
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org_id, scope_kind, scope_id, key)
		DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
		tx.Org, at.Kind, at.text(), k, v, now, by)
	return err
}

// part is a part of a row's key.
type part string

func (p part) String() string { return string(p) }
