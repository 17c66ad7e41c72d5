package endpoint

import (
	"context"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// impatient is how long a test waits for what shall not come.
const impatient = 200 * time.Millisecond

func TestAnswer(t *testing.T) {
	s, client := start(t, Options{})
	for path, b := range map[string]Behaviour{
		"/default": {},
		"/status":  {Status: http.StatusServiceUnavailable, RetryAfter: "120"},
		"/moved":   {Status: http.StatusFound, Location: "/default"},
		"/giant":   {GiganticHeader: true, Status: http.StatusAccepted},
	} {
		s.Set(path, b)
	}
	for path, status := range map[string]int{
		"/default": http.StatusOK, "/unknown": http.StatusOK, "/status": http.StatusServiceUnavailable,
		"/moved": http.StatusFound, "/giant": http.StatusAccepted,
	} {
		response, err := client.Do(delivery(t, s.URL(path), "evt_1", secret, time.Now()))
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		response.Body.Close()
		assert.Empty(t, body)
		assert.Equal(t, status, response.StatusCode)
		switch path {
		case "/status":
			assert.Equal(t, "120", response.Header.Get("Retry-After"))
		case "/moved":
			assert.Equal(t, "/default", response.Header.Get("Location"))
		case "/giant":
			assert.Len(t, response.Header.Get("X-Padding"), 1<<20)
		}
	}
	s.Set("/default", Behaviour{Status: http.StatusGone})
	assert.Equal(t, http.StatusGone, deliver(t, client, s.URL("/default"), "evt_2"))
}

func TestCloseMidway(t *testing.T) {
	s, client := start(t, Options{Default: Behaviour{CloseMidway: true}})
	response, err := client.Do(delivery(t, s.URL("/a"), "evt_1", secret, time.Now()))
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.NotEmpty(t, body)
	assert.Greater(t, response.ContentLength, int64(len(body)))
}

func TestEndless(t *testing.T) {
	s, client := start(t, Options{Default: Behaviour{Endless: true}})
	response, err := client.Do(delivery(t, s.URL("/a"), "evt_1", secret, time.Now()))
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	n, err := io.CopyN(io.Discard, response.Body, 10<<20)
	require.NoError(t, err)
	assert.EqualValues(t, 10<<20, n)
}

func TestFailures(t *testing.T) {
	s, client := start(t, Options{})
	s.Set("/first", Behaviour{FailFirst: 2, Status: http.StatusCreated})
	for _, id := range []string{"evt_1", "evt_2"} {
		for _, status := range []int{500, 500, 201, 201} {
			assert.Equal(t, status, deliver(t, client, s.URL("/first"), id))
		}
	}
	s.Set("/every", Behaviour{FailEvery: 3})
	for _, status := range []int{200, 200, 500, 200, 200, 500} {
		assert.Equal(t, status, deliver(t, client, s.URL("/every"), "evt_1"))
	}
}

func TestLatency(t *testing.T) {
	s, client := start(t, Options{Default: Behaviour{Latency: impatient}})
	began := time.Now()
	assert.Equal(t, http.StatusOK, deliver(t, client, s.URL("/a"), "evt_1"))
	assert.GreaterOrEqual(t, time.Since(began), impatient)
}

func TestReset(t *testing.T) {
	s, client := start(t, Options{Default: Behaviour{Reset: true}})
	_, err := client.Do(delivery(t, s.URL("/a"), "evt_1", secret, time.Now()))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	assert.Equal(t, 1, s.Count("/a").Requests)
}

// TestSilent covers what never answers, both when the client goes away first
// and when Close does.
func TestSilent(t *testing.T) {
	for name, b := range map[string]Behaviour{
		"hang":         {Hang: true},
		"trickle":      {Trickle: time.Millisecond},
		"slow trickle": {Trickle: time.Hour},
		"latency":      {Latency: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := start(t, Options{Default: b})
			ctx, cancel := context.WithTimeout(t.Context(), impatient)
			defer cancel()
			_, err := client.Do(delivery(t, s.URL("/a"), "evt_1", secret, time.Now()).WithContext(ctx))
			require.ErrorIs(t, err, context.DeadlineExceeded)

			failed, again := make(chan error), delivery(t, s.URL("/a"), "evt_2", secret, time.Now())
			go func() {
				_, err := client.Do(again)
				failed <- err
			}()
			require.NoError(t, s.Await(t.Context(), "/a", 2))
			s.Close()
			require.Error(t, <-failed)
		})
	}
}
