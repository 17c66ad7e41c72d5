package event_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// tell has events emitted in one transaction.
func tell(t testing.TB, tenants *tenant.Tenants, org id.Org, drafts ...event.Draft) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, func(_ context.Context, tx *tenant.Tx) error {
		event.Emit(tx, drafts...)
		return nil
	}))
}

func named(name string) event.Draft {
	return event.Draft{Type: event.UnitCreated, At: tenanttest.Now, Fields: map[string]any{"name": name}}
}

// names are the units of an organization's log, oldest first.
func names(t *testing.T, tenants *tenant.Tenants, org id.Org) (all []string) {
	t.Helper()
	for _, e := range list(t, tenants, org, event.Filter{Ascending: true}, event.Position{}, 10_000) {
		all = append(all, nameOf(t, e))
	}
	return all
}

func nameOf(t *testing.T, e event.Event) (name string) {
	t.Helper()
	_, after, found := bytes.Cut(e.Structure, []byte(`"name": "`))
	require.True(t, found, string(e.Structure))
	text, _, _ := bytes.Cut(after, []byte(`"`))
	return string(text)
}

func shardOf(t *testing.T, tenants *tenant.Tenants) *database.DB {
	t.Helper()
	db, err := tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	return db
}

// While somebody holds the organization's turn in its log others commit their changes, and
// the events of these come after.
func TestCommitsDoNotWaitForTheLog(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := event.Record(ctx, tx, named("first")); err != nil {
			return err
		}
		tell(t, tenants, org, named("second"), named("third"))
		return nil
	}))
	require.Equal(t, []string{"first", "second", "third"}, names(t, tenants, org))
}

// Eight writers tell of one thing after the other while a reader follows the log and two
// workers number it: what a writer emitted later comes later, nothing is skipped and nothing
// comes twice.
func TestTheOrderOfWhatIsTold(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	const writers, each = 8, 40
	ctx, stop := context.WithCancel(context.Background())
	var writing, numbering sync.WaitGroup
	for range 2 {
		numbering.Go(func() {
			n := event.Numbering{Tenants: tenants, Shard: "a"}
			for ctx.Err() == nil {
				if _, err := n.Next(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("number: %v", err)
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				d := named(fmt.Sprintf("%d-%d", w, i))
				d.At = time.Now().Add(time.Duration(w) * 200 * time.Millisecond) // clocks of pods differ
				if i%2 > 0 {
					d.Type = event.UnitUpdated
				}
				tell(t, tenants, org, d)
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	var last event.Position
	next := map[string]int{}
	types := []event.Type{event.UnitCreated, event.UnitUpdated} // one statement for each
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		for {
			page := list(t, tenants, org, event.Filter{Types: types, Ascending: true}, last, 7)
			for _, e := range page {
				var w string
				var i int
				_, err := fmt.Sscanf(nameOf(t, e), "%1s-%d", &w, &i)
				require.NoError(t, err)
				require.Equal(t, next[w], i, "of writer %s", w)
				next[w]++
				last = e.ID
			}
			if len(page) == 0 {
				break
			}
		}
	}
	stop()
	numbering.Wait()
	for w := range writers {
		require.Equal(t, each, next[fmt.Sprint(w)])
	}
}

// What is of the same commit keeps its order, also where it was emitted in several calls and is
// more than goes in one round.
func TestOneCommitsEventsStayInOrder(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	var want []string
	require.NoError(t, tenants.InTx(context.Background(), org, func(_ context.Context, tx *tenant.Tx) error {
		want = nil
		for i := range 1200 {
			want = append(want, fmt.Sprint(i))
			event.Emit(tx, named(want[i]))
		}
		return nil
	}))
	require.Equal(t, want, names(t, tenants, org))
}

// An attempt that fails tells nothing.
func TestAFailedAttemptTellsNothing(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		event.Emit(tx, named("before"))
		err := tx.Attempt(ctx, func(context.Context) error {
			event.Emit(tx, named("in it"))
			return context.Canceled
		})
		require.ErrorIs(t, err, context.Canceled)
		event.Emit(tx, named("after"))
		return nil
	}))
	require.Equal(t, []string{"before", "after"}, names(t, tenants, org))
}

// A type that the catalogue lacks undoes the transaction, as its other errors do.
func TestTellingWhatTheCatalogueLacks(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	err := tenants.InTx(context.Background(), org, func(_ context.Context, tx *tenant.Tx) error {
		event.Emit(tx, named("well"), event.Draft{Type: "unit.exploded", At: tenanttest.Now})
		return nil
	})
	require.ErrorContains(t, err, "unit.exploded")
	require.Empty(t, names(t, tenants, org))
}

// An event of a newer release waits for that release, and what its organization emitted after
// it; others go on.
func TestANewerReleasesEventWaits(t *testing.T) {
	t.Parallel()
	tenants, org, other := tenanttest.New(t)
	db, ctx := shardOf(t, tenants), context.Background()
	tell(t, tenants, org, named("before"), named("newer"), named("after"))
	tell(t, tenants, other, named("another's"))
	_, err := db.Exec(ctx, `UPDATE event_staged SET type = 'unit.merged' WHERE org_id = $1 AND place = 1`, org)
	require.NoError(t, err)
	n := event.Numbering{Tenants: tenants, Shard: "a"}
	done, err := n.Next(ctx)
	require.NoError(t, err)
	require.False(t, done.More, "or the worker would look without end")
	require.EqualValues(t, "unit.merged", done.Unknown)
	since, err := event.OldestStaged(ctx, db)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), since, time.Minute)
	require.Equal(t, []string{"before"}, names(t, tenants, org))
	require.Equal(t, []string{"another's"}, names(t, tenants, other))
	_, err = db.Exec(ctx, `UPDATE event_staged SET type = 'unit.created'`)
	require.NoError(t, err)
	require.Equal(t, []string{"before", "newer", "after"}, names(t, tenants, org))
	since, err = event.OldestStaged(ctx, db)
	require.NoError(t, err)
	require.Zero(t, since)
}

// An erasure empties a person's external id also where it waits behind a newer release's event.
func TestErasureReachesWhatIsStaged(t *testing.T) {
	t.Parallel()
	tenants, org, other := tenanttest.New(t)
	db, ctx := shardOf(t, tenants), context.Background()
	session := id.NewSession()
	ended := event.Draft{Type: event.SessionEnded, At: tenanttest.Now, Session: session, Fields: map[string]any{"externalId": "kim@example.com"}}
	for _, o := range []id.Org{org, other} {
		tell(t, tenants, o, named("newer"), ended)
	}
	_, err := db.Exec(ctx, `UPDATE event_staged SET type = 'unit.merged' WHERE place = 0`)
	require.NoError(t, err)
	require.NoError(t, tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		return event.EraseExternalIDs(ctx, tx, id.Person{}, []id.Session{session})
	}))
	left := func(o id.Org) (n int) {
		require.NoError(t, db.QueryRow(ctx, `SELECT count(*) FROM event_staged WHERE org_id = $1 AND data::TEXT LIKE '%kim@%'`, o).Scan(&n))
		return n
	}
	require.Zero(t, left(org))
	require.Equal(t, 1, left(other), "another organization's is its own")
}

// Many organizations whose events have to wait keep nobody else waiting.
func TestEventsThatWaitKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	db, ctx := shardOf(t, tenants), context.Background()
	tell(t, tenants, org, named("ours"))
	_, err := db.Exec(ctx, `
		INSERT INTO event_staged (org_id, id, committed_at, place, type, at, data)
		SELECT ('00000000-0000-0000-0000-' || lpad(i::TEXT, 12, '0'))::UUID, gen_random_uuid(), 0, 0, 'unit.created', now(), '{}'
		FROM generate_series(1, 1000) AS g (i)`)
	require.NoError(t, err)
	n := event.Numbering{Tenants: tenants, Shard: "a"}
	var left int
	for rounds := 0; ; rounds++ {
		require.Less(t, rounds, 30)
		done, err := n.Next(ctx)
		require.NoError(t, err)
		require.NoError(t, db.QueryRow(ctx, `SELECT count(*) FROM event_staged WHERE org_id = $1`, org).Scan(&left))
		if left == 0 {
			break
		}
		require.True(t, done.More)
	}
}

// What cannot be entered keeps no other organization's events waiting, and is told of.
func TestAnEventThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	tenants, org, other := tenanttest.New(t)
	db, ctx := shardOf(t, tenants), context.Background()
	tell(t, tenants, org, named("broken"))
	tell(t, tenants, other, named("well"))
	_, err := db.Exec(ctx, `ALTER TABLE event ADD CONSTRAINT refuses CHECK (data->>'name' <> 'broken')`)
	require.NoError(t, err)
	n := event.Numbering{Tenants: tenants, Shard: "a"}
	_, err = n.Next(ctx)
	require.ErrorContains(t, err, org.String())
	require.Equal(t, []string{"well"}, names(t, tenants, other))
	require.Empty(t, names(t, tenants, org), "what is in the log can be read")
}

// Whoever changes who subscribes takes the turn first: what was committed before goes to
// those who subscribed then, and what is committed after to those who do now.
func TestWhoSubscribedWhenItHappened(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	db, ctx := shardOf(t, tenants), context.Background()
	tell(t, tenants, org, named("before"))
	require.NoError(t, tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if err := event.LockLog(ctx, tx); err != nil {
			return err
		}
		which := id.NewWebhook()
		tx.Touch("webhook", which)
		_, err := tx.Exec(ctx, `
			INSERT INTO webhook (org_id, id, url, events, include_conversation, active, api_version, secret, created_at, updated_at)
			VALUES ($1, $2, '', '{*}', false, true, '', '', now(), now())`, tx.Org, which)
		return err
	}))
	tell(t, tenants, org, named("after"))
	require.Equal(t, []string{"before", "after"}, names(t, tenants, org))
	var delivered []string
	rows, err := db.Query(ctx, `
		SELECT e.data->>'name' FROM delivery d JOIN event e ON e.org_id = d.org_id AND e.id = d.event_id WHERE d.org_id = $1`, org)
	require.NoError(t, err)
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		delivered = append(delivered, name)
	}
	require.NoError(t, rows.Err())
	require.True(t, slices.Equal([]string{"after"}, delivered), "%v", delivered)
}
