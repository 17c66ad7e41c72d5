package beyondpresence_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/beyondpresence"
	"visavis.dev/pkg/provider/upstream"
)

// The requests are those of the service's reference.
func TestRequests(t *testing.T) {
	status, answer := http.StatusCreated, `{"id":"01234567","avatar_id":"a/b","status":{"type":"to_start"},"url":"wss://x.example","transport":"livekit"}`
	var path, key, body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		path, key, body = r.Method+" "+r.URL.EscapedPath(), r.Header.Get("x-api-key"), string(sent)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	c := beyondpresence.Client{HTTP: s.Client(), BaseURL: s.URL + "/", Key: "sk-1"}
	ctx := context.Background()

	id, err := c.Start(ctx, "a/b", "wss://x.example", "eyJ")
	require.NoError(t, err)
	require.Equal(t, []string{"01234567", "POST /v1/sessions", "sk-1"}, []string{id, path, key})
	require.JSONEq(t, `{"avatar_id":"a/b","url":"wss://x.example","token":"eyJ","transport":"livekit"}`, body)

	for name, c2 := range map[string]struct {
		status int
		answer string
		want   error
	}{
		"a key that is none":   {http.StatusUnauthorized, `{}`, upstream.ErrRefused},
		"no money":             {http.StatusPaymentRequired, `{}`, upstream.ErrRejected},
		"too many":             {http.StatusTooManyRequests, `{}`, upstream.ErrRateLimited},
		"a page":               {http.StatusOK, `<html>`, upstream.ErrMalformed},
		"a session without id": {http.StatusCreated, `{}`, upstream.ErrMalformed},
		"broken":               {http.StatusBadGateway, ``, upstream.ErrUnavailable},
	} {
		status, answer = c2.status, c2.answer
		_, err = c.Start(ctx, "a", "wss://x.example", "eyJ")
		require.ErrorIs(t, err, c2.want, name)
	}

	status, answer = http.StatusOK, `{"id":"a/b","name":"Nelly","status":"available","visibility":"public"}`
	require.NoError(t, c.Check(ctx, "a/b"))
	require.Equal(t, "GET /v1/avatars/a%2Fb", path)
	answer = `{"id":"a/b","name":"Nelly","status":"training","visibility":"public"}`
	require.ErrorIs(t, c.Check(ctx, "a/b"), upstream.ErrRejected)
}
