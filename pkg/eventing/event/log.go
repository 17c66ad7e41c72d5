package event

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
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

// Noun is what errors call an event of the log.
const Noun errdefs.Noun = "event"

// Filter narrows a list; zero fields do not.
type Filter struct {
	// Types are those to list; nil for all.
	Types []Type
	// WithoutJobs are kinds of jobs whose job.completed is left out.
	WithoutJobs []string
	Session     id.Session
	Subject     id.Subject
	From, To    time.Time
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
		hi = earlier(hi, after)
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

func earlier(a, b id.Event) id.Event {
	if bytes.Compare(a[:], b[:]) < 0 {
		return a
	}
	return b
}

// List is a page of an organization's log after a position, the zero one for
// the first page. The order is that of the commits, so nothing that commits
// while a reader follows the log in ascending order can be skipped.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after Position, limit int) ([]Event, error) {
	var (
		events []Event
		last   id.Event
	)
	read := func(r *tenant.Reads) {
		events, last = nil, id.Event{}
		if len(f.Types) > 1 {
			// Each statement sees what was committed when it began. What the log ended at
			// before the first is seen by all of them. Rides event_pkey.
			r.QueryRow(new(bool), []any{&last}, `SELECT id FROM event WHERE org_id = $1 ORDER BY id DESC LIMIT 1`, org)
		}
		for _, q := range f.queries(org, after, limit) {
			r.Query(func(rows pgx.Rows) error {
				found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
				events = append(events, found...)
				return err
			}, q.sql, q.args...)
		}
	}
	err := readNumbered(ctx, t, org, read)
	if len(f.Types) > 1 {
		events = slices.DeleteFunc(events, func(e Event) bool { return bytes.Compare(e.ID[:], last[:]) > 0 })
		// Each type came in order.
		slices.SortFunc(events, f.compare)
	}
	return events[:min(limit, len(events))], err
}

// compare is the order of a list.
func (f Filter) compare(a, b Event) int {
	if f.Ascending {
		return bytes.Compare(a.ID[:], b.ID[:])
	}
	return bytes.Compare(b.ID[:], a.ID[:])
}

const columns = `org_id, id, type, created_at, data`

// query is a statement of a list.
type query struct {
	sql  string
	args []any
}

// queries chooses the statement that rides the narrowest index: event_pkey, event_by_session,
// event_by_subject, or event_by_type once for each type, which together have the page.
func (f Filter) queries(org id.Org, after Position, limit int) []query {
	lo, hi := f.window(after)
	args := []any{org, lo, hi, limit, append([]string{}, f.WithoutJobs...)}
	const within = `SELECT ` + columns + ` FROM event WHERE org_id = $1 AND id >= $2 AND id < $3
			AND (type <> '` + string(JobCompleted) + `' OR data->>'kind' <> ALL($5))`
	order := ` ORDER BY id DESC LIMIT $4`
	if f.Ascending {
		order = ` ORDER BY id LIMIT $4`
	}
	switch {
	case !f.Session.IsZero():
		return []query{{within + `
			AND session_id = $6 AND ($7::UUID IS NULL OR subject_id = $7) AND ($8::TEXT[] IS NULL OR type = ANY($8))` + order,
			append(args, f.Session, f.Subject, f.Types)}}
	case !f.Subject.IsZero():
		return []query{{within + ` AND subject_id = $6 AND ($7::TEXT[] IS NULL OR type = ANY($7))` + order,
			append(args, f.Subject, f.Types)}}
	case f.Types != nil:
		types := slices.Compact(slices.Sorted(slices.Values(f.Types)))
		all := make([]query, len(types))
		for i, kind := range types {
			all[i] = query{within + ` AND type = $6` + order, append(slices.Clip(args), kind)}
		}
		return all
	}
	return []query{{within + order, args}}
}

// Get finds an event. It rides event_pkey. The error is errdefs.NotFound.
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
		err = Noun.NotFound(e)
	}
	return found, err
}

// Follow is what comes after an event in the organization's log, in the order of the commits.
// Whoever goes on after the last of it skips nothing. It rides event_pkey.
func Follow(ctx context.Context, tx *tenant.Tx, after Position, limit int) ([]Event, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[Event],
		`SELECT `+columns+` FROM event WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3`, tx.Org, uuid.UUID(after), limit) // the zero id would be NULL
}

// Since is when the first event after one happened, or was committed that has no place in the
// log yet; nil where there is none. It rides event_pkey and event_staged_order.
func Since(ctx context.Context, t *tenant.Tenants, org id.Org, after Position) (at *time.Time, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		at = nil
		r.QueryRow(new(bool), []any{&at}, `
			SELECT LEAST(
				(SELECT created_at FROM event WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT 1),
				(SELECT at FROM event_staged WHERE org_id = $1 AND place >= 0 ORDER BY committed_at, place LIMIT 1))`, org, uuid.UUID(after))
	})
	return at, err
}

const (
	// Retention is how long the log and the delivery logs are kept.
	Retention = 30 * 24 * time.Hour
	// SweepBatch bounds the rows that one statement deletes.
	SweepBatch = 5000
)

// Sweep deletes events older than Retention that no delivery waits for. It rides event_pkey.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepEach(ctx, shard, SweepBatch, `
		DELETE FROM event WHERE org_id = $1 AND id IN (
			SELECT e.id FROM event e
			WHERE e.org_id = $1 AND e.id < $3 AND NOT EXISTS (
				SELECT 1 FROM delivery d
				WHERE d.org_id = e.org_id AND d.event_id = e.id AND d.due_at IS NOT NULL)
			ORDER BY e.id LIMIT $2)
		AND EXISTS (SELECT 1 FROM org_fence f WHERE f.org_id = $1 AND f.state = 'open')`, id.FirstEvent(now.Add(-Retention)))
}
