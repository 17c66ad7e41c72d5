package answer

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// phrased is what somebody says, and what it is to be heard as: "other" is none of the
// acts that are never to be missed.
type phrased struct{ language, class, text string }

// phrasedIn reads a file of lines with a language, a class and what is said.
func phrasedIn(t *testing.T, name string) []phrased {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var all []phrased
	for line := range strings.Lines(string(text)) {
		head, said, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || line[0] == '#' {
			continue
		}
		language, class, ok := strings.Cut(head, " ")
		require.True(t, ok, line)
		for one := range strings.SplitSeq(said, "|") {
			all = append(all, phrased{language, class, strings.TrimSpace(one)})
		}
	}
	return all
}

// kept says whether what is said is heard as what it is.
func (p phrased) kept() (Act, bool) {
	heard := Hear(p.language, p.text).Act
	danger := Endangered(p.language, p.text)
	switch Act(p.class) {
	case "other":
		return heard, heard != Disclosure && heard != Person && heard != Emergency && !danger
	case Emergency:
		return heard, heard == Emergency && danger
	default:
		return heard, heard == Act(p.class)
	}
}

// What people say is heard as what it is, before anything is looked up for it. What the
// law asks for, what puts somebody in danger and what only resembles either leaves no
// room; of the others a few may be missed.
func TestPhrasingsAreHeard(t *testing.T) {
	for _, name := range []string{"phrasings.txt", "phrasings_more.txt"} {
		if _, err := os.Stat("testdata/" + name); err != nil {
			continue
		}
		of, missed := map[string]int{}, map[string]int{}
		var lines []string
		for _, p := range phrasedIn(t, name) {
			of[p.class]++
			if act, ok := p.kept(); !ok {
				missed[p.class]++
				lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", p.language, p.class, p.text, cmp.Or(string(act), "none")))
			}
		}
		for class, n := range of {
			t.Logf("%s %s: %d of %d", name, class, n-missed[class], n)
		}
		slices.Sort(lines)
		t.Log(strings.Join(lines, "\n"))
	}
}
