package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A newcomer starts everything, and talks with a persona that has read the
// README.
func TestANewcomerTalks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	startDev(t, dir)
	talk := exec.CommandContext(t.Context(), "go", "run", "./hack/talk", "-credentials", filepath.Join(dir, "credentials.json"))
	talk.Dir, talk.Env = "../..", cleanEnvironment()
	talk.Stdin = strings.NewReader("What is Visavis?\nWho won the cup final?\n")
	talk.WaitDelay = time.Second
	shown, err := talk.CombinedOutput()
	require.NoError(t, err, "%s", shown)
	require.Regexp(t, `^Type and press Enter\. .*
— You are talking with an artificial intelligence, not with a person\.
Amara: Hello! How can I help you\?
Amara: Visavis gives an organization .*\.
  ↳ README
Amara: I am sorry, I do not know that\.
— The conversation is over: ended by user\.
$`, string(shown))
}
