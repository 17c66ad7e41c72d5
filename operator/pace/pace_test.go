package pace_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"visavis.dev/hack/bench/quiet"
	"visavis.dev/operator/pace"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var counted quiet.Counter
	config := counted.Count(&rest.Config{Host: server.URL})
	config = pace.Limit(config, 5)
	var group sync.WaitGroup
	for range 3 {
		client, err := rest.HTTPClientFor(config)
		require.NoError(t, err)
		group.Go(func() {
			for range 4 {
				answer, err := client.Get(server.URL)
				if err == nil {
					err = answer.Body.Close()
				}
				require.NoError(t, err)
			}
		})
	}
	group.Wait()
	require.Equal(t, 12, counted.Requests())
	require.LessOrEqual(t, counted.Busiest(time.Second), 5, "three clients share the limit")
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	client, err := rest.HTTPClientFor(pace.Limit(&rest.Config{Host: server.URL}, 1))
	require.NoError(t, err)
	get := func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		answer, err := client.Do(r)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	require.NoError(t, get(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, get(ctx), context.DeadlineExceeded)
}
