package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the Dockerfile runs and reads of the repository is there, and is sent to the builder.
func TestTheDockerfileHasItsFiles(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		return string(text)
	}
	var patterns []string
	for line := range strings.Lines(read(".dockerignore")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	ignored, err := patternmatcher.New(patterns)
	require.NoError(t, err)

	comments := regexp.MustCompile(`(?m)^#.*$`)
	files := regexp.MustCompile(`\b(?:hack|charts|cmd|config|pkg|web)/[\w./-]+`).FindAllString(comments.ReplaceAllString(read("Dockerfile"), ""), -1)
	require.Contains(t, files, "hack/speech-files.sh")
	for _, file := range append(files, "go.mod", "go.sum", "cmd/visavis/main.go", "config/plans.yaml") {
		_, err := os.Stat("../../" + file)
		require.NoError(t, err)
		left, err := ignored.MatchesOrParentMatches(file)
		require.NoError(t, err)
		assert.False(t, left, "%s is not sent to the builder", file)
	}
}
