package event

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// Event is a recorded event.
type Event struct {
	Org  id.Org
	ID   id.Event
	Type Type
	// At is when it happened.
	At time.Time
	// Structure is the object of data's structure fields.
	Structure json.RawMessage
}

// ErrUnknown says that the organisation's log has no such event.
var ErrUnknown = errors.New("no such event")

// Filter narrows a list; zero fields do not.
type Filter struct {
	// Types are those to list; nil for all.
	Types    []Type
	Session  id.Session
	Subject  id.Subject
	From, To time.Time
	// After is the event that those listed come after.
	After id.Event
	// Ascending lists in the order of the commits, oldest first.
	Ascending bool
}

// Position is where a page ended.
type Position = id.Event

// endOfTime is later than any event.
var endOfTime = time.UnixMilli(1<<48 - 1)

// window is the range of ids a list is about: lo <= id < hi.
func (f Filter) window(after Position) (lo, hi id.Event) {
	lo, hi = id.FirstEvent(f.From), id.FirstEvent(endOfTime)
	if !f.To.IsZero() {
		hi = id.FirstEvent(f.To)
	}
	lo = past(lo, f.After)
	switch {
	case after.IsZero():
	case f.Ascending:
		lo = past(lo, after)
	default:
		hi = least(hi, after)
	}
	return lo, hi
}

// past is a lower bound that leaves out the events up to one.
func past(lo, last id.Event) id.Event {
	if bytes.Compare(last[:], lo[:]) < 0 {
		return lo
	}
	if next := last.Next(); !next.IsZero() {
		return next
	}
	return last // the last id of all, which no event has
}

func least(a, b id.Event) id.Event {
	if bytes.Compare(a[:], b[:]) < 0 {
		return a
	}
	return b
}

// List is a page of an organisation's log after a position, the zero one for
// the first page. The order is that of the commits, so nothing that commits
// while a reader follows the log in ascending order can be skipped.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after Position, limit int) ([]Event, error) {
	sql, args := f.statement(org, after, limit)
	var events []Event
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			events, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
			return err
		}, sql, args...)
	})
	return events, err
}

const columns = `org_id, id, type, created_at, data`

// statement chooses the statement that rides the narrowest index: event_pkey,
// event_by_type (looking at each type's end of it), event_by_session or
// event_by_subject.
func (f Filter) statement(org id.Org, after Position, limit int) (sql string, args []any) {
	lo, hi := f.window(after)
	args = []any{org, lo, hi, limit}
	const within = ` FROM event WHERE org_id = $1 AND id >= $2 AND id < $3`
	order := ` ORDER BY id DESC LIMIT $4`
	if f.Ascending {
		order = ` ORDER BY id LIMIT $4`
	}
	switch {
	case !f.Session.IsZero():
		return `SELECT ` + columns + within + `
			AND session_id = $5 AND ($6::UUID IS NULL OR subject_id = $6) AND ($7::TEXT[] IS NULL OR type = ANY($7))` + order,
			append(args, f.Session, f.Subject, f.Types)
	case !f.Subject.IsZero():
		return `SELECT ` + columns + within + ` AND subject_id = $5 AND ($6::TEXT[] IS NULL OR type = ANY($6))` + order,
			append(args, f.Subject, f.Types)
	case f.Types != nil:
		return `SELECT ` + columns + ` FROM unnest($5::TEXT[]) AS wanted (kind) CROSS JOIN LATERAL (
			SELECT ` + columns + within + ` AND type = kind` + order + `) AS e` + order,
			append(args, f.Types)
	}
	return `SELECT ` + columns + within + order, args
}

// Get finds an event. It rides event_pkey. The error is ErrUnknown.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, e id.Event) (Event, error) {
	var (
		found Event
		known bool
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&known, []any{&found.Org, &found.ID, &found.Type, &found.At, &found.Structure},
			`SELECT `+columns+` FROM event WHERE org_id = $1 AND id = $2`, org, e)
	})
	if err == nil && !known {
		err = ErrUnknown
	}
	return found, err
}

const (
	// Retention is how long the log and the delivery logs are kept.
	Retention = 30 * 24 * time.Hour
	// SweepBatch bounds the rows that one statement deletes.
	SweepBatch = 5000
)

// Sweep deletes events older than Retention that no delivery waits for.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM event WHERE (org_id, id) IN (
			SELECT e.org_id, e.id FROM org_fence f CROSS JOIN LATERAL (
				SELECT e.org_id, e.id FROM event e
				WHERE e.org_id = f.org_id AND e.id < $1 AND NOT EXISTS (
					SELECT 1 FROM delivery d
					WHERE d.org_id = e.org_id AND d.event_id = e.id AND d.due_at IS NOT NULL)
				ORDER BY e.id LIMIT $2
			) AS e
			WHERE f.state = 'open' LIMIT $2)`, id.FirstEvent(now.Add(-Retention)), SweepBatch)
}
