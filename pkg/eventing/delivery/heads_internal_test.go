package delivery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

// backlog is a shard with webhooks that have open deliveries.
type backlog struct {
	db  *database.DB
	org uuid.UUID
	now time.Time
}

func newBacklog(t testing.TB) *backlog {
	t.Helper()
	return &backlog{databasetest.Open(t, database.Shard), uuid.New(), time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)}
}

// open gives each webhook some deliveries that are due, one a second until now, or not yet.
func (b *backlog) open(t testing.TB, webhooks []id.Webhook, each int, from time.Time) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), `
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, due_at, log, created_at)
		SELECT $1, gen_random_uuid(), w, gen_random_uuid(), 'x', 'x', 'pending', 0, $3::TIMESTAMPTZ - n * INTERVAL '1 second', '[]', $3
		FROM unnest($2::UUID[]) AS of (w) CROSS JOIN generate_series(1, $4::BIGINT) AS g (n)`, b.org, webhooks, from, each)
	require.NoError(t, err)
}

func (b *backlog) close(t testing.TB, webhooks ...id.Webhook) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), `UPDATE delivery SET due_at = NULL WHERE webhook_id = ANY($1)`, webhooks)
	require.NoError(t, err)
}

// grouped reads all of the index.
const grouped = `
	SELECT org_id, webhook_id, min(due_at) FROM delivery WHERE due_at IS NOT NULL
	GROUP BY org_id, webhook_id HAVING min(due_at) <= $1 ORDER BY webhook_id`

func (b *backlog) ask(t testing.TB, sql string) []head {
	t.Helper()
	rows, err := b.db.Query(t.Context(), sql, b.now)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[head])
	require.NoError(t, err)
	return found
}

// next is when the first head that is not due will be; zero where none is.
func (b *backlog) next(t testing.TB) time.Time {
	t.Helper()
	var next *time.Time
	require.NoError(t, b.db.QueryRow(t.Context(), `
		SELECT min(first) FROM (
			SELECT min(due_at) FROM delivery WHERE due_at IS NOT NULL GROUP BY webhook_id) AS of (first) WHERE first > $1`, b.now).Scan(&next))
	if next == nil {
		return time.Time{}
	}
	return *next
}

func newWebhooks(n int) []id.Webhook {
	all := make([]id.Webhook, n)
	for i := range all {
		all[i] = id.NewWebhook()
	}
	return all
}

func TestHeadsAreFoundWhateverComesAndGoes(t *testing.T) {
	b, h := newBacklog(t), &heads{}
	random := rand.New(rand.NewPCG(1, 2))
	webhooks := newWebhooks(200)
	for round := range 12 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			for range 30 {
				w := webhooks[random.IntN(len(webhooks))]
				switch random.IntN(4) {
				case 0:
					b.close(t, w)
				case 1:
					b.open(t, []id.Webhook{w}, 1+random.IntN(3*exploreRows), b.now)
				case 2:
					b.open(t, []id.Webhook{w}, 2, b.now.Add(time.Duration(1+random.IntN(60))*time.Minute))
				default:
					b.open(t, []id.Webhook{w}, 2, b.now)
				}
			}
			want, next := b.ask(t, grouped), b.next(t)
			for name, due := range map[string]func(context.Context, *database.DB, time.Time) (waiting, error){
				"recursive": new(heads).find, "steps": h.step, "the first steps": new(heads).step,
			} {
				found, err := due(t.Context(), b.db, b.now)
				require.NoError(t, err, name)
				got := found.due
				require.Len(t, got, len(want), name)
				for i := range want {
					require.True(t, want[i].Webhook == got[i].Webhook && want[i].Due.Equal(got[i].Due), "%v %v", want[i], got[i])
				}
				require.True(t, next.Equal(found.next), "%s: %v %v", name, next, found.next)
			}
		})
	}
	b.close(t, webhooks...)
	got, err := h.step(t.Context(), b.db, b.now)
	require.NoError(t, err)
	require.Empty(t, got.due)
	require.Zero(t, got.next)
}

// BenchmarkHeads compares the steps within the database with plain ones, from what is known
// and from nothing.
func BenchmarkHeads(b *testing.B) {
	for _, webhooks := range []int{3, 300} {
		for _, each := range []int{1, 100} {
			shard := newBacklog(b)
			shard.open(b, newWebhooks(webhooks), each, shard.now)
			_, err := shard.db.Exec(b.Context(), `VACUUM ANALYZE delivery`)
			require.NoError(b, err)
			known := &heads{}
			_, err = known.step(b.Context(), shard.db, shard.now)
			require.NoError(b, err)
			for name, due := range map[string]func(context.Context, *database.DB, time.Time) (waiting, error){
				"recursive": known.find, "steps": known.step, "first": func(ctx context.Context, db *database.DB, now time.Time) (waiting, error) {
					return new(heads).step(ctx, db, now)
				},
			} {
				b.Run(fmt.Sprintf("%d×%d/%s", webhooks, each, name), func(b *testing.B) {
					for b.Loop() {
						found, err := due(b.Context(), shard.db, shard.now)
						require.NoError(b, err)
						require.Len(b, found.due, webhooks)
					}
				})
			}
		}
	}
}

// lateral is what is due of several webhooks in one statement.
var lateral = fmt.Sprintf(`
	SELECT d.org_id, d.id, d.webhook_id, d.event_id, d.type, d.api_version, d.attempts, d.created_at, d.first_attempt_at, d.due_at,
		e.data
	FROM unnest($1::UUID[], $2::TIMESTAMPTZ[], $3::UUID[]) AS w (webhook, after_due, after_id)
	CROSS JOIN LATERAL (
		SELECT * FROM delivery d
		WHERE d.webhook_id = w.webhook AND d.due_at <= $4 AND (d.due_at, d.id) > (w.after_due, w.after_id)
		ORDER BY d.due_at, d.id LIMIT %d
	) AS d
	LEFT JOIN LATERAL (
		SELECT e.data FROM event e WHERE e.org_id = d.org_id AND e.id = d.event_id LIMIT 1
	) AS e ON true`, readAhead)

// BenchmarkDue compares a statement for each webhook with one for all.
func BenchmarkDue(b *testing.B) {
	for _, webhooks := range []int{1, 30, 300} {
		shard := newBacklog(b)
		all := newWebhooks(webhooks)
		shard.open(b, all, 20, shard.now)
		_, err := shard.db.Exec(b.Context(), `VACUUM ANALYZE delivery`)
		require.NoError(b, err)
		dues, ids := make([]time.Time, webhooks), make([]uuid.UUID, webhooks)
		for i := range all {
			dues[i], ids[i] = theFirst.due, uuid.UUID(theFirst.id)
		}
		send := func(b *testing.B, queue func(*pgx.Batch, func(pgx.Rows) error)) {
			for b.Loop() {
				var batch pgx.Batch
				p := poll{full: map[id.Webhook]bool{}}
				queue(&batch, func(rows pgx.Rows) error { return p.takeTasks(rows, all[0], shard.now) })
				require.NoError(b, shard.db.SendBatch(b.Context(), &batch).Close())
				require.Len(b, p.tasks, 20*webhooks)
			}
		}
		b.Run(fmt.Sprintf("%d/lateral", webhooks), func(b *testing.B) {
			send(b, func(batch *pgx.Batch, take func(pgx.Rows) error) {
				batch.Queue(lateral, all, dues, ids, shard.now).Query(take)
			})
		})
		b.Run(fmt.Sprintf("%d/plain", webhooks), func(b *testing.B) {
			send(b, func(batch *pgx.Batch, take func(pgx.Rows) error) {
				for i, w := range all {
					batch.Queue(selectDue, w, dues[i], ids[i], shard.now).Query(take)
				}
			})
		})
	}
}
