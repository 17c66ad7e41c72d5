package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// eachDocument runs a test for each contract's document, with a folder for what is made of
// it. The folder is below this one, whose modules have what the clients import, and always
// the same, so that Go remembers what it compiled.
func eachDocument(t *testing.T, test func(t *testing.T, document, folder string)) {
	documents, err := filepath.Glob("../../api/openapi/*.json")
	require.NoError(t, err)
	require.Len(t, documents, 2)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll("generated")) })
	for _, document := range documents {
		t.Run(filepath.Base(document), func(t *testing.T) {
			folder := filepath.Join("generated", strings.TrimSuffix(filepath.Base(document), ".json"))
			require.NoError(t, os.MkdirAll(folder, 0o755))
			test(t, document, folder)
		})
	}
}

// oapi-codegen makes a client of each contract, and it compiles.
func TestGoClientsCompile(t *testing.T) {
	eachDocument(t, func(t *testing.T, document, folder string) {
		run(t, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "visavis",
			"-o", filepath.Join(folder, "client.go"), document)
		run(t, "go", "build", "./"+folder)
	})
}

// openapi-typescript makes types of each contract, and what a developer writes over them compiles.
func TestTypeScriptClientsCompile(t *testing.T) {
	program, err := os.ReadFile("client.ts")
	require.NoError(t, err)
	eachDocument(t, func(t *testing.T, document, folder string) {
		run(t, "node_modules/.bin/openapi-typescript", document, "-o", filepath.Join(folder, "types.ts"))
		file := filepath.Join(folder, "client.ts")
		require.NoError(t, os.WriteFile(file, program, 0o600))
		run(t, "node_modules/.bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler", "--module", "es2022", file)
	})
}

// The linters that people hold documents against find no error.
func TestTheDocumentsLint(t *testing.T) {
	eachDocument(t, func(t *testing.T, document, _ string) {
		run(t, "node_modules/.bin/redocly", "lint", document)
		run(t, "node_modules/.bin/spectral", "lint", "--fail-severity=error", document)
	})
}

func run(t *testing.T, program string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", program, arguments, out)
}
