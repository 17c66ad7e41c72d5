package server_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/server"
)

// Operations and their documents are made by the processes alone that answer them: a worker
// has none, and shows pages and works all the same.
func TestARoleBuildsNoAPIThatItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	a := apitest.New(t)
	o := a.Options
	o.Metrics, o.PublicURL = prometheus.NewRegistry(), a.URL
	s, err := server.New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.Empty(t, s.Service.Operations())
	_, err = s.Pages()
	require.NoError(t, err)
	require.NotNil(t, s.Worker(server.EveryTask()))
	require.Empty(t, s.Service.Operations())

	require.NoError(t, s.ServeAPI())
	require.Len(t, s.Service.Operations(), len(a.Service.Operations()))
}
