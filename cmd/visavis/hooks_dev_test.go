package main

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/vault"
)

// masterKeyOf is the key in dev's folder.
func masterKeyOf(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "master.key")
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	line, found := strings.CutSuffix(string(text), "\n")
	require.True(t, found)
	key, err := base64.StdEncoding.DecodeString(line)
	require.NoError(t, err)
	require.Len(t, key, vault.KeySize)
	return line
}

func callerOf(c givenCredentials) caller {
	return caller{c.BaseURL, c.Organizations[0].Keys["2026-10-01"]}
}

func TestDevDeliversAcrossKills(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	dir := filepath.Join(t.TempDir(), "data")
	start := func() (*program, caller) {
		p, c := startDev(t, dir, append(r.flags, "--delivery-lease", "2s")...)
		return p, callerOf(c)
	}
	p, c := start()
	key := masterKeyOf(t, dir)
	hook := c.hook(t, r, "/hook")
	c.become(t, c.test(t, hook), "delivered")
	require.Equal(t, 1, r.Count("/hook").Verified)

	// The receiver has it, the process has no answer, and is killed.
	r.Set("/hook", endpoint.Behaviour{Secret: hook.Secret, Hang: true})
	interrupted := c.test(t, hook)
	r.awaitEvents(t, "/hook", 2)
	p.kill()
	require.NoError(t, syscall.Kill(postmasterOf(t, dir), syscall.SIGKILL))
	r.Set("/hook", endpoint.Behaviour{Secret: hook.Secret})

	p, c = start()
	require.Equal(t, key, masterKeyOf(t, dir))
	require.Equal(t, 1, c.become(t, interrupted, "delivered").Attempts)
	require.Equal(t, 1, r.Count("/hook").Repeats, "again, with the same id")
	c.become(t, c.test(t, hook), "delivered")
	require.Zero(t, p.stop(t))

	p, c = start()
	c.become(t, c.test(t, hook), "delivered")
	require.Equal(t, 4, r.Count("/hook").Events)
	require.Zero(t, r.Count("/hook").Unverified)
	require.Zero(t, p.stop(t))
}

func TestDevTakesTheMasterKeysItIsGiven(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	dir := filepath.Join(t.TempDir(), "data")
	given := keyFile(t, vault.NewKey())
	p, credentials := startDev(t, dir, append(r.flags, "--master-keys", given)...)
	c := callerOf(credentials)
	require.NoFileExists(t, filepath.Join(dir, "master.key"))
	hook := c.hook(t, r, "/hook")
	c.become(t, c.test(t, hook), "delivered")
	require.Zero(t, p.stop(t))

	p, credentials = startDev(t, dir, r.flags...)
	c = callerOf(credentials)
	masterKeyOf(t, dir)
	lost := c.become(t, c.test(t, hook), "retrying")
	require.Equal(t, "internal_error", *lost.ErrorCode, "what the given key sealed")
	require.Equal(t, 1, r.Count("/hook").Requests)
	require.Zero(t, p.stop(t))

	_, credentials = startDev(t, dir, append(r.flags, "--master-keys", given)...)
	c = callerOf(credentials)
	c.become(t, c.test(t, hook), "delivered")
	require.Equal(t, 2, r.Count("/hook").Verified, "it wins over the file that is there")
}

func TestDevKeepsAMasterKeyItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	p := launch(t, "dev", "--data-dir", dir, "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0")
	require.Eventually(t, func() bool { return !p.running() }, patience, 20*time.Millisecond)
	require.Equal(t, 1, p.stop(t))
	require.Contains(t, p.stderr.String(), "master-keys")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, text)
	require.Empty(t, processesOf(dir), "processes left behind")
}
