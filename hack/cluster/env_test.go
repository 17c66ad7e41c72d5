package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/binaries"
)

// place is a cluster that is nowhere but in words.
type place struct{ kubeconfig, host string }

func (p place) Up(context.Context) error           { return nil }
func (p place) Down(context.Context) error         { return nil }
func (p place) Load(context.Context, string) error { return nil }
func (p place) Kubeconfig() string                 { return p.kubeconfig }
func (p place) Host() string                       { return p.host }

func TestEnv(t *testing.T) {
	builder := &binaries.Builder{
		Modules: ".", Cache: t.TempDir(), Log: t.Logf,
		Compile: func(_ context.Context, _ string, _ binaries.Source, out string) error {
			return exec.Command("touch", out).Run()
		},
	}
	const awkward = "/home/kim's $HOME/`x`/config"
	r := run{builder: builder, cluster: place{kubeconfig: awkward, host: "10.89.0.1"}}
	var printed strings.Builder
	require.NoError(t, r.env(t.Context(), &printed))

	// What matters is what a shell makes of it.
	out, err := exec.Command("sh", "-c", printed.String()+`printf '%s|%s|%s' "$KUBECONFIG" "$VISAVIS_CLUSTER_HOST" "${PATH%%:*}"`).Output()
	require.NoError(t, err)
	folder, err := builder.Folder(t.Context(), tools()...)
	require.NoError(t, err)
	require.Equal(t, awkward+"|10.89.0.1|"+folder, string(out))

	printed.Reset()
	r.cluster = place{kubeconfig: awkward}
	require.NoError(t, r.env(t.Context(), &printed))
	require.NotContains(t, printed.String(), hostEnv)
}
