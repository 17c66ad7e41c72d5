package dashboard

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

const (
	// Kept is how long figures are kept, and factsKept how long a change of what was counted is
	// counted too, and what waits does so at most.
	Kept      = 800 * 24 * time.Hour
	factsKept = 400 * 24 * time.Hour
	// orgsAtOnce is how many organizations are looked for in one trip, and stepsAtOnce how many
	// steps one is advanced by before the next.
	orgsAtOnce  = 200
	stepsAtOnce = 50
)

// Tasks are the recurring tasks of dashboards.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{
		{Name: "count figures", Every: time.Minute, Run: d.Dated(Count)},
		{Name: "count deliveries", Every: time.Minute, Run: d.Dated(CountDeliveries)},
		{Name: "delete old figures", Every: time.Hour, Batch: sweepBatch, Run: d.Dated(Sweep)},
	}
}

// Count counts what happened in a shard's organizations. One that cannot be counted keeps no
// other waiting.
func Count(ctx context.Context, t *tenant.Tenants, shard string, _ time.Time) (n int, err error) {
	return each(ctx, t, shard, selectBehind, nil, func(ctx context.Context, org id.Org) (n int, err error) {
		var unread error
		for range stepsAtOnce {
			counted, err := Advance(ctx, t, org)
			n += counted
			if errors.Is(err, errUnread) {
				unread, err = errors.Join(unread, err), nil // and on
			}
			if err != nil || counted < stepEvents {
				return n, errors.Join(unread, err)
			}
		}
		return n, unread
	})
}

// selectBehind finds organizations whose log was not counted to its end. It looks at every
// organization of the shard, by two searches of indexes each: with ten thousand of them that is some
// tens of thousands of searches at each run, so the task runs once a minute. It rides
// org_fence_pkey, dashboard_cursor_pkey and event_pkey.
const selectBehind = `
	SELECT f.org_id FROM org_fence f
	LEFT JOIN dashboard_cursor c ON c.org_id = f.org_id AND c.source = 'events'
	WHERE f.org_id > $1 AND f.state IN ('open', 'capture') AND EXISTS (
		SELECT 1 FROM event e WHERE e.org_id = f.org_id AND e.id > COALESCE(c.after, '00000000-0000-0000-0000-000000000000'))
	ORDER BY f.org_id LIMIT $2`

// each does something for every organization that a statement finds.
func each(ctx context.Context, t *tenant.Tenants, shard, sql string, args []any, do func(context.Context, id.Org) (int, error)) (n int, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	var (
		last     id.Org
		failures []error
	)
	for {
		found, err := db.Query(ctx, sql, append([]any{uuid.UUID(last), orgsAtOnce}, args...)...)
		if err != nil {
			return n, err
		}
		orgs, err := pgx.CollectRows(found, pgx.RowTo[id.Org])
		if err != nil {
			return n, err
		}
		for _, org := range orgs {
			done, err := do(ctx, org)
			n += done
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
			if err != nil && !tenant.Unavailable(err) {
				failures = append(failures, err)
			}
			last = org
		}
		if len(orgs) < orgsAtOnce {
			return n, errors.Join(failures...)
		}
	}
}

// sweepBatch bounds the rows that a run deletes.
const sweepBatch = 5000

// Sweep deletes figures that are older than Kept, and what is known of things that do not
// change any more, and what waited for others too long. It rides dashboard_count_by_time,
// dashboard_fact_by_time and dashboard_waiting_by_time.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	figures, err := t.SweepEach(ctx, shard, sweepBatch, sweepFigures, now.Add(-Kept))
	if err != nil {
		return figures, err
	}
	facts, err := t.SweepRows(ctx, shard, sweepFacts, now.Add(-factsKept))
	if err != nil {
		return figures + facts, err
	}
	waiting, err := t.SweepRows(ctx, shard, sweepStale, now.Add(-factsKept))
	return figures + facts + waiting, err
}

const (
	sweepFigures = `
		DELETE FROM dashboard_count WHERE org_id = $1 AND (area, portal_id, unit_id, at) IN (
			SELECT c.area, c.portal_id, c.unit_id, c.at FROM dashboard_count c WHERE c.org_id = $1 AND c.at < $3 ORDER BY c.at LIMIT $2)
		AND EXISTS (SELECT 1 FROM org_fence f WHERE f.org_id = $1 AND f.state = 'open')`
	sweepFacts = `
		DELETE FROM dashboard_fact WHERE (org_id, kind, id) IN (
			SELECT k.org_id, k.kind, k.id FROM dashboard_fact k
			JOIN org_fence f ON f.org_id = k.org_id AND f.state = 'open' WHERE k.at < $1 LIMIT 5000)`
	sweepStale = `
		DELETE FROM dashboard_waiting WHERE (org_id, measure, portal_id, unit_id, person_id) IN (
			SELECT w.org_id, w.measure, w.portal_id, w.unit_id, w.person_id FROM dashboard_waiting w
			JOIN org_fence f ON f.org_id = w.org_id AND f.state = 'open' WHERE w.at < $1 LIMIT 5000)`
)
