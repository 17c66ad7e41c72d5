package page_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordPage(t *testing.T) {
	b := setup(t)
	b.handler.Certificates = &registry{}
	w := b.get("https://portal.example.com/verify/record")
	require.Equal(t, http.StatusOK, w.Code)
	for _, want := range []string{"Check a candidate&#39;s record", `src="/p/~/`, "/recordpage.js", `type="file"`, "recordcheck.holds", "sent nowhere"} {
		require.Contains(t, w.Body.String(), want)
	}
	require.Contains(t, b.get("https://portal.example.com/verify/record?lang=ar").Body.String(), `dir="rtl"`)
}

// The script notes what the page sees during an interview, and nothing else.
func TestTheScriptWatches(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js")
	}
	folder := t.TempDir()
	for from, to := range map[string]string{"assets/watch.js": "watch.mjs", "testdata/watch.test.mjs": "watch.test.mjs"} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, to), text, 0o600))
	}
	run := exec.CommandContext(t.Context(), node, "--test")
	run.Dir = folder
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The script offers the browser's assistant what the agent's MCP server has.
func TestTheScriptOffersTools(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js")
	}
	folder := t.TempDir()
	for from, to := range map[string]string{"assets/tools.js": "tools.mjs", "testdata/tools.test.mjs": "tools.test.mjs"} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, to), text, 0o600))
	}
	run := exec.CommandContext(t.Context(), node, "--test")
	run.Dir = folder
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The page's script finds what `visavis verify` finds.
func TestTheScriptChecksRecords(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js")
	}
	folder := t.TempDir()
	for from, to := range map[string]string{
		"assets/recordcheck.js": "recordcheck.mjs", "testdata/recordcheck.test.mjs": "recordcheck.test.mjs",
		"../../pkg/hiring/record/testdata/record.json": "record.json",
	} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, to), text, 0o600))
	}
	run := exec.CommandContext(t.Context(), node, "--test")
	run.Dir = folder
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
