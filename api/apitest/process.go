package apitest

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/server"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/front"
	"visavis.dev/pkg/process/worker"
	"visavis.dev/pkg/sessions/minds"
)

// The options of what a process is composed of, by names that can be embedded side by side.
type (
	// Backend are those of what every process opens.
	Backend = backend.Options
	// Front are those of what callers reach.
	Front = front.Options
	// Server are the API's.
	Server = server.Options
	// Worker are those of the workers that a test makes.
	Worker = worker.Options
)

// Options are those of a process.
type Options struct {
	Backend
	Front
	Server
	Worker
}

// Process is what a process opened, and its API.
type Process struct {
	*backend.Backend
	*minds.Minds
	*front.Front
	*server.Server
	// URL is the API's base address, which ends in /v1.
	URL string
}

// Open opens what a process works with, until the test ends.
func Open(t testing.TB, o Options) *Process {
	t.Helper()
	b, err := backend.Open(context.Background(), o.Backend)
	require.NoError(t, err)
	t.Cleanup(b.Close)
	p := &Process{Backend: b, Minds: b.NewMinds()}
	p.Front, err = front.Open(context.Background(), b, p.Minds, o.Front)
	require.NoError(t, err)
	return p
}

// Serve runs an API process on the databases of the options, until the test ends.
func Serve(t testing.TB, o Options) *Process {
	t.Helper()
	o.Metrics = prometheus.NewRegistry()
	listener := httptest.NewUnstartedServer(nil)
	o.PublicURL = "http://" + listener.Listener.Addr().String()
	p := Open(t, o)
	p.URL = o.PublicURL + "/v1"
	var err error
	p.Server, err = server.New(context.Background(), p.Backend, p.Minds, p.Front, o.Server)
	require.NoError(t, err)
	p.Minds.Start()
	p.Front.Start()
	p.Server.Start()
	listener.Config.Handler = p.Handler
	listener.Start()
	t.Cleanup(func() {
		listener.Close()
		p.Front.Stop()
		p.Server.Stop()
		p.Minds.Stop()
	})
	return p
}

// Worker makes a worker of the API's process, which does everything. It must be stopped
// before the test ends.
func (a *API) Worker() *worker.Worker { return worker.New(a.Backend, a.Minds, a.Options.Worker) }
