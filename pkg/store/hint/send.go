package hint

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

const (
	// pendingAtMost bounds the shards that wait to be told of.
	pendingAtMost = 4096
	// gatherFor is how long hints gather after a datagram was sent, and gatherForEach how
	// much of that there is for each address.
	gatherFor     = 2 * time.Millisecond
	gatherForEach = 100 * time.Microsecond
	// addressesAtMost bounds the processes that hints are sent to.
	addressesAtMost = 1024
	// resolveEvery is how often the targets' names are looked up, and resolveWithin how long
	// that may take for one.
	resolveEvery  = 5 * time.Second
	resolveWithin = 4 * time.Second
)

// Resolver looks up a host's addresses, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// SenderOptions shape a Sender.
type SenderOptions struct {
	// Hub is the process's, whose Listener does not hear what the Sender sends.
	Hub *Hub
	// Targets are HOST:PORT of those who listen; hints go to every address of each.
	Targets []string
	// Secret signs the datagrams.
	Secret   []byte
	Resolver Resolver
	Clock    clock.WithTicker
	Log      *slog.Logger
	// Metrics counts the hints; nil for nowhere.
	Metrics prometheus.Registerer
}

// Sender sends hints to other processes. The first is sent at once; those that come right
// after it gather for a moment, one for each shard.
type Sender struct {
	o             SenderOptions
	conn          *net.UDPConn
	sent, dropped prometheus.Counter

	mu        sync.Mutex
	pending   map[string]Kinds
	addresses []netip.AddrPort
	// known are the addresses by target, and failed the targets that were not found last.
	known  map[string][]netip.AddrPort
	failed map[string]bool

	// ready says that something is pending.
	ready    chan struct{}
	resolved chan struct{}
	cancel   context.CancelFunc
	group    sync.WaitGroup
}

// NewSender makes a sender.
func NewSender(o SenderOptions) (*Sender, error) {
	if err := CheckTargets(o.Targets); err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	s := &Sender{
		o: o, conn: conn, pending: map[string]Kinds{}, known: map[string][]netip.AddrPort{}, failed: map[string]bool{},
		ready: make(chan struct{}, 1), resolved: make(chan struct{}),
		sent:    counter(o.Metrics, "visavis_hints_sent_total", "Hints about shards that were sent to a process."),
		dropped: counter(o.Metrics, "visavis_hints_dropped_total", "Hints that were not sent: too many waited, nobody was found, or the network refused them."),
	}
	return s, nil
}

// Start begins to send.
func (s *Sender) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	ticker := s.o.Clock.NewTicker(resolveEvery)
	s.group.Go(func() {
		defer ticker.Stop()
		s.resolve(ctx)
		close(s.resolved)
		for {
			select {
			case <-ticker.C():
				s.resolve(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	s.group.Go(func() { s.run(ctx) })
}

// Stop sends what waits, and ends what Start began.
func (s *Sender) Stop() {
	s.cancel()
	s.group.Wait()
	_ = s.conn.Close()
}

// Send sends a hint soon.
func (s *Sender) Send(shard string, kinds Kinds) {
	s.mu.Lock()
	_, known := s.pending[shard]
	full := !known && len(s.pending) >= pendingAtMost
	if !full {
		s.pending[shard] |= kinds
	}
	s.mu.Unlock()
	if full {
		s.dropped.Inc()
		return
	}
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *Sender) run(ctx context.Context) {
	select { // what comes before anybody is found waits for that
	case <-s.resolved:
	case <-ctx.Done():
	}
	for {
		select {
		case <-s.ready:
		case <-ctx.Done():
			s.flush()
			return
		}
		addresses := s.flush()
		select {
		case <-s.o.Clock.After(gatherFor + time.Duration(addresses)*gatherForEach):
		case <-ctx.Done():
		}
	}
}

// flush sends what is pending to all addresses, and answers how many there are.
func (s *Sender) flush() (addresses int) {
	s.mu.Lock()
	hints, to := s.pending, s.addresses
	s.pending = map[string]Kinds{}
	s.mu.Unlock()
	if len(hints) == 0 {
		return len(to)
	}
	if len(to) == 0 {
		s.dropped.Add(float64(len(hints)))
		return 0
	}
	datagrams := seal(s.o.Secret, s.o.Clock.Now(), s.o.Hub.number, hints)
	for _, address := range to {
		failed := false
		for _, d := range datagrams {
			// A full buffer, or nobody there: the slow look of whoever it was for finds it.
			if _, err := s.conn.WriteToUDPAddrPort(d, address); err != nil {
				failed = true
			}
		}
		if failed {
			s.dropped.Add(float64(len(hints)))
		} else {
			s.sent.Add(float64(len(hints)))
		}
	}
	return len(to)
}

// resolve looks up the targets. While one is not found its last known addresses stay in force.
func (s *Sender) resolve(ctx context.Context) {
	var found []netip.AddrPort
	for _, target := range s.o.Targets {
		addresses, err := lookUp(ctx, s.o.Resolver, target)
		s.note(ctx, target, err)
		if err == nil {
			s.known[target] = addresses
		}
		found = append(found, s.known[target]...)
	}
	slices.SortFunc(found, netip.AddrPort.Compare)
	found = slices.Compact(found)
	if len(found) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses = found[:min(len(found), addressesAtMost)]
}

// note logs when a target is not found any more, and when it is again.
func (s *Sender) note(ctx context.Context, target string, err error) {
	switch {
	case err != nil && !s.failed[target]:
		s.o.Log.WarnContext(ctx, "failed to look up who gets hints; workers find what is due a few seconds later", "target", target, "error", err)
	case err == nil && s.failed[target]:
		s.o.Log.InfoContext(ctx, "found who gets hints again", "target", target)
	}
	s.failed[target] = err != nil
}
