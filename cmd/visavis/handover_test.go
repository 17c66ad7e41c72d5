package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mail server keeps a mail that could not be handed over just now, and tells its sender of what never can be.
func TestHandOver(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s3cret-of-the-gateway\n"), 0o600))
	var (
		status int
		body   string
		got    *http.Request
		mail   []byte
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		mail, _ = io.ReadAll(r.Body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	run := func(args ...string) int {
		cmd := root()
		cmd.SetArgs(append([]string{"hand-over"}, args...))
		cmd.SetIn(strings.NewReader("From: kim@example.com\r\n\r\nYes.\r\n"))
		done, err := cmd.ExecuteContextC(t.Context())
		if err == nil {
			return 0
		}
		return statusOf(done, err)
	}
	at := []string{"--url", server.URL + "/v1", "--secret", secret}
	refused := `{"data": null, "error": {"code": "some_code", "message": "No."}}`
	for _, tt := range []struct {
		status int
		body   string
		want   int
	}{
		{200, `{"data": {"result": "added"}, "error": null}`, 0},
		{200, "<html>Sign in to the network</html>", 75},
		{302, refused, 75},
		{400, refused, 65},
		{401, refused, 75},
		{404, refused, 67},
		{404, "no such backend", 75},
		{409, refused, 69},
		{410, refused, 67},
		{413, refused, 65},
		{413, "nginx", 75},
		{429, refused, 75},
		{500, refused, 75},
		{502, "bad gateway", 75},
		{503, refused, 75},
	} {
		status, body = tt.status, tt.body
		require.Equal(t, tt.want, run(append(at, "abc@answers.example.com", "kim@example.com")...), "%d %s", tt.status, tt.body)
		require.Equal(t, "/v1/inbox/inbound-mail", got.URL.String(), "it says no address, and is followed nowhere")
		require.Equal(t, []string{"abc@answers.example.com", "kim@example.com", "Bearer s3cret-of-the-gateway", "message/rfc822"}, []string{
			got.Header.Get("Visavis-Recipient"), got.Header.Get("Visavis-Sender"), got.Header.Get("Authorization"), got.Header.Get("Content-Type"),
		})
		require.Equal(t, "From: kim@example.com\r\n\r\nYes.\r\n", string(mail))
	}
	run(append(at, "abc@answers.example.com", "")...)
	require.Equal(t, "<>", got.Header.Get("Visavis-Sender"), "nobody sent a bounce")

	require.Equal(t, 75, run("--url", server.URL, "--secret", secret+"-gone", "a@b"))
	require.Equal(t, 75, run("--wrong"))
	require.Equal(t, 75, run(at...), "no recipient")
	server.Close()
	require.Equal(t, 75, run(append(at, "a@b", "c@d")...), "nobody answers")
}
