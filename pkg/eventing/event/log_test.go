package event_test

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// emit records events in one transaction.
func emit(t *testing.T, tenants *tenant.Tenants, org id.Org, drafts ...event.Draft) (recorded []event.Recorded) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		recorded, err = event.Record(ctx, tx, drafts...)
		return err
	}))
	return recorded
}

func list(t *testing.T, tenants *tenant.Tenants, org id.Org, f event.Filter, after event.Position, limit int) []event.Event {
	t.Helper()
	found, err := event.List(context.Background(), tenants, org, f, after, limit)
	require.NoError(t, err)
	return found
}

// A reader that follows the log while eight writers commit, some of them
// slowly, misses nothing and sees nothing twice.
func TestFollowingTheLog(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	const writers, each = 8, 40
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		wanted = map[id.Event]bool{}
	)
	writing := make(chan struct{})
	for n := range writers {
		group.Go(func() {
			// Clocks of pods differ.
			clock := func() time.Time { return time.Now().Add(time.Duration(n) * 200 * time.Millisecond) }
			for i := range each {
				drafts := []event.Draft{{Type: event.UnitCreated, At: clock()}}
				if i%3 == 0 {
					drafts = append(drafts, event.Draft{Type: event.UnitUpdated, At: clock()})
				}
				for _, r := range emit(t, tenants, org, drafts...) {
					mu.Lock()
					wanted[r.ID] = true
					mu.Unlock()
				}
				emit(t, tenants, other, event.Draft{Type: event.UnitCreated, At: clock()})
			}
		})
	}
	go func() {
		group.Wait()
		close(writing)
	}()
	var (
		last event.Position
		seen []id.Event
	)
	read := func() int {
		page := list(t, tenants, org, event.Filter{Ascending: true}, last, 7)
		for _, e := range page {
			require.Positive(t, bytes.Compare(e.ID[:], last[:]))
			require.Equal(t, e.ID.Time(), e.At.UTC(), "the id tells when")
			last, seen = e.ID, append(seen, e.ID)
		}
		return len(page)
	}
	for done := false; !done; {
		select {
		case <-writing:
			done = true
		default:
		}
		for read() > 0 {
			continue
		}
	}
	require.Len(t, seen, len(wanted))
	for _, e := range seen {
		require.True(t, wanted[e])
	}
}

// Whoever reads does not wait for a writer that is about to commit; another writer does.
func TestReadsPassAWriterWithItsTurn(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	write := func(ctx context.Context, org id.Org, held func()) error {
		return tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			if err := event.LockLog(ctx, tx); err != nil {
				return err
			}
			held()
			_, err := event.Record(ctx, tx, event.Draft{Type: event.UnitCreated, At: time.Now()})
			return err
		})
	}
	err := write(t.Context(), org, func() {
		brief, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		webhooks := -1
		require.NoError(t, tenants.Read(brief, org, func(r *tenant.Reads) {
			r.QueryRow(new(bool), []any{&webhooks}, `SELECT count(*) FROM webhook WHERE org_id = $1`, org)
		}))
		require.Zero(t, webhooks)
		require.NoError(t, write(brief, other, func() {}), "one of another organization")

		waits, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		require.Error(t, write(waits, org, func() { t.Error("two at once") }))
	})
	require.NoError(t, err)
	require.Len(t, list(t, tenants, org, event.Filter{}, event.Position{}, 10), 1)
}

func TestFilters(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	session, subject := id.NewSession(), id.NewSubject()
	begin := tenanttest.Now
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	var all []id.Event
	for i, d := range []event.Draft{
		{Type: event.SessionStarted, Session: session},
		{Type: event.UnitCreated},
		{Type: event.SessionEnded, Session: session, Subject: subject},
		{Type: event.UnitCreated, Subject: subject},
		{Type: event.UnitUpdated},
	} {
		d.At = at(i)
		all = append(all, emit(t, tenants, org, d)[0].ID)
	}
	for name, tc := range map[string]struct {
		filter event.Filter
		after  event.Position
		want   []int
	}{
		"everything":            {event.Filter{}, event.Position{}, []int{4, 3, 2, 1, 0}},
		"in order":              {event.Filter{Ascending: true}, event.Position{}, []int{0, 1, 2, 3, 4}},
		"after":                 {event.Filter{Ascending: true}, all[2], []int{3, 4}},
		"before, newest first":  {event.Filter{}, all[2], []int{1, 0}},
		"from":                  {event.Filter{From: at(3)}, event.Position{}, []int{4, 3}},
		"to":                    {event.Filter{To: at(3)}, event.Position{}, []int{2, 1, 0}},
		"from and to":           {event.Filter{From: at(1), To: at(3), Ascending: true}, event.Position{}, []int{1, 2}},
		"between two":           {event.Filter{From: at(1).Add(time.Microsecond), To: at(2).Add(time.Microsecond)}, event.Position{}, []int{2}},
		"a session":             {event.Filter{Session: session}, event.Position{}, []int{2, 0}},
		"a subject":             {event.Filter{Subject: subject, Ascending: true}, event.Position{}, []int{2, 3}},
		"both":                  {event.Filter{Session: session, Subject: subject}, event.Position{}, []int{2}},
		"types":                 {event.Filter{Types: []event.Type{event.UnitCreated, event.SessionEnded}}, event.Position{}, []int{3, 2, 1}},
		"types in order, after": {event.Filter{Types: []event.Type{event.UnitCreated}, Ascending: true}, all[1], []int{3}},
		"a session's types":     {event.Filter{Session: session, Types: []event.Type{event.SessionEnded}}, event.Position{}, []int{2}},
		"no type":               {event.Filter{Types: []event.Type{}}, event.Position{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got, want []id.Event
			for _, e := range list(t, tenants, org, tc.filter, tc.after, 10) {
				got = append(got, e.ID)
			}
			for _, i := range tc.want {
				want = append(want, all[i])
			}
			require.Equal(t, want, got)
		})
	}
}

// A type that is emitted with a field that its catalogue entry lacks is a
// mistake that every test of the emitter finds.
func TestEmittingWhatTheCatalogueLacks(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	for name, d := range map[string]event.Draft{
		"an unknown type":    {Type: "unit.exploded"},
		"an unknown field":   {Type: event.UnitCreated, Fields: map[string]any{"colour": "red"}},
		"conversation words": {Type: event.SessionEnded, Fields: map[string]any{"summary": "Words."}},
	} {
		t.Run(name, func(t *testing.T) {
			d.At = tenanttest.Now
			require.Error(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := event.Record(ctx, tx, d)
				return err
			}))
		})
	}
	require.Empty(t, list(t, tenants, org, event.Filter{}, event.Position{}, 10), "nothing was recorded")
}

// Nothing is recorded of a transaction that is undone.
func TestOneCommit(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	err := tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := event.Record(ctx, tx, event.Draft{Type: event.UnitCreated, At: tenanttest.Now}); err != nil {
			return err
		}
		return context.Canceled
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, list(t, tenants, org, event.Filter{}, event.Position{}, 10))
}

func TestTheStructureOfAnEvent(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	recorded := emit(t, tenants, org, event.Draft{Type: event.WebhookTest, At: tenanttest.Now, Fields: map[string]any{"message": "hello"}})
	found, err := event.Get(context.Background(), tenants, org, recorded[0].ID)
	require.NoError(t, err)
	var data map[string]any
	require.NoError(t, json.Unmarshal(found.Structure, &data))
	require.Equal(t, map[string]any{"webhookId": nil, "message": "hello", "requestedBy": nil}, data, "what is left out is null")
	_, err = event.Get(context.Background(), tenants, id.NewOrg(), recorded[0].ID)
	require.Error(t, err)
}

func TestSweepingTheLog(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	old := emit(t, tenants, org, event.Draft{Type: event.UnitCreated, At: tenanttest.Now})[0].ID
	young := emit(t, tenants, org, event.Draft{Type: event.UnitCreated, At: tenanttest.Now.Add(time.Hour)})[0].ID
	n, err := event.Sweep(context.Background(), tenants, "a", tenanttest.Now.Add(event.Retention+time.Minute))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	found := list(t, tenants, org, event.Filter{Ascending: true}, old, 10)
	require.Len(t, found, 1, "who had handled what is gone goes on after it")
	require.Equal(t, young, found[0].ID)
}
