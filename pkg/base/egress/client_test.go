package egress_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

func TestClientSendsRequests(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Host", r.Host)
		w.Header().Set("X-Encoding", r.Header.Get("Accept-Encoding"))
		w.Header().Set("X-Agent", r.Header.Get("User-Agent"))
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(payload)
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.named(), strings.NewReader("payload"))
	require.NoError(t, err)
	request.Host = "internal.example"
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("User-Agent", "Visavis-Hook")
	response, err := guardFor(t, s).Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	require.Equal(t, http.StatusTeapot, response.StatusCode)
	require.Equal(t, "payload", string(content))
	require.Equal(t, strings.TrimPrefix(s.named(), "https://"), response.Header.Get("X-Host"))
	require.Equal(t, "identity", response.Header.Get("X-Encoding"))
	require.Equal(t, "Visavis-Hook", response.Header.Get("X-Agent"))
	require.Equal(t, "gzip", request.Header.Get("Accept-Encoding"), "the caller's request is left alone")
}

func TestClientBoundsTheBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 101))
	})
	client := guardFor(t, s, func(o *egress.Options) { o.MaxBody = 100 }).Client()
	response, err := client.Get(s.named())
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.ErrorIs(t, err, egress.ErrTooLarge)
	require.Len(t, content, 100)

	response, err = client.Head(s.named())
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

func TestClientErrorsAreTyped(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := guardFor(t, s, func(o *egress.Options) { o.Timeout = 50 * time.Millisecond }).Client()
	_, err := client.Get(s.named())
	require.ErrorIs(t, err, egress.ErrTimeout)
	var wrapped *url.Error
	require.ErrorAs(t, err, &wrapped)
	require.True(t, wrapped.Timeout())

	_, err = client.Get("https://10.0.0.1/")
	var refused *egress.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, egress.ClassPrivate, refused.Class)
}

func TestClientIsSafeForConcurrentUse(t *testing.T) {
	s := serve(t, hello)
	guard := guardFor(t, s)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			response, err := guard.Fetch(t.Context(), s.named(), 100)
			if err != nil || string(response.Body) != "hello" {
				t.Errorf("got %v, %v", response, err)
			}
		})
	}
	group.Wait()
}

func TestClientWithinHasBoundsOfItsOwn(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/stall" {
			<-r.Context().Done()
		}
	})
	g := guardFor(t, s, func(o *egress.Options) { o.MaxBody = 10 })
	read := func(client *http.Client, path string) (string, error) {
		response, err := client.Get(s.named() + path)
		require.NoError(t, err)
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		return string(content), err
	}
	_, err := read(g.Client(), "/")
	require.ErrorIs(t, err, egress.ErrTooLarge)
	content, err := read(g.ClientWithin(time.Minute, 100), "/")
	require.NoError(t, err)
	require.Len(t, content, 100)
	_, err = read(g.ClientWithin(time.Minute, 99), "/")
	require.ErrorIs(t, err, egress.ErrTooLarge)
	content, err = read(g.ClientWithin(200*time.Millisecond, 1000), "/stall")
	require.ErrorIs(t, err, egress.ErrTimeout)
	require.Len(t, content, 100, "what came in time was read")
}
