package zendesk_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/provider/zendesk"
	"visavis.dev/pkg/provider/zendesk/zendesktest"
)

// Who is nobody in the account is answered with status 200, and is no agent.
func TestCheck(t *testing.T) {
	s := zendesktest.Start()
	t.Cleanup(s.Close)
	c := zendesk.Client{HTTP: s.Guard().ClientWithin(5*time.Second, 1<<20), BaseURL: s.URL, Email: zendesktest.Email, Secret: zendesktest.Token}
	require.NoError(t, c.Check(t.Context()))
	for body, want := range map[string]error{
		`{"user":{"id":null,"name":"Anonymous user","role":"end-user"}}`: upstream.ErrRefused, `{"user":{"id":9,"role":"end-user"}}`: upstream.ErrRefused,
		`{}`: upstream.ErrMalformed, `<html>`: upstream.ErrMalformed,
	} {
		s.Behave(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		require.ErrorIs(t, c.Check(t.Context()), want, body)
	}
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	require.ErrorIs(t, c.Check(t.Context()), upstream.ErrRefused, "there is no such account")
	c.Secret = "wrong"
	require.ErrorIs(t, c.Check(t.Context()), upstream.ErrRefused)
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"acme.zendesk.com": true, "a-1.zendesk.com": true, "zendesk.com": false, "a.b.zendesk.com": false, "acme.zendesk.com.evil.example": false,
		"-a.zendesk.com": false, "evilzendesk.com": false, "": false,
	} {
		require.Equal(t, want, zendesk.Known(host), host)
	}
}
