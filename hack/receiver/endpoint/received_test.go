package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReceived(t *testing.T) {
	s, client := start(t, Options{Keep: 3, Default: Behaviour{Secret: secret}})
	assert.Empty(t, s.Received("/a"))
	for n := range 5 {
		deliver(t, client, s.URL("/a"), fmt.Sprint("evt_", n))
	}
	got := s.Received("/a")
	require.Len(t, got, 3)
	for n, r := range got {
		assert.Equal(t, fmt.Sprint("evt_", n+2), r.EventID)
	}
	assert.Equal(t, "/a", got[0].Path)
	assert.Equal(t, "whd_1", got[0].DeliveryID)
	assert.Equal(t, "lead.created", got[0].Type)
	assert.Equal(t, "evt_2", got[0].Header.Get(headerEventID))
	assert.True(t, strings.HasPrefix(string(got[0].Body), `{"id":"evt_2",`))
	assert.WithinDuration(t, time.Now(), got[0].At, time.Minute)
	assert.True(t, got[0].Verified)
	assert.Empty(t, s.Received("/b"))
}

func TestCountOnly(t *testing.T) {
	var lent atomic.Int64
	s, client := start(t, Options{
		CountOnly: true,
		Default:   Behaviour{Secret: secret},
		OnRequest: func(r Request) { lent.Add(int64(len(r.Body))) },
	})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for n := range 10 {
				deliver(t, client, s.URL("/a"), fmt.Sprint("evt_", n))
			}
		})
	}
	group.Wait()
	assert.Equal(t, http.StatusUnauthorized, send(t, client, delivery(t, s.URL("/a"), "evt_x", "wrong", time.Now())))
	assert.Equal(t, Count{Requests: 41, Verified: 40, Unverified: 1, Events: 10, Repeats: 30}, s.Count("/a"))
	assert.Equal(t, map[string]Count{"/a": s.Count("/a")}, s.Counts())
	assert.Len(t, s.Events("/a"), 10)
	assert.Equal(t, 4, s.Events("/a")["evt_7"])
	assert.Empty(t, s.Received("/a"))
	assert.Positive(t, lent.Load())
}

func TestWithoutSecret(t *testing.T) {
	s, client := start(t, Options{})
	response, err := client.Post(s.URL("/a"), "text/plain", strings.NewReader("no event"))
	require.NoError(t, err)
	response.Body.Close()
	deliver(t, client, s.URL("/a"), "evt_1")
	assert.Equal(t, Count{Requests: 2, Events: 1}, s.Count("/a"))
	assert.False(t, s.Received("/a")[1].Verified)
}

func TestAwait(t *testing.T) {
	s, client := start(t, Options{Default: Behaviour{Secret: secret}})
	require.NoError(t, s.Await(t.Context(), "/a", 0))
	arrived := make(chan error)
	for range 2 {
		go func() { arrived <- s.Await(t.Context(), "/a", 2) }()
	}
	deliver(t, client, s.URL("/a"), "evt_1")
	deliver(t, client, s.URL("/a"), "evt_1")
	send(t, client, delivery(t, s.URL("/a"), "evt_2", "wrong", time.Now()))
	select {
	case <-arrived:
		t.Fatal("repeats and what is refused are no events")
	default:
	}
	deliver(t, client, s.URL("/a"), "evt_2")
	require.NoError(t, <-arrived)
	require.NoError(t, <-arrived)
	require.NoError(t, s.Await(t.Context(), "/a", 2))
}

func TestAwaitInVain(t *testing.T) {
	s, client := start(t, Options{})
	deliver(t, client, s.URL("/a"), "evt_1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Await(ctx, "/a", 2)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "1 of 2 events at /a: context canceled")
	assert.Empty(t, s.hook("/a").awaits)
	closed := make(chan error)
	go func() { closed <- s.Await(t.Context(), "/a", 2) }()
	s.Close()
	require.ErrorIs(t, <-closed, ErrClosed)
}
