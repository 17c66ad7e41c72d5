package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"visavis.dev/api/route"
	"visavis.dev/api/server"
	"visavis.dev/pkg/base/telemetry"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/text/extract/sandbox"
	"visavis.dev/pkg/visits/live"
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
	server    *server.Server
	live      *live.Server
	pages     server.Pages
	worker    *server.Worker
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
	tasks, err := s.chosen()
	if err != nil {
		return nil, err
	}
	if d.work && tasks.Read && o.DeliveryLane == 0 {
		limits := sandbox.Default()
		if p.documents, err = sandbox.New(documentsAtOnce, limits); err != nil {
			return nil, err
		}
		leaveMemory(documentsAtOnce * limits.Footprint())
		o.Extract = p.documents.Read
	}
	if d.fronts() {
		if p.speech = openSpeech(log); p.speech != nil {
			o.Speaker = p.speech
		}
	}
	if p.stopTrace, err = telemetry.Trace(ctx, s.otlpEndpoint, o.Version); err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	p.metrics = promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{})
	if p.server, err = openServer(ctx, log, o, d); err != nil {
		return nil, err
	}
	if d.live {
		p.live = p.server.Live(p.reachable())
		if p.pages, err = p.server.Pages(); err != nil {
			p.server.Close()
			return nil, fmt.Errorf("portal-url: %w", err)
		}
	}
	if d.work {
		p.worker = p.server.Worker(tasks)
	}
	return p, nil
}

// openServer opens what the role works with, and what it answers.
func openServer(ctx context.Context, log *slog.Logger, o server.Options, d duties) (*server.Server, error) {
	s, err := whenReachable(ctx, log, func() (*server.Server, error) { return server.New(ctx, o) })
	if err != nil || !d.api {
		return s, err
	}
	if err := s.ServeAPI(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// documentsAtOnce is how many documents a process reads side by side, each in a process of
// its own.
const documentsAtOnce = 2

// reachable is where other processes reach this one's sockets.
func (p *process) reachable() string {
	if p.settings.advertise != "" {
		return p.settings.advertise
	}
	return p.front.Addr().String()
}

// handler answers callers with what the role does. A ServeMux would redirect
// paths that the API answers itself.
func (p *process) handler() http.Handler {
	if !p.duties.live {
		return p.server.Handler
	}
	sockets := p.server.Sockets(p.live)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, live.Path):
			sockets.ServeHTTP(w, r)
		case p.duties.api && !p.forPages(r):
			p.server.Handler.ServeHTTP(w, r)
		default:
			p.pages.ServeHTTP(w, r)
		}
	})
}

// forPages says whether a request is for a portal's page, where the API is on the
// same address. The API's own paths are no page's.
func (p *process) forPages(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, route.BasePath+"/") && p.pages.Serves(r)
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
	p.server.Start()
	if p.live != nil {
		p.live.Start()
	}
	if p.worker != nil {
		p.worker.Start()
	}
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
	if p.live != nil {
		// Its clients are sent on before the listener closes, so that none comes back here.
		p.live.Stop()
	}
	err := front.Shutdown(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if p.worker != nil {
			p.worker.Stop()
		}
		p.server.Stop()
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
	state := p.server.Health.Check(r.Context())
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
	p.server.Close()
}
