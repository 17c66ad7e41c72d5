package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"visavis.dev/pkg/base/telemetry"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/text/extract/sandbox"
)

// duties are what a role does: it answers the API, shows the portals' pages and
// holds live conversations, and delivers, advances jobs and runs the recurring tasks.
type duties struct{ api, live, work bool }

// fronts says whether callers reach the role.
func (d duties) fronts() bool { return d.api || d.live }

// process is a role under way: a server, and the listeners before it.
type process struct {
	settings  *settings
	duties    duties
	log       *slog.Logger
	parts     *parts
	documents *sandbox.Reader // nil where none are read
	speech    *espeak.Pool    // nil where nothing is said aloud
	front     net.Listener
	admin     net.Listener
	metrics   http.Handler
	stopping  atomic.Bool
	stopTrace func(context.Context) error
}

// newProcess builds a role.
func newProcess(ctx context.Context, s *settings, log *slog.Logger, d duties) (_ *process, err error) {
	p := &process{settings: s, duties: d, log: log}
	defer func() {
		if err != nil {
			p.closeListeners()
			p.closeChildren()
		}
	}()
	if p.admin, err = s.listenAdmin(); err != nil {
		return nil, err
	}
	if d.fronts() {
		if p.front, err = s.listen(); err != nil {
			return nil, err
		}
		if s.publicURL == "" {
			s.publicURL = "http://" + p.front.Addr().String()
		}
	}
	o, err := s.options(log)
	if err != nil {
		return nil, err
	}
	o.backend.Alone = d.api && d.live && d.work
	if d.work && o.worker.Tasks.Read && o.worker.DeliveryLane == 0 {
		limits := sandbox.Default()
		if p.documents, err = sandbox.New(documentsAtOnce, limits); err != nil {
			return nil, err
		}
		leaveMemory(documentsAtOnce * limits.Footprint())
		o.worker.Extract = p.documents.Read
	}
	if d.fronts() {
		if p.speech = openSpeech(log); p.speech != nil {
			o.front.Speaker = p.speech
		}
	}
	if p.stopTrace, err = telemetry.Trace(ctx, s.otlpEndpoint, o.api.Version); err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	p.metrics = promhttp.HandlerFor(o.backend.Metrics, promhttp.HandlerOpts{})
	p.parts, err = openParts(ctx, log, o, d, p.reachable())
	return p, err
}

// documentsAtOnce is how many documents a process reads side by side, each in a process of
// its own.
const documentsAtOnce = 2

// reachable is where other processes reach this one's sockets; empty where it has none.
func (p *process) reachable() string {
	switch {
	case p.settings.advertise != "":
		return p.settings.advertise
	case p.front != nil:
		return p.front.Addr().String()
	}
	return ""
}

// handler answers callers with what the role does. A ServeMux would redirect
// paths that the API answers itself.
func (p *process) handler() http.Handler {
	api, portal := p.parts.api, p.parts.portal
	switch {
	case portal == nil && api == nil:
		return http.NotFoundHandler() // nobody listens
	case portal == nil:
		return api.Handler
	case api == nil:
		return portal
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if portal.Serves(r) {
			portal.ServeHTTP(w, r)
			return
		}
		api.Handler.ServeHTTP(w, r)
	})
}

// listen takes the address that callers reach, unless it was taken before.
func (s *settings) listen() (net.Listener, error) {
	if s.front != nil {
		return s.front, nil
	}
	l, err := net.Listen("tcp", s.addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("addr: %s is in use; end what listens there, or choose another address with --addr", s.addr)
	}
	if err != nil {
		return nil, fmt.Errorf("addr: %w", err)
	}
	s.front = l
	return l, nil
}

// listenAdmin listens for the operators. Unless an address was asked for, a
// taken one is no reason not to start.
func (s *settings) listenAdmin() (net.Listener, error) {
	if s.adminAddr != "" {
		l, err := net.Listen("tcp", s.adminAddr)
		if err != nil {
			return nil, fmt.Errorf("admin-addr: %w", err)
		}
		return l, nil
	}
	if l, err := net.Listen("tcp", preferredAdminAddr); err == nil {
		return l, nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// closeChildren ends what runs in processes of its own.
func (p *process) closeChildren() {
	if p.documents != nil {
		_ = p.documents.Close() // a folder of a few megabytes
	}
	if p.speech != nil {
		p.speech.Close()
	}
}

func (p *process) closeListeners() {
	for _, l := range []net.Listener{p.front, p.admin} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// run serves until the context ends, then drains: readiness goes red, requests
// under way are answered, and what runs beside them is stopped in order.
func (p *process) run(ctx context.Context) error {
	p.parts.start()
	failed := make(chan error, 2)
	admin := &http.Server{Handler: p.operations(), ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- admin.Serve(p.admin) }()
	front := frontServer(p.handler(), p.log)
	if p.front != nil {
		go func() { failed <- front.Serve(p.front) }()
		p.log.Info("serving", "addr", p.front.Addr().String(), "admin", p.admin.Addr().String())
	} else {
		p.log.Info("working", "admin", p.admin.Addr().String())
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	p.stopping.Store(true)
	p.log.Info("stopping")
	return errors.Join(err, p.drain(front, admin))
}

func (p *process) drain(front, admin *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.settings.drain)
	defer cancel()
	if p.parts.portal != nil {
		// Its clients are sent on before the listener closes, so that none comes back here.
		p.parts.portal.Stop()
	}
	err := front.Shutdown(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		p.parts.stop()
		p.closeChildren()
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("not everything stopped within %v", p.settings.drain))
	}
	return errors.Join(err, p.stopTrace(ctx), admin.Close())
}

// frontServer bounds what a slow or hostile caller can hold.
func frontServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      90 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// operations is the second port: for operators, never for callers.
func (p *process) operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", p.metrics)
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("/readyz", p.readyz)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

func (p *process) readyz(w http.ResponseWriter, r *http.Request) {
	state := p.parts.backend.Health.Check(r.Context())
	switch {
	case p.stopping.Load():
		http.Error(w, "stopping", http.StatusServiceUnavailable)
	case !state.Ready():
		http.Error(w, fmt.Sprintf("not ready: directory %v, shards %v", state.Directory, state.Shards), http.StatusServiceUnavailable)
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

// abort closes what newProcess opened, of a role that never ran.
func (p *process) abort() {
	p.closeListeners()
	p.closeChildren()
	p.parts.backend.Close()
}
