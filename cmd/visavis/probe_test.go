package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/late" && asked.Add(1) == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/away":
			http.Error(w, "stopping", http.StatusServiceUnavailable)
		default:
			_, _ = w.Write([]byte(`{"status":"ok"}`))
		}
	}))
	defer server.Close()

	for name, c := range map[string]struct {
		args        []string
		says, fails string
	}{
		"answers":                       {args: []string{"/here"}, says: `{"status":"ok"}`},
		"answers what is expected":      {args: []string{"/here", "--contains", `"ok"`}, says: `{"status":"ok"}`},
		"answers at the second asking":  {args: []string{"/late"}, says: `{"status":"ok"}`},
		"answers something else":        {args: []string{"/here", "--contains", "degraded", "--timeout", "50ms"}, fails: "answered without degraded"},
		"answers that it does not work": {args: []string{"/away", "--timeout", "50ms"}, fails: "answered 503 Service Unavailable: stopping"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := root()
			cmd.SetOut(&out)
			cmd.SetArgs(append([]string{"probe", server.URL + c.args[0]}, c.args[1:]...))
			err := cmd.ExecuteContext(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Contains(t, out.String(), c.says)
		})
	}
}

// The proxy of the environment is not asked. This address leads here, but is not one that
// every proxy is spared, as loopback is.
func TestProbeGoesPastAProxy(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) })}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary, "probe", "http://0.0.0.0:"+port, "--contains", "here", "--timeout", "5s")
	cmd.Env = append(os.Environ(), "HTTP_PROXY=http://127.0.0.1:9")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
