package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oapi-codegen makes a client of each contract, and it compiles.
func TestGoClientsCompile(t *testing.T) {
	documents, err := filepath.Glob("../../api/openapi/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, documents)
	for _, document := range documents {
		t.Run(filepath.Base(document), func(t *testing.T) {
			// Below this folder, whose module has what the client imports; always the same one,
			// so that Go remembers what it compiled.
			folder := filepath.Join("generated", strings.TrimSuffix(filepath.Base(document), ".json"))
			require.NoError(t, os.MkdirAll(folder, 0o755))
			t.Cleanup(func() { require.NoError(t, os.RemoveAll("generated")) })
			run(t, "tool", "oapi-codegen", "-generate", "types,client", "-package", "visavis", "-o", filepath.Join(folder, "client.go"), document)
			run(t, "build", "./"+folder)
		})
	}
}

func run(t *testing.T, arguments ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput()
	require.NoError(t, err, "go %v: %s", arguments, out)
}
