package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// givenCredentials are what the file says, read as its users read it.
type givenCredentials struct {
	BaseURL       string `json:"baseUrl"`
	Organizations []struct {
		ID    string            `json:"id"`
		Name  string            `json:"name"`
		Shard string            `json:"shard"`
		Keys  map[string]string `json:"keys"`
	} `json:"organizations"`
	Sample bool `json:"sample"`
}

func startDev(t *testing.T, dir string, args ...string) (*program, givenCredentials) {
	t.Helper()
	p := launch(t, append([]string{"dev", "--data-dir", dir, "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...)...)
	require.Eventually(t, func() bool {
		return !p.running() || strings.Contains(p.stdout.String(), "/preview\n")
	}, 40*time.Second, 20*time.Millisecond, "dev does not become ready")
	require.True(t, p.running(), "%s", p.stderr.String())
	c := readGiven(t, dir)
	requireStatus(t, http.StatusOK, c.BaseURL+"/health", "")
	return p, c
}

func readGiven(t *testing.T, dir string) givenCredentials {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "credentials.json"))
	require.NoError(t, err)
	var c givenCredentials
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&c))
	return c
}

// An address that is in use is told before a database is made.
func TestDevOnAnAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	p := launch(t, "dev", "--data-dir", dir, "--addr", taken.Addr().String(), "--admin-addr", "127.0.0.1:0")
	require.Eventually(t, func() bool { return !p.running() }, patience, 10*time.Millisecond)
	require.Contains(t, p.stderr.String(), taken.Addr().String()+" is in use")
	require.NoDirExists(t, filepath.Join(dir, "database"))
}

// makeAvatar has a custom avatar acknowledged and answers its path.
func makeAvatar(t *testing.T, c givenCredentials) string {
	t.Helper()
	a := post(t, c.BaseURL+"/avatars", c.Organizations[0].Keys["2026-10-01"], apitest.AvatarInput())
	require.Equal(t, http.StatusCreated, a.status, "%s", a.body)
	return "/avatars/" + data[struct{ ID string }](t, a).ID
}

func requireAvatar(t *testing.T, c givenCredentials, path string) {
	t.Helper()
	key := c.Organizations[0].Keys["2026-10-01"]
	require.Equal(t, http.StatusOK, get(t, c.BaseURL+path, key).status)
	require.Equal(t, http.StatusOK, get(t, c.BaseURL+path+"/preview", key).status, "its picture")
	require.Equal(t, http.StatusNotFound, get(t, c.BaseURL+path, c.Organizations[1].Keys["2026-10-01"]).status)
}

// A newcomer meets an avatar where the greeting says, and there is one such portal after another start.
func TestDevMakesASamplePortal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, c := startDev(t, dir, "--sample")
	require.Contains(t, p.stdout.String(), strings.TrimSuffix(c.BaseURL, "/v1")+"/p/museum ")
	require.Equal(t, http.StatusOK, get(t, strings.TrimSuffix(c.BaseURL, "/v1")+"/p/museum", "").status)
	key := c.Organizations[0].Keys["2026-10-01"]
	personas := data[[]struct{ ID string }](t, get(t, c.BaseURL+"/personas", key))
	require.Len(t, personas, 1)
	require.Eventually(t, func() bool {
		said := post(t, c.BaseURL+"/personas/"+personas[0].ID+"/ask", key, map[string]any{"question": "How much is a ticket?"})
		return strings.Contains(data[struct{ Answer string }](t, said).Answer, "twelve euros")
	}, patience, 50*time.Millisecond, "it knows the guide without the portal too")
	require.Zero(t, p.stop(t))

	_, again := startDev(t, dir, "--sample")
	portals := get(t, again.BaseURL+"/portals", again.Organizations[0].Keys["2026-10-01"])
	require.Len(t, data[[]struct{ Slug string }](t, portals), 1)
}

func TestDevKeepsEverythingAcrossStarts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")

	p, first := startDev(t, dir)
	checkCredentials(t, dir, first)
	checkGreeting(t, p.stdout.String(), first)
	kept := makeAvatar(t, first)
	require.Zero(t, p.stop(t), "exit code after SIGTERM")
	require.Empty(t, processesOf(dir), "processes left behind")

	p, second := startDev(t, dir)
	require.Equal(t, first.Organizations, second.Organizations)
	requireAvatar(t, second, kept)
	usage := get(t, second.BaseURL+"/usage", second.Organizations[0].Keys["2026-10-01"])
	require.InDelta(t, 1000, data[struct{ Minutes struct{ Left float64 } }](t, usage).Minutes.Left, 0, "minutes are granted once")

	acknowledged := makeAvatar(t, second)
	require.NoError(t, syscall.Kill(postmasterOf(t, dir), syscall.SIGKILL))
	p.kill()

	p, third := startDev(t, dir)
	require.Equal(t, first.Organizations, third.Organizations)
	requireAvatar(t, third, kept)
	requireAvatar(t, third, acknowledged)
	require.Zero(t, p.stop(t))
	require.Empty(t, processesOf(dir), "processes left behind")
}

func TestDevStoppedWhileStarting(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := launch(t, "dev", "--data-dir", dir, "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0")
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "database"))
		return err == nil
	}, patience, time.Millisecond)
	require.Zero(t, p.stop(t), "exit code after SIGTERM")
	require.Empty(t, processesOf(dir), "processes left behind")
	_, c := startDev(t, dir)
	require.Equal(t, http.StatusOK, get(t, c.BaseURL+"/me", c.Organizations[0].Keys["limited"]).status)
}

// checkCredentials checks the file's form and what each key opens.
func checkCredentials(t *testing.T, dir string, c givenCredentials) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "credentials.json"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/v1$`, c.BaseURL)
	require.Len(t, c.Organizations, 2)
	require.NotEqual(t, c.Organizations[0].Shard, c.Organizations[1].Shard)
	for _, o := range c.Organizations {
		require.Regexp(t, `^org_[0-9A-Za-z]{22}$`, o.ID)
		require.NotEmpty(t, o.Name)
		require.Len(t, o.Keys, 4)
		require.Regexp(t, `^vsk_test_`, o.Keys["test"])
		for contract, want := range map[string]struct {
			version      string
			usage, older int
		}{
			"2026-10-01": {"2026-10-01", http.StatusOK, http.StatusBadRequest},
			"2026-07-08": {"2026-07-08", http.StatusOK, http.StatusOK},
			"limited":    {"2026-10-01", http.StatusForbidden, http.StatusBadRequest},
			"test":       {"2026-10-01", http.StatusOK, http.StatusBadRequest},
		} {
			key := o.Keys[contract]
			me := get(t, c.BaseURL+"/me", key)
			require.Equal(t, http.StatusOK, me.status, "%s: %s", contract, me.body)
			require.Contains(t, string(me.body), o.ID)
			require.Equal(t, want.version, me.header.Get("Service-Version"), contract)
			require.Equal(t, want.usage, get(t, c.BaseURL+"/usage", key).status, contract)
			older, err := attempt(http.MethodGet, c.BaseURL+"/me", key, nil, "Service-Version", "2026-07-08")
			require.NoError(t, err)
			require.Equal(t, want.older, older.status, "%s with an older Service-Version", contract)
		}
	}
	require.Equal(t, http.StatusUnauthorized, get(t, c.BaseURL+"/me", "").status)
	refused := get(t, c.BaseURL+"/usage", c.Organizations[0].Keys["limited"])
	require.Contains(t, refused.failure(t).Message, "usage:read")
}

func checkGreeting(t *testing.T, greeting string, c givenCredentials) {
	t.Helper()
	require.Contains(t, greeting, c.BaseURL)
	require.Contains(t, greeting, c.Organizations[0].Keys["2026-10-01"])
	require.Contains(t, greeting, c.Organizations[0].Keys["test"])
	var tries []string
	for line := range strings.Lines(greeting) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "curl ") {
			tries = append(tries, line)
		}
	}
	require.Len(t, tries, 3)
	preview := tries[2][strings.LastIndex(tries[2], " ")+1:]
	picture := get(t, preview, "")
	require.Equal(t, http.StatusOK, picture.status, preview)
	require.True(t, strings.HasPrefix(picture.header.Get("Content-Type"), "image/"))
}

// postmasterOf is the process id that the database in the folder noted.
func postmasterOf(t *testing.T, dir string) int {
	t.Helper()
	var found int
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "database"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "postmaster.pid" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(string(text), "\n")
		found, err = strconv.Atoi(line)
		return err
	}))
	require.NotZero(t, found, "no postmaster.pid")
	return found
}

// processesOf are the processes that name the folder in their arguments, where
// the system tells.
func processesOf(dir string) []string {
	var found []string
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		arguments, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if strings.HasPrefix(cwd, dir) || bytes.Contains(arguments, []byte(dir)) {
			found = append(found, string(arguments))
		}
	}
	return found
}
