package job

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
)

// ahead is what a shard has for some lines: whether a step of each is due, and when the next
// one will be that is not, of any; zero where none is.
type ahead struct {
	due  []bool
	next time.Time
}

// lookAhead is one trip. It rides job_due_by_kind.
func lookAhead(ctx context.Context, t *tenant.Tenants, shard string, lines []line, now time.Time) (a ahead, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return a, err
	}
	var b pgx.Batch
	a.due = make([]bool, len(lines))
	for i, l := range lines {
		b.Queue(selectAnyDue, now, l.heavy, l.kinds, l.fetches).QueryRow(func(row pgx.Row) error { return row.Scan(&a.due[i]) })
	}
	for heavy, kinds := range byWeight(lines) {
		b.Queue(selectNextDue, heavy, now, kinds).Query(func(rows pgx.Rows) error {
			var due time.Time
			_, err := pgx.ForEachRow(rows, []any{&due}, func() error {
				if a.next.IsZero() || due.Before(a.next) {
					a.next = due
				}
				return nil
			})
			return err
		})
	}
	return a, db.SendBatch(ctx, &b).Close()
}

const (
	selectAnyDue = `
		SELECT EXISTS (
			SELECT 1 FROM job j
			WHERE j.heavy = $2 AND j.due_at <= $1 AND EXISTS (
				SELECT 1 FROM org_fence f WHERE f.org_id = j.org_id AND f.state IN ('open', 'capture'))
				AND j.kind = ANY($3::TEXT[])
				AND ($4::BOOL IS NULL OR ((j.input->'fetches') IS NOT NULL) = $4))`
	selectNextDue = `SELECT due_at FROM job WHERE heavy = $1 AND due_at > $2 AND kind = ANY($3::TEXT[]) ORDER BY due_at LIMIT 1`
)

// byWeight are the kinds of lines, the heavy ones and the others.
func byWeight(lines []line) map[bool][]Kind {
	kinds := map[bool][]Kind{}
	for _, l := range lines {
		kinds[l.heavy] = append(kinds[l.heavy], l.kinds...)
	}
	return kinds
}

// spreadOver is how many shards are looked at one after another in the time of a look's pace.
const spreadOver = 1000

// scout looks which lines of a shard have something due, for as long as the runner runs, and
// has them advance: as often as ever where no hints come, and else where one does, where
// something falls due, and rarely besides.
func (r *Runner) scout(lines []line, loops []*pershard.Loop) *pershard.Loop {
	every := look
	if r.Hints.Complete() {
		every = hint.Rarely
		if r.Rarely > 0 {
			every = r.Rarely
		}
	}
	l := pershard.New(pershard.Options{
		Work: "look for due jobs", Shards: r.Shards, Every: every, Retry: look, Spread: every / spreadOver, Timeout: claimWithin, Clock: clock.RealClock{}, Log: r.Log, Metrics: r.Metrics,
		Run: func(ctx context.Context, shard string) (next pershard.Next, err error) {
			now := r.now()
			a, err := lookAhead(ctx, r.Tenants, shard, lines, now)
			if err != nil {
				return next, err
			}
			for i, due := range a.due {
				if due {
					loops[i].Wake(shard)
				}
			}
			if !a.next.IsZero() {
				next.At = time.Now().Add(a.next.Sub(now)) // the loop's clock is the system's
			}
			if soon := time.Now().Add(look); !r.Hints.Complete() && (next.At.IsZero() || soon.Before(next.At)) {
				next.At = soon
			}
			return next, nil
		},
	})
	r.unwatch = r.Hints.Watch(hint.Jobs, l.Wake)
	return l
}
