package client_test

import (
	"io/fs"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/web/client"
)

func TestTheModulesAreThere(t *testing.T) {
	for _, name := range []string{"live.js", "transcript.js", "face.js"} {
		text, err := fs.ReadFile(client.Files, name)
		require.NoError(t, err)
		require.NotEmpty(t, text)
	}
}

// TestModules runs the tests of the modules in Node.js, where there is one.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js")
	}
	out, err := exec.CommandContext(t.Context(), node, "--test").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
