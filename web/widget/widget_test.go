package widget_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/web/widget"
)

// The script stands in other people's pages: it must be small, stand alone, and
// use nothing that a strict policy forbids.
func TestScript(t *testing.T) {
	text := string(widget.Text)
	require.Less(t, len(text), 152<<10) // a third of it on the way: it is sent compressed
	require.NotRegexp(t, `[^\n\r\t -~]`, text, "it is read in the page's own encoding, whichever that is")
	require.Regexp(t, `^"[0-9a-f]{24}"$`, widget.ETag)
	for _, forbidden := range []string{"innerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", ".style."} {
		require.NotContains(t, text, forbidden)
		require.NotContains(t, string(widget.Check), forbidden)
	}
	require.LessOrEqual(t, strings.Count(text, "import("), 1, "the check alone is loaded, from where the script is from")
	require.NotContains(t, string(widget.Check), "import(")
	require.Less(t, len(widget.Check), 48<<10)
	require.NotRegexp(t, `[^\n\r\t -~]`, string(widget.Check))
}

// TestModules runs the tests of the modules in Node.js, where there is one.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js")
	}
	command := exec.CommandContext(t.Context(), node, "--test")
	command.Dir = "test"
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
