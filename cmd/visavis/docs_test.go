package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"visavis.dev/cmd/show"
)

// command is a command in a page.
type command struct {
	line string
	// whole says that it is written out, to be copied; others are only spoken of.
	whole bool
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	anyBlock   = regexp.MustCompile("(?s)```.*?```")
	codeWords  = regexp.MustCompile("`([^`\n]+)`")
	afterwards = regexp.MustCompile(` #.*| "\$@".*| \\$| &$`)
	// admin is the runbooks' name for visavis admin in a pod.
	ofProgram = regexp.MustCompile(`(?:^|[/(])((?:kubectl )?visavis (?:--version|[a-z]+)|admin [a-z]+ [a-z]+)(?: .*)?$`)
	quotation = regexp.MustCompile(`"[^"]*"|'[^']*'|\$\([^)]*\)`)
)

// commands finds the commands of the program in a page: in its blocks of shell and in
// its words set as code.
func commands(page string) (found []command) {
	take := func(line string, whole bool) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, `eval "$(`), `)"`)
		line, _, _ = strings.Cut(line, "|")
		line = afterwards.ReplaceAllString(line, "")
		if at := ofProgram.FindStringSubmatchIndex(line); at != nil {
			found = append(found, command{strings.TrimSpace(line[at[2]:]), whole})
		}
	}
	for _, block := range shellBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.SplitSeq(block[1], "\n") {
			take(line, true)
		}
	}
	for _, words := range codeWords.FindAllStringSubmatch(anyBlock.ReplaceAllString(page, ""), -1) {
		take(words[1], false)
	}
	return found
}

// Whoever copies a command of the documentation is not told that there is none.
func TestCommandsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	tried := 0
	for _, path := range append(pages, "../../README.md", "../../charts/visavis/README.md") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, c := range commands(string(text)) {
			tried++
			require.NoError(t, c.parses(), "%s: %s", path, c.line)
		}
	}
	require.Greater(t, tried, 40)
	for _, wrong := range []string{"visavis admin org remove ORG", "visavis admin org delete ORG --sure", "kubectl visavis limits", "visavis deliver"} {
		require.Error(t, command{wrong, true}.parses(), wrong)
	}
}

// plugin has the commands of kubectl visavis, and the one of kubectl's flags that documents
// use.
func plugin() *cobra.Command {
	cmd := &cobra.Command{Use: "visavis"}
	cmd.PersistentFlags().StringP("namespace", "n", "", "")
	cmd.AddCommand(show.Commands(func(*cobra.Command, []string) error { return nil })...)
	return cmd
}

// parses says whether the program knows a command, with its flags and arguments.
func (c command) parses() error {
	words := strings.Fields(quotation.ReplaceAllString(c.line, "quoted"))
	program := root()
	switch words[0] {
	case "kubectl":
		program, words = plugin(), words[2:]
	case "visavis":
		words = words[1:]
	}
	cmd, rest, err := program.Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	args := cmd.Flags().Args()
	switch {
	case !cmd.Runnable():
		return cobra.NoArgs(cmd, args)
	case !c.whole && len(args) == 0:
		return nil
	}
	return cmd.ValidateArgs(args)
}
