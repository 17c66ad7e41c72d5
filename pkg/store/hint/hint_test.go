package hint_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/store/hint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ear notes what it hears.
type ear struct {
	mu    sync.Mutex
	heard map[string]int
	news  chan string
}

func newEar(h *hint.Hub, kinds hint.Kinds) *ear {
	e := &ear{heard: map[string]int{}, news: make(chan string, 100_000)}
	h.Watch(kinds, func(shard string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.heard[shard]++
		e.news <- shard
	})
	return e
}

func (e *ear) of(shard string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard[shard]
}

// resolver is a name server.
type resolver struct {
	mu        sync.Mutex
	addresses []netip.Addr
	asked     chan struct{}
}

func (r *resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked != nil {
		r.asked <- struct{}{}
	}
	if host != "workers" || len(r.addresses) == 0 {
		return nil, errors.New("no such host")
	}
	return r.addresses, nil
}

func (r *resolver) answer(addresses ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addresses = nil
	for _, a := range addresses {
		r.addresses = append(r.addresses, netip.MustParseAddr(a))
	}
}

type world struct {
	clock    *clocktest.FakeClock
	resolver *resolver
	hub      *hint.Hub
	listener *hint.Listener
	figures  *prometheus.Registry
	secret   []byte
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		clock: clocktest.NewFakeClock(time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)), resolver: &resolver{},
		hub: hint.NewHub(true), figures: prometheus.NewRegistry(), secret: []byte("the deployment's secret, of 32 B"),
	}
	w.resolver.answer("127.0.0.1")
	var err error
	w.listener, err = hint.Listen("127.0.0.1:0", w.hub, w.secret, w.clock, w.figures)
	require.NoError(t, err)
	w.listener.Start()
	t.Cleanup(w.listener.Stop)
	return w
}

func (w *world) sender(t *testing.T, secret []byte, c clock.WithTicker) *hint.Sender {
	t.Helper()
	s, err := hint.NewSender(hint.SenderOptions{
		Hub: hint.NewHub(false), Targets: []string{fmt.Sprintf("workers:%d", w.listener.Address().Port())}, Secret: secret, Resolver: w.resolver, Clock: c,
		Log: slog.New(slog.DiscardHandler), Metrics: w.figures,
	})
	require.NoError(t, err)
	s.Start()
	return s
}

// figure waits until a counter has a value.
func (w *world) figure(t *testing.T, name string, want float64) {
	t.Helper()
	require.Eventually(t, func() bool {
		families, err := w.figures.Gather()
		require.NoError(t, err)
		sum := 0.0
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == name {
					sum += m.GetCounter().GetValue()
				}
			}
		}
		return sum == want
	}, 20*time.Second, time.Millisecond, name)
}

func TestHintsReachOtherProcesses(t *testing.T) {
	w := newWorld(t)
	deliveries, jobs := newEar(w.hub, hint.Deliveries), newEar(w.hub, hint.Jobs)
	api := hint.NewHub(false)
	require.False(t, api.Complete())
	s := w.sender(t, w.secret, clock.RealClock{})
	w.clock.SetTime(time.Now())
	api.SendBy(s)
	here := newEar(api, hint.Every)
	api.Hint("shard-1", hint.Deliveries)
	require.Equal(t, "shard-1", <-deliveries.news)
	require.Equal(t, "shard-1", <-here.news, "in this process at once")
	api.HintOthers("shard-2", hint.Every)
	require.Equal(t, "shard-2", <-deliveries.news)
	require.Equal(t, "shard-2", <-jobs.news)
	require.Zero(t, jobs.of("shard-1"))
	require.Zero(t, here.of("shard-2"))
	s.Stop()
	w.figure(t, "visavis_hints_sent_total", 2)
	w.figure(t, "visavis_hints_received_total", 2)
}

// One process commits thousands of changes a second; the others need not hear of each.
func TestHintsOfAShardGather(t *testing.T) {
	w := newWorld(t)
	heard := newEar(w.hub, hint.Every)
	s := w.sender(t, w.secret, w.clock) // the clock stands: nothing is sent after the first
	s.Send("shard-1", hint.Deliveries)
	<-heard.news
	for range 1000 {
		s.Send("shard-1", hint.Deliveries)
		s.Send("shard-2", hint.Jobs)
	}
	s.Stop() // what waits is sent
	<-heard.news
	<-heard.news
	w.figure(t, "visavis_hints_received_total", 3)
	require.Equal(t, 2, heard.of("shard-1"))
	require.Equal(t, 1, heard.of("shard-2"))
}

func TestManyShardsTakeSeveralDatagrams(t *testing.T) {
	w := newWorld(t)
	heard := newEar(w.hub, hint.Every)
	s := w.sender(t, w.secret, w.clock)
	s.Send("first", hint.Every)
	<-heard.news
	for n := range 500 {
		s.Send(fmt.Sprintf("shard-%d-%s", n, strings.Repeat("x", n%200)), hint.Every)
	}
	s.Stop()
	w.figure(t, "visavis_hints_received_total", 501)
}

// Nobody is there, or everything stands: what waits is bounded.
func TestTooManyHintsAreDropped(t *testing.T) {
	w := newWorld(t)
	w.resolver.answer()
	s := w.sender(t, w.secret, w.clock)
	for n := range 10_000 {
		s.Send(fmt.Sprintf("shard-%d", n), hint.Every)
	}
	s.Stop()
	w.figure(t, "visavis_hints_dropped_total", 10_000)
	w.figure(t, "visavis_hints_sent_total", 0)
}

func TestStrangersAreNotHeard(t *testing.T) {
	w := newWorld(t)
	heard := newEar(w.hub, hint.Every)
	stranger := w.sender(t, []byte("another secret"), w.clock)
	stranger.Send("shard-1", hint.Every)
	w.figure(t, "visavis_hints_refused_total", 1)
	stranger.Stop()

	conn, err := net.Dial("udp", w.listener.Address().String())
	require.NoError(t, err)
	defer conn.Close()
	for _, text := range []string{"", "x", strings.Repeat("x", 64), strings.Repeat("x", 60_000)} {
		_, err := conn.Write([]byte(text))
		require.NoError(t, err)
	}
	w.figure(t, "visavis_hints_refused_total", 5)
	require.Empty(t, heard.news)
}

func TestOldHintsAreNotHeard(t *testing.T) {
	w := newWorld(t)
	heard := newEar(w.hub, hint.Every)
	for i, ahead := range []time.Duration{-time.Minute, time.Minute} {
		theirs := clocktest.NewFakeClock(w.clock.Now().Add(ahead))
		s, err := hint.NewSender(hint.SenderOptions{
			Hub: hint.NewHub(false), Targets: []string{w.listener.Address().String()}, Secret: w.secret, Resolver: w.resolver, Clock: theirs, Log: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		s.Start()
		s.Send("shard-1", hint.Every)
		w.figure(t, "visavis_hints_refused_total", float64(i+1))
		s.Stop()
	}
	require.Empty(t, heard.news)
}

// A headless service's addresses come and go.
func TestAddressesAreLookedUpAgain(t *testing.T) {
	w := newWorld(t)
	heard := newEar(w.hub, hint.Every)
	w.resolver.answer()
	w.resolver.asked = make(chan struct{})
	s := w.sender(t, w.secret, w.clock)
	<-w.resolver.asked
	s.Send("early", hint.Every)
	w.figure(t, "visavis_hints_dropped_total", 1)
	w.resolver.answer("127.0.0.1")
	w.clock.Step(5 * time.Second)
	<-w.resolver.asked
	w.resolver.mu.Lock()
	w.resolver.asked = nil
	w.resolver.mu.Unlock()
	require.Eventually(t, func() bool {
		s.Send("late", hint.Every)
		w.clock.Step(10 * time.Millisecond)
		return heard.of("late") > 0
	}, 20*time.Second, time.Millisecond)
	w.resolver.answer() // a name server that fails takes nobody's address away
	w.clock.Step(5 * time.Second)
	s.Send("later", hint.Every)
	s.Stop()
	require.Eventually(t, func() bool { return heard.of("later") > 0 }, 20*time.Second, time.Millisecond)
}

// A process that both commits and works is among the addresses that it sends to.
func TestOwnHintsAreHeardOnce(t *testing.T) {
	w := newWorld(t)
	heard := newEar(w.hub, hint.Every)
	w.hub.SendBy(w.sendsTo(t, w.hub, w.figures))
	w.hub.Hint("own", hint.Jobs)
	w.figure(t, "visavis_hints_sent_total", 1)
	w.sendsTo(t, hint.NewHub(false), nil).Send("another's", hint.Jobs)
	require.Equal(t, "own", <-heard.news)
	require.Equal(t, "another's", <-heard.news)
	require.Equal(t, 1, heard.of("own"))
	w.figure(t, "visavis_hints_received_total", 1)
}

// sendsTo is a sender of a process to the world's listener.
func (w *world) sendsTo(t *testing.T, from *hint.Hub, figures prometheus.Registerer) *hint.Sender {
	t.Helper()
	s, err := hint.NewSender(hint.SenderOptions{
		Hub: from, Targets: []string{w.listener.Address().String()}, Secret: w.secret, Resolver: w.resolver, Clock: w.clock,
		Log: slog.New(slog.DiscardHandler), Metrics: figures,
	})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

func TestAShardIsWatched(t *testing.T) {
	h := hint.NewHub(true)
	n := 0
	stop := h.WatchShard("a", hint.Jobs, func() { n++ })
	h.Hint("a", hint.Jobs)
	h.Hint("a", hint.Deliveries)
	h.Hint("b", hint.Jobs)
	stop()
	h.Hint("a", hint.Jobs)
	require.Equal(t, 1, n)
}

func TestAMissIsDoubtedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hint.NewHub(true)
		require.True(t, h.Complete())
		require.True(t, h.Miss())
		require.False(t, h.Complete())
		require.False(t, h.Miss())
		<-time.After(5 * time.Minute)
		require.True(t, h.Complete())
		require.True(t, h.Miss())
	})
}

func TestTargetsAreChecked(t *testing.T) {
	for _, target := range []string{"", "workers", "workers:", "workers:0", ":8082", "workers:udp", "workers:99999"} {
		_, err := hint.NewSender(hint.SenderOptions{Targets: []string{target}})
		require.ErrorContains(t, err, "HOST:PORT", target)
	}
}

func TestWhoStoppedWatchingHearsNothing(t *testing.T) {
	h := hint.NewHub(true)
	n := 0
	stop := h.Watch(hint.Jobs, func(string) { n++ })
	h.Hint("a", hint.Jobs)
	h.Hint("a", hint.Deliveries)
	stop()
	h.Hint("a", hint.Jobs)
	require.Equal(t, 1, n)
	var none *hint.Hub
	none.Hint("a", hint.Jobs)
	none.HintOthers("a", hint.Jobs)
	none.Watch(hint.Jobs, nil)()
	require.False(t, none.Complete())
}
