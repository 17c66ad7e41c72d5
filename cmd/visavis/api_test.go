package main

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/store/database/embedded"
)

func TestOperationsPort(t *testing.T) {
	t.Parallel()
	api := newPlatform(t, newDatabase(t), newDatabase(t)).serve(t)
	for path, says := range map[string]string{
		"/livez":                 "ok",
		"/readyz":                "ok",
		"/metrics":               "go_goroutines",
		"/debug/pprof/":          "goroutine",
		"/debug/pprof/cmdline":   "api",
		"/debug/pprof/heap":      "",
		"/debug/pprof/symbol":    "num_symbols",
		"/debug/pprof/goroutine": "",
	} {
		a := get(t, api.operations+path, "")
		require.Equal(t, http.StatusOK, a.status, path)
		require.Contains(t, string(a.body), says, path)
		require.NotEqual(t, http.StatusOK, get(t, api.url[:len(api.url)-len("/v1")]+path, "").status, "%s on the callers' port", path)
	}
	require.Zero(t, api.stop(t), "exit code after SIGTERM")
}

// A role that cannot start says which setting is to blame.
func TestRolesRefuseBadSettings(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	taken := strings.TrimPrefix(p.serve(t).operations, "http://")
	missing := filepath.Join(t.TempDir(), "missing")
	for setting, value := range map[string]string{
		"master-keys": missing, "trust-ca": missing, "allow-address": "10.0.0.1", "admin-addr": taken, "plans": missing,
	} {
		for _, role := range []string{"api", "worker"} {
			_, stderr, code := execute(t, []string{"VISAVIS_ADDR=127.0.0.1:0"}, role, "--database", p.directory, "--files", "mem://",
				"--"+setting, value)
			require.Equal(t, 1, code, "%s --%s: %s", role, setting, stderr)
			require.Contains(t, stderr, setting, role)
			require.NotContains(t, stderr, "goroutine")
		}
	}
}

// outage is a platform whose database server a test can stop.
type outage struct {
	*platform
	dir    string
	server *embedded.Server
}

func (o *outage) up(t *testing.T) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: o.dir, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	if o.server != nil {
		require.Equal(t, o.server.URL("postgres"), server.URL("postgres"), "the server's port was taken meanwhile")
	}
	o.server = server
}

func (o *outage) down(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, o.server.Stop(ctx))
}

func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	o := &outage{dir: filepath.Join(t.TempDir(), "database")}
	o.up(t)
	t.Cleanup(func() { o.down(t) })
	for _, name := range []string{"directory", "shard"} {
		require.NoError(t, o.server.EnsureDatabase(t.Context(), name))
	}
	o.platform = newPlatform(t, o.server.URL("directory"), o.server.URL("shard"))
	api := o.serve(t)
	require.Equal(t, http.StatusOK, get(t, api.url+"/usage", o.key).status)
	requireStatus(t, http.StatusOK, api.operations+"/readyz", "")

	o.down(t)
	requireStatus(t, http.StatusServiceUnavailable, api.operations+"/readyz", "")
	requireStatus(t, http.StatusServiceUnavailable, api.url+"/usage", o.key)
	for _, a := range []answer{
		get(t, api.url+"/usage", o.key),
		post(t, api.url+"/avatars", o.key, apitest.AvatarInput()),
	} {
		require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
		require.Equal(t, "capacity", a.failure(t).Code)
		require.Regexp(t, `^[1-9]\d*$`, a.header.Get("Retry-After"))
		require.NotContains(t, string(a.body), "127.0.0.1", "nothing of the database is told")
	}
	require.Equal(t, http.StatusOK, get(t, api.operations+"/livez", "").status, "the process itself is well")
	health := get(t, api.url+"/health", "")
	require.Equal(t, "degraded", data[struct{ Status string }](t, health).Status)
	late := o.start(t)

	o.up(t)
	requireStatus(t, http.StatusOK, api.operations+"/readyz", "")
	requireStatus(t, http.StatusOK, api.url+"/usage", o.key)
	require.Equal(t, http.StatusCreated, post(t, api.url+"/avatars", o.key, apitest.AvatarInput()).status)
	late.await(t)
	require.Equal(t, http.StatusOK, get(t, late.url+"/usage", o.key).status, "a process started during the outage")
}
