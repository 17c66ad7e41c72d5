package hint

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

// Listener hands hints from other processes to a Hub.
type Listener struct {
	hub      *Hub
	secret   []byte
	clock    clock.PassiveClock
	conn     *net.UDPConn
	received prometheus.Counter
	refused  *prometheus.CounterVec
	group    sync.WaitGroup
}

// Listen takes an address, HOST:PORT or :PORT, for hints that are signed with the secret.
func Listen(address string, hub *Hub, secret []byte, c clock.PassiveClock, metrics prometheus.Registerer) (*Listener, error) {
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", to)
	if err != nil {
		return nil, err
	}
	l := &Listener{
		hub: hub, secret: secret, clock: c, conn: conn,
		received: counter(metrics, "visavis_hints_received_total", "Hints about shards that came from another process."),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "visavis_hints_refused_total", Help: "Datagrams that were no hints, by reason: forged, stale or malformed.",
		}, []string{"reason"}),
	}
	if metrics != nil {
		if err := metrics.Register(l.refused); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return l, nil
}

// Address is where it listens.
func (l *Listener) Address() netip.AddrPort { return l.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Start begins to listen.
func (l *Listener) Start() { l.group.Go(l.run) }

// Stop ends what Start began.
func (l *Listener) Stop() {
	_ = l.conn.Close()
	l.group.Wait()
}

func (l *Listener) run() {
	buffer := make([]byte, datagramLength+1)
	for {
		n, _, err := l.conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.After(time.Millisecond) // what the kernel has no more room for, say
			continue
		}
		l.hear(buffer[:n])
	}
}

func (l *Listener) hear(d []byte) {
	hints, err := open(l.secret, l.clock.Now(), l.hub.number, d)
	switch {
	case errors.Is(err, errForged):
		l.refused.WithLabelValues("forged").Inc()
	case errors.Is(err, errStale):
		l.refused.WithLabelValues("stale").Inc()
	case err != nil:
		l.refused.WithLabelValues("malformed").Inc()
	}
	l.received.Add(float64(len(hints)))
	for _, h := range hints {
		l.hub.Hear(h.shard, h.kinds)
	}
}

// counter registers a counter.
func counter(metrics prometheus.Registerer, name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	if metrics != nil {
		metrics.MustRegister(c)
	}
	return c
}
