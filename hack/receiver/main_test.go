package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"visavis.dev/hack/receiver/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseFlags(t *testing.T) {
	s, err := parseFlags([]string{
		"--secret=s", "--name", "a.test", "--endpoint", "/hang=hang", "--endpoint=/own=secret:o,status:204", "--endpoint=/plain",
	})
	require.NoError(t, err)
	assert.True(t, s.options.CountOnly)
	assert.Equal(t, []string{"a.test"}, s.options.Names)
	assert.Equal(t, endpoint.Behaviour{Secret: "s"}, s.options.Default)
	assert.Equal(t, map[string]endpoint.Behaviour{
		"/hang": {Hang: true, Secret: "s"}, "/own": {Status: 204, Secret: "o"}, "/plain": {Secret: "s"},
	}, s.endpoints)
	for _, args := range [][]string{{"--endpoint=hang"}, {"--endpoint=/a=b"}, {"--what"}, {"rest"}} {
		_, err := parseFlags(args)
		require.Error(t, err, args)
	}
	_, err = parseFlags([]string{"--help"})
	require.ErrorIs(t, err, flag.ErrHelp)
}

func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	in, out := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- run(ctx, []string{"--ca-file", caFile, "--endpoint", "/gone=status:410"}, out)
	}()
	var at addresses
	require.NoError(t, json.NewDecoder(in).Decode(&at))
	ca, err := os.ReadFile(caFile)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	ask := func(method, url, body string) (int, string) {
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		require.NoError(t, err)
		response, err := client.Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}

	for _, id := range []string{"evt_2", "evt_1", "evt_2"} {
		status, _ := ask(http.MethodPost, at.URL+"/gone", `{"id":"`+id+`","type":"a"}`)
		assert.Equal(t, http.StatusGone, status)
	}
	_, text := ask(http.MethodGet, at.ControlURL+"/stats", "")
	assert.JSONEq(t, `{"/gone":{"requests":3,"verified":0,"unverified":0,"events":2,"repeats":1}}`, text)
	_, text = ask(http.MethodGet, at.ControlURL+"/events?path=/gone", "")
	assert.Equal(t, "evt_1 1\nevt_2 2\n", text)

	status, _ := ask(http.MethodPut, at.ControlURL+"/behaviour?path=/gone", "nonsense")
	assert.Equal(t, http.StatusBadRequest, status)
	status, _ = ask(http.MethodPut, at.ControlURL+"/behaviour?path=/gone", "secret:s")
	assert.Equal(t, http.StatusNoContent, status)
	status, _ = ask(http.MethodPost, at.URL+"/gone", "{}")
	assert.Equal(t, http.StatusUnauthorized, status)

	cancel()
	require.NoError(t, <-ended)
}
