package main

import (
	"bufio"
	"io"
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
	talk.WaitDelay = time.Second
	says, err := talk.StdinPipe()
	require.NoError(t, err)
	hears, err := talk.StdoutPipe()
	require.NoError(t, err)
	talk.Stderr = talk.Stdout
	require.NoError(t, talk.Start())
	var shown strings.Builder
	lines := bufio.NewScanner(hears)
	until := func(what string) {
		for lines.Scan() {
			shown.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), what) {
				return
			}
		}
	}
	_, err = io.WriteString(says, "What is Visavis?\n")
	require.NoError(t, err)
	until("README") // what is asked meanwhile would be answered in the same turn
	_, err = io.WriteString(says, "Who won the cup final?\n")
	require.NoError(t, err)
	require.NoError(t, says.Close())
	until("The conversation is over")
	require.NoError(t, talk.Wait(), "%s", shown.String())
	require.Regexp(t, `^Type and press Enter\. .*
— You are talking with an artificial intelligence, not with a person\.
Amara: Hello! How can I help you\?
Amara: Visavis gives an organization .*\.
  ↳ README
Amara: I am sorry, I do not know that\.
— The conversation is over: ended by user\.
$`, shown.String())
}
