package delivery_test

import (
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/hint"
)

// newHintedWorld is a live world whose worker looks by itself once an hour: what no hint is
// heard of does not arrive.
func newHintedWorld(t *testing.T) *world {
	t.Helper()
	w := newLiveWorld(t)
	w.options.Hints, w.options.Rarely = hint.NewHub(true), time.Hour
	w.tenants.HintBy(w.options.Hints)
	return w
}

// A hint comes at any moment of a look, or of another's attempt: none is lost.
func TestEachHintIsFollowedByALook(t *testing.T) {
	t.Parallel()
	w := newHintedWorld(t)
	for _, path := range []string{"/a", "/slow"} {
		w.hook(w.one, path)
	}
	w.receiver.Set("/slow", endpoint.Behaviour{Latency: 5 * time.Millisecond})
	w.work()
	for n := range 150 {
		w.tell(w.one)
		if n%3 == 0 {
			w.emit(w.one)
		}
		<-time.After(time.Duration(n%30) * time.Millisecond) // some while a look is under way
		if n%10 == 0 {
			w.await("/a", n+n/3+2)
		}
	}
	w.await("/a", 200)
	w.await("/slow", 200)
}

// What is due later is attempted on time although nobody hints then.
func TestARetryIsOnTimeWithoutAHint(t *testing.T) {
	t.Parallel()
	w := newHintedWorld(t)
	h := w.hook(w.one, "/hook")
	w.work()
	w.tell(w.one)
	w.await("/hook", 1)
	due := time.Now().Add(1500 * time.Millisecond) // the test's own clock stands
	e := id.EventAt(time.Now())
	w.exec(`INSERT INTO event (org_id, id, type, created_at, data) VALUES ($1, $2, $3, now(), '{}')`, w.one, e, event.UnitRenamed)
	w.exec(`
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, due_at, log, created_at)
		VALUES ($1, $2, $3, $4, $5, '2026-10-01', 'pending', 0, $6, '[]', now())`, w.one, id.DeliveryAt(time.Now()), h, e, event.UnitRenamed, due)
	w.tell(w.one) // which makes it look, and find when to look again
	w.await("/hook", 3)
	require.False(t, time.Now().Before(due))
}

// Of two workers the one that enters an event tells the other, whose lanes it may be in.
func TestWorkersTellEachOther(t *testing.T) {
	t.Parallel()
	w := newHintedWorld(t)
	var paths []string
	for i := range 20 {
		paths = append(paths, "/"+strconv.Itoa(i))
		w.hook(w.one, paths[i])
	}
	other := newLiveWorld(t).options // a process of its own
	other.Tenants, other.Renderer, other.Vault, other.Egress, other.Shards = w.options.Tenants, w.options.Renderer, w.options.Vault, w.options.Egress, w.options.Shards
	other.Hints, other.Rarely = hint.NewHub(true), time.Hour
	w.connect(w.options.Hints, other.Hints)
	w.connect(other.Hints, w.options.Hints)
	w.work()
	second := delivery.New(other)
	second.Start()
	t.Cleanup(second.Stop)
	require.Eventually(t, func() bool {
		return w.count(`SELECT count(DISTINCT owner) FROM delivery_lane WHERE lease_until > now()`) == 2
	}, 20*time.Second, 10*time.Millisecond)
	for n := range 20 {
		w.tell(w.one)
		for _, path := range paths {
			w.await(path, n+1)
		}
	}
}

// Where no hints come after all, as where the network lets none through, workers look as often
// as without, until hints come again.
func TestHintsThatDoNotComeAreNotReliedOn(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.options.Hints, w.options.Rarely = hint.NewHub(true), 2*time.Second // nobody hints
	w.hook(w.one, "/hook")
	w.work()
	w.tell(w.one)
	w.await("/hook", 1)
	require.Eventually(t, func() bool { return !w.options.Hints.Complete() }, 20*time.Second, 10*time.Millisecond)
	began := time.Now()
	for n := range 10 {
		w.tell(w.one)
		w.await("/hook", n+2)
	}
	// Each would wait for the next of the looks that are rare.
	require.Less(t, time.Since(began), 8*w.options.Rarely)
}

// Who is given no hints misses none.
func TestWorkersWithoutHintsMissNone(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.hook(w.one, "/hook")
	w.work()
	w.tell(w.one)
	w.await("/hook", 1)
	<-time.After(time.Second) // longer than a hint may take
	w.tell(w.one)
	w.await("/hook", 2)
}

// Hints that come are relied on, however the looks fall.
func TestHintsThatComeAreReliedOn(t *testing.T) {
	t.Parallel()
	w := newHintedWorld(t)
	w.options.Rarely = 20 * time.Millisecond
	w.hook(w.one, "/hook")
	w.work()
	for n := range 100 {
		w.tell(w.one)
		<-time.After(time.Duration(n%40) * time.Millisecond)
	}
	w.await("/hook", 100)
	<-time.After(time.Second)
	require.True(t, w.options.Hints.Complete())
}

// connect has hints of one process go to another.
func (w *world) connect(from, to *hint.Hub) {
	w.t.Helper()
	secret := make([]byte, 32)
	l, err := hint.Listen("127.0.0.1:0", to, secret, clock.RealClock{}, nil)
	require.NoError(w.t, err)
	l.Start()
	w.t.Cleanup(l.Stop)
	s, err := hint.NewSender(hint.SenderOptions{
		Hub: from, Targets: []string{l.Address().String()}, Secret: secret, Resolver: net.DefaultResolver, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(w.t, err)
	s.Start()
	w.t.Cleanup(s.Stop)
	from.SendBy(s)
}
