package rtc

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/logging"
	"github.com/pion/transport/v4/packetio"
	"github.com/pion/webrtc/v4"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/soundtrack"
)

// Options are what a server works with.
type Options struct {
	// Addr is the UDP port: host:port. An IP address as the host is told to browsers, unless
	// Public is; without one, those of all the machine's interfaces are.
	Addr string
	// Public are the addresses at which browsers reach the port; a port of 0 is that of Addr.
	Public []netip.AddrPort
	// Relays are STUN and TURN servers for browsers that reach the port in no other way.
	Relays Relays
	Clock  clock.Clock
	// Metrics may be nil.
	Metrics prometheus.Registerer
}

// Server is a UDP port at which browsers connect. It is safe for concurrent use.
type Server struct {
	o   Options
	udp *net.UDPConn
	mux *ice.UDPMuxDefault
	// tells are the candidates that browsers are told; empty where pion's are.
	tells []netip.AddrPort

	mu    sync.Mutex
	conns map[*Conn]bool
	// closing says that there are to be no more, and running counts those that are not closed.
	closing bool
	running sync.WaitGroup

	open     prometheus.Gauge
	attempts *prometheus.CounterVec
}

const (
	// connectWithin is how long a browser may take from its offer to an open data channel.
	connectWithin = 10 * time.Second
	// disconnectedAfter and failedAfter are how long nothing may come from a browser, which
	// sends a check every few seconds: then it is looked for, and then given up.
	disconnectedAfter = 4 * time.Second
	failedAfter       = 2 * time.Second
	checkEvery        = time.Second
	// maxChecks bounds the checks that are sent to an address which answers none.
	maxChecks = 7
	// udpBuffer is what the kernel keeps of what comes in at once, in bytes.
	udpBuffer = 1 << 20
)

// Listen opens the port.
func Listen(o Options) (*Server, error) {
	addr, err := net.ResolveUDPAddr("udp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("rtc-addr: %w", err)
	}
	udp, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("rtc-addr: %w", err)
	}
	_ = udp.SetReadBuffer(udpBuffer) // as much as the machine allows
	s := &Server{o: o, udp: udp, conns: map[*Conn]bool{}}
	bounded, err := newPort(udp, o.Clock)
	if err != nil {
		return nil, err
	}
	s.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: bounded, Logger: quiet()})
	number := udp.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	for _, p := range o.Public {
		if p.Port() == 0 {
			p = netip.AddrPortFrom(p.Addr(), number)
		}
		s.tells = append(s.tells, p)
	}
	s.measure()
	return s, nil
}

func (s *Server) measure() {
	s.open = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "visavis_webrtc_open", Help: "Conversations of this process whose sound and messages go over WebRTC now.",
	})
	s.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "visavis_webrtc_connections_total", Help: "WebRTC connections that browsers offered, by what became of them.",
	}, []string{"outcome"})
	for _, outcome := range []string{outcomeOpened, outcomeRefused, outcomeUnreachable, outcomeBroken, outcomeFlood} {
		s.attempts.WithLabelValues(outcome)
	}
	if s.o.Metrics != nil {
		s.o.Metrics.MustRegister(s.open, s.attempts)
	}
}

// What became of a connection, as it is counted.
const (
	outcomeOpened      = "opened"
	outcomeRefused     = "refused"     // the offer was none
	outcomeUnreachable = "unreachable" // it was not open in time
	outcomeBroken      = "broken"      // it was open, and lost
	outcomeFlood       = "flood"       // more came over it than anybody says
)

// Addr is where the port is.
func (s *Server) Addr() netip.AddrPort { return s.udp.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close ends every connection, and closes the port.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing = true
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.lose(ErrBroken)
	}
	s.running.Wait()
	return s.mux.Close()
}

// add notes a connection; false where there is to be none any more.
func (s *Server) add(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.conns[c] = true
	s.running.Add(1)
	return true
}

func (s *Server) drop(c *Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.running.Done()
}

// newAPI makes what one connection is made of: admits says whether an address from which a
// check came may be answered, and buffer is where a stream's packets wait.
func (s *Server) newAPI(admits func(net.IP) bool, buffer func(packetio.BufferPacketType, uint32) io.ReadWriteCloser) (*webrtc.API, error) {
	media, err := soundtrack.NewMedia()
	if err != nil {
		return nil, err
	}
	set := webrtc.SettingEngine{LoggerFactory: quietFactory{}}
	set.SetICEUDPMux(s.mux)
	set.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	set.SetIncludeLoopbackCandidate(s.Addr().Addr().IsLoopback())
	set.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	set.SetICETimeouts(disconnectedAfter, failedAfter, checkEvery)
	set.SetICEMaxBindingRequests(maxChecks)
	set.SetRemoteIPFilter(admits)
	set.BufferFactory = buffer
	set.SetSCTPMaxReceiveBufferSize(4 * maxMessage)
	set.SetSCTPMaxMessageSize(maxMessage)
	// Nothing of DTLS is sent before the browser begins it.
	if err := set.SetAnsweringDTLSRole(webrtc.DTLSRoleServer); err != nil {
		return nil, err
	}
	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(set)), nil
}

// quietFactory makes loggers that say nothing: what a stranger sends is no news, and what
// becomes of a connection is counted.
type quietFactory struct{}

func (quietFactory) NewLogger(string) logging.LeveledLogger { return quiet() }

func quiet() logging.LeveledLogger {
	f := logging.NewDefaultLoggerFactory()
	f.DefaultLogLevel = logging.LogLevelDisabled
	f.ScopeLevels = map[string]logging.LogLevel{}
	return f.NewLogger("webrtc")
}
