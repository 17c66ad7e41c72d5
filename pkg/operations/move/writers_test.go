package move_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// set adds settings behind all that there are, as those of a time are behind those before.
func (w *world) set(ctx context.Context, org id.Org, keys ...string) error {
	return w.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error { return set(ctx, tx, "~", keys...) })
}

func set(ctx context.Context, tx *tenant.Tx, scope string, keys ...string) error {
	for _, key := range keys {
		tx.Touch("setting", word(scope), word(""), word(key))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		SELECT $1, $4, '', k, '{}', $3, 'test' FROM unnest($2::TEXT[]) AS added (k)`, tx.Org, keys, now, scope)
	return err
}

// record does what a request does: a row, a counter, an event with its deliveries.
func (w *world) record(ctx context.Context, org id.Org, key string) error {
	return w.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if err := set(ctx, tx, "org", key); err != nil {
			return err
		}
		if _, err := tx.Increment(ctx, "records", 0, false); err != nil {
			return err
		}
		event.Emit(tx, event.Draft{Type: event.UnitRenamed, At: time.Now().UTC(), Fields: map[string]any{"unitId": key, "name": key}})
		return nil
	})
}

// follower reads the log as a caller does: always after the last event it saw.
type follower struct {
	last id.Event
	keys []string
}

func (f *follower) follow(ctx context.Context, t *tenant.Tenants, org id.Org) error {
	for {
		found, err := event.List(ctx, t, org, event.Filter{After: f.last, Ascending: true}, event.Position{}, 20)
		if err != nil {
			return err
		}
		for _, e := range found {
			var data struct{ UnitID string }
			if err := json.Unmarshal(e.Structure, &data); err != nil {
				return err
			}
			f.last, f.keys = e.ID, append(f.keys, data.UnitID)
		}
		if len(found) == 0 {
			return nil
		}
	}
}

// furnishSilently furnishes an organization whose events are all of its writers.
func (w *world) furnishSilently(org id.Org, shard string, rows int) {
	w.Helper()
	w.furnish(org, shard, rows)
	for _, table := range []string{"event", "webhook", "delivery"} {
		_, err := w.shards[shard].Exec(w.Context(), `DELETE FROM `+table+` WHERE org_id = $1`, org)
		require.NoError(w, err)
	}
}

// TestWritersWhileItMovesToAndFro moves an organization there and back while writers
// write, somebody reads its events and somebody else is sent them.
func TestWritersWhileItMovesToAndFro(t *testing.T) {
	both(t, func(t *testing.T, option func(*move.Options)) {
		const writers, moves = 4, 6
		w := newWorld(t, option, func(o *move.Options) { o.Page = 50 })
		org := w.organization("a")
		w.furnishSilently(org, "a", 5)
		receiver := w.receiver(org)

		var (
			group sync.WaitGroup
			mu    sync.Mutex
			acked []string
			fault error
			read  follower
			stop  = make(chan struct{})
		)
		// Each move copies what was written during all before it. Slow enough, and it stays far
		// quicker than the writers, also where the machine is busy.
		pace := rate.NewLimiter(50, writers)
		keep := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil && fault == nil {
				fault = err
			}
		}
		going := func() bool {
			select {
			case <-stop:
				return false
			default:
				return true
			}
		}
		for n := range writers {
			group.Go(func() {
				for i := 0; going(); i++ {
					key := fmt.Sprintf("%d-%05d", n, i)
					if err := pace.Wait(t.Context()); err != nil {
						return
					}
					err := w.record(t.Context(), org, key)
					if tenant.Unavailable(err) { // which is said after a while, on a busy machine
						continue
					}
					if err != nil {
						keep(err)
						return
					}
					mu.Lock()
					acked = append(acked, key)
					mu.Unlock()
				}
			})
		}
		group.Go(func() {
			for going() {
				keep(read.follow(t.Context(), w.tenants, org))
			}
		})
		for n := range moves {
			to := []string{"b", "a"}[n%2]
			w.begin(org, to)
			for range 50 { // what was in the way for too long is tried again
				w.clock.Step(time.Minute)
				if err := w.advance(w.mover); err != nil {
					t.Log(err)
				}
				if w.move(org).DueAt == nil {
					break
				}
			}
			require.Equal(t, directory.Moved, w.move(org).Phase, w.move(org).Problem)
		}
		close(stop)
		group.Wait()
		require.NoError(t, fault)
		require.NoError(t, read.follow(t.Context(), w.tenants, org))

		slices.Sort(acked)
		require.Greater(t, len(acked), 10*moves)
		rows, _ := w.shards["a"].Query(t.Context(), `SELECT key FROM setting WHERE org_id = $1 AND key LIKE '_-_____' ORDER BY key`, org)
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, acked, keys, "nothing that was acknowledged is lost, nothing is doubled")
		seen := slices.Sorted(slices.Values(read.keys))
		require.Equal(t, acked, seen, "the log skips nothing and repeats nothing")
		var counted int
		require.NoError(t, w.shards["a"].QueryRow(t.Context(), `SELECT value FROM org_counter WHERE org_id = $1 AND name = 'records'`, org).Scan(&counted))
		require.Equal(t, len(acked), counted)
		require.Eventually(t, func() bool { return len(receiver.Events("/all")) >= len(acked) }, 30*time.Second, 20*time.Millisecond,
			"every event is delivered, once at least")
	})
}

// receiver makes a webhook, and a worker that delivers for both shards.
func (w *world) receiver(org id.Org) *endpoint.Server {
	w.Helper()
	received, err := endpoint.Start(endpoint.Options{})
	require.NoError(w, err)
	w.Cleanup(received.Close)
	v, err := vault.New(vault.NewKey())
	require.NoError(w, err)
	h := webhook.Webhook{
		ID: id.NewWebhook(), URL: received.URL("/all"), Events: []string{event.Any}, Active: true,
		APIVersion: contract.Latest, CreatedAt: now, UpdatedAt: now,
	}
	require.NoError(w, w.tenants.InTx(w.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := webhook.Insert(ctx, tx, v, h, "whsec_test", plan.Terms{}, nil, activity.Actor{By: "test", At: h.CreatedAt})
		return err
	}))
	guard := egress.New(egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: received.RootCAs(), Timeout: time.Second,
	})
	w.Cleanup(guard.Client().CloseIdleConnections)
	worker := delivery.New(delivery.Options{
		Tenants: w.tenants, Vault: v, Renderer: &event.Renderer{Tenants: w.tenants, Sources: map[event.Type]event.Source{}}, Egress: guard,
		Shards: func(context.Context) ([]string, error) { return []string{"a", "b"}, nil }, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	})
	worker.Start()
	w.Cleanup(worker.Stop)
	return received
}

// whenAsked does something whenever it is asked for the time.
type whenAsked struct {
	clock.PassiveClock
	do func()
}

func (c whenAsked) Now() time.Time {
	c.do()
	return c.PassiveClock.Now()
}

// TestWritersFasterThanTheMove adds more rows than a page has for each page that is copied or
// compared: the move ends all the same.
func TestWritersFasterThanTheMove(t *testing.T) {
	const page, most = 5, 2000
	var (
		w       *world
		org     id.Org
		written int
	)
	w = newWorld(t, func(o *move.Options) {
		o.Small, o.Page = -1, page
		o.Clock = whenAsked{o.Clock, func() {
			if org.IsZero() || written >= most*page {
				return
			}
			if phase := w.move(org).Phase; phase != "copy" && phase != "verify" {
				return
			}
			keys := make([]string, page+1)
			for i := range keys {
				written++
				keys[i] = fmt.Sprintf("%05d", written)
			}
			require.NoError(t, w.set(t.Context(), org, keys...))
		}}
	})
	made := w.organization("a")
	w.furnishSilently(made, "a", page)
	org = made
	require.Equal(t, directory.Moved, w.moves(org, "b").Phase)
	require.Less(t, written, most*page, "it ended while they wrote")
	require.Positive(t, written)
}
