// Package activity is an organization's log of who changed what. An entry is
// written in the transaction that makes the change.
package activity

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Entry is one line of the log.
type Entry struct {
	ID id.Activity
	At time.Time
	// Actor is who did it: a key's id, or a name such as "operator".
	Actor string
	// Action is what was done, such as "key.created".
	Action     string
	TargetKind string
	TargetID   string
	// Changes are the new values by field name. They never hold a secret.
	Changes map[string]any
	// Address is where the request came from; empty for the platform's own.
	Address string
}

// Record has an entry written at the end of the caller's transaction.
func Record(tx *tenant.Tx, e Entry) {
	e.ID = id.NewActivity()
	tx.AtCommit(e)
}

// Queue is part of tenant.Write.
func (e Entry) Queue(tx *tenant.Tx, b *pgx.Batch) error {
	tx.Touch("activity", e.ID)
	e.queue(b, tx.Org)
	return nil
}

// RecordIn writes an entry of one of the organizations that a transaction of
// many is about.
func RecordIn(ctx context.Context, tx *tenant.ManyTx, org id.Org, e Entry) error {
	e.ID = id.NewActivity()
	tx.Touch(org, "activity", e.ID)
	var b pgx.Batch
	e.queue(&b, org)
	return tx.SendBatch(ctx, &b).Close()
}

func (e Entry) queue(b *pgx.Batch, org id.Org) {
	if e.Changes == nil {
		e.Changes = map[string]any{}
	}
	b.Queue(`
		INSERT INTO activity (org_id, id, at, actor, action, target_kind, target_id, changes, address)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		org, e.ID, e.At, e.Actor, e.Action, e.TargetKind, e.TargetID, e.Changes, e.Address)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Action string
	// TargetID is also that of a portal or a subject without its prefix, as the older
	// contract has it.
	TargetID string
	From, To time.Time
	// Without are kinds of things whose entries are left out.
	Without []string
}

// Position is where a page ended.
type Position struct {
	At time.Time   `json:"t"`
	ID id.Activity `json:"i"`
}

// endOfTime is later than any entry.
var endOfTime = time.Unix(1<<40, 0)

// List is a page of the log, newest first, after a position. It rides the
// index activity_by_time.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after *Position, limit int) ([]Entry, error) {
	start := Position{At: endOfTime}
	if after != nil {
		start = *after
	}
	if f.To.IsZero() {
		f.To = endOfTime
	}
	var entries []Entry
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		entries = nil
		r.Query(func(rows pgx.Rows) (err error) {
			entries, err = pgx.CollectRows(rows, scan)
			return err
		}, `
			SELECT id, at, actor, action, target_kind, target_id, changes, address FROM activity
			WHERE org_id = $1 AND (at, id) < ($2, $3) AND at >= $4 AND at < $5
				AND ($6 = '' OR action = $6) AND ($7::TEXT = '' OR target_id IN ($7, 'portal_' || $7, 'sub_' || $7))
				AND NOT (target_kind = ANY($8::TEXT[]))
			ORDER BY at DESC, id DESC LIMIT $9`,
			org, start.At, start.ID, f.From, f.To, f.Action, f.TargetID, append([]string{}, f.Without...), limit)
	})
	return entries, err
}

func scan(row pgx.CollectableRow) (Entry, error) {
	var e Entry
	err := row.Scan(&e.ID, &e.At, &e.Actor, &e.Action, &e.TargetKind, &e.TargetID, &e.Changes, &e.Address)
	return e, err
}
