package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// programs puts a kind and a docker on PATH that note how they are called. One tells of
// clusters, the other of the network's gateways.
func programs(t *testing.T, clusters string) (called func() []string) {
	t.Helper()
	folder := t.TempDir()
	calls := filepath.Join(folder, "calls")
	for name, script := range map[string]string{
		"kind":   `[ "$1" != get ] || printf '` + clusters + `'`,
		"docker": `printf 'fc00:f853:ccd:e793::1\n172.18.0.1\n'`,
	} {
		text := "#!/bin/sh\nprintf '%s\\n' \"" + name + ` $*" >> ` + calls + "\n" + script + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700))
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(calls)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

func TestKind(t *testing.T) {
	called := programs(t, `other\n`)
	k := kind{folder: t.TempDir()}
	config := filepath.Join(k.folder, "kubeconfig")
	require.NoError(t, k.Up(t.Context()))
	require.NoError(t, k.Load(t.Context(), "/tmp/visavis.tar"))
	require.Equal(t, "172.18.0.1", k.Host())
	require.NoError(t, k.Down(t.Context()))
	require.Equal(t, []string{
		"kind get clusters",
		"kind create cluster --name visavis --kubeconfig " + config + " --wait 3m",
		"kind load image-archive /tmp/visavis.tar --name visavis",
		"docker network inspect kind --format {{range .IPAM.Config}}{{.Gateway}}{{\"\\n\"}}{{end}}",
		"kind delete cluster --name visavis --kubeconfig " + config,
	}, called())
}

func TestKindThatRuns(t *testing.T) {
	called := programs(t, `other\nvisavis\n`)
	k := kind{folder: t.TempDir()}
	require.NoError(t, k.Up(t.Context()))
	require.Equal(t, "kind export kubeconfig --name visavis --kubeconfig "+filepath.Join(k.folder, "kubeconfig"), called()[1])
}

func TestKindSaysWhyNot(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kind"), []byte("#!/bin/sh\necho 'no space left' >&2\nexit 1\n"), 0o700))
	t.Setenv("PATH", folder)
	require.ErrorContains(t, kind{folder: t.TempDir()}.Load(t.Context(), "/tmp/visavis.tar"), "no space left")
}
