package provider

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/node"
)

func TestChoose(t *testing.T) {
	const kinds = "/home/kim/.cache/visavis/cluster/kind/kubeconfig"
	for name, test := range map[string]struct {
		kubeconfig   string
		kind, docker bool
		want         choice
	}{
		"the person's own":             {"/home/kim/.kube/config", true, true, given},
		"one in Docker":                {"", true, true, inDocker},
		"Docker's client alone":        {"", true, false, own},
		"Docker without kind":          {"", false, true, own},
		"nothing":                      {"", false, false, own},
		"what env printed":             {node.Kubeconfig(), false, false, own},
		"what env printed, Docker too": {node.Kubeconfig(), true, true, own},
		"what env printed of kind's":   {kinds, true, true, inDocker},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(is bool) func() bool { return func() bool { return is } }
			m := machine{kubeconfig: test.kubeconfig, kinds: kinds, kind: answer(test.kind), docker: answer(test.docker)}
			require.Equal(t, test.want, m.choose())
		})
	}
}

func TestFirstIPv4(t *testing.T) {
	require.Equal(t, "172.18.0.1", firstIPv4("fc00:f853:ccd:e793::1\n172.18.0.1\n"))
	require.Empty(t, firstIPv4("fc00::1\n\n"))
}

func TestExisting(t *testing.T) {
	cluster := existing{kubeconfig: "/home/kim/.kube/config"}
	require.NoError(t, cluster.Up(t.Context()))
	require.NoError(t, cluster.Down(t.Context()))
	require.ErrorContains(t, cluster.Load(t.Context(), "/tmp/visavis.tar"), "/tmp/visavis.tar")
}

func TestTheVersionIsTheCharts(t *testing.T) {
	version, err := chartVersion("../../..")
	require.NoError(t, err)
	require.Regexp(t, `^\d+\.\d+\.\d+`, version)
}
