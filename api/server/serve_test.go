package server_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/server"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// A server that did not come to be is made again, as the first time the directory may not
// answer yet.
func TestAServerIsMadeAgain(t *testing.T) {
	t.Parallel()
	a := apitest.New(t)
	o := a.Options
	o.Metrics, o.PublicURL = prometheus.NewRegistry(), a.URL
	p := apitest.Open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := server.New(ctx, p.Backend, p.Minds, p.Front, o.Server)
	require.ErrorIs(t, err, context.Canceled)
	s, err := server.New(t.Context(), p.Backend, p.Minds, p.Front, o.Server)
	require.NoError(t, err)
	require.Len(t, s.Service.Operations(), len(a.Service.Operations()))
}
