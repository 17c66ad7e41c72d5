package answer

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// mayMiss are how many of a hundred may be missed of a class: none of what is to be heard as
// nothing of the kind.
var mayMiss = map[string]int{"disclosure": 1, "person": 2, "emergency": 1, "other": 0, "ability": 5, "repeat": 5, "thanks": 5, "insult": 5}

// What people say is heard as what it is, before anything is looked up for it. The second
// and the third file were each written when the patterns were taken to be good, and show how
// much is still missed of what nobody thought of: see their first lines.
func TestPhrasingsAreHeard(t *testing.T) {
	of, missed := map[string]int{}, map[string][]string{}
	for _, name := range phrasingFiles {
		for _, p := range phrasedIn(t, name) {
			of[p.class]++
			if act, ok := p.kept(); !ok {
				missed[p.class] = append(missed[p.class], fmt.Sprintf("%s: %s (%s)", p.language, p.text, cmp.Or(string(act), "none")))
			}
		}
	}
	require.GreaterOrEqual(t, of["disclosure"], 300)
	for class, n := range of {
		assert.LessOrEqual(t, len(missed[class]), n*mayMiss[class]/100, "%s of %d: %s", class, n, strings.Join(missed[class], "; "))
	}
}

// phrasingFiles are those of phrasings, in the order in which they were written.
var phrasingFiles = []string{"phrasings.txt", "phrasings_more.txt", "phrasings_last.txt"}

// Who asks plainly at the end of a long talk is answered.
func TestPlainQuestionsAfterMuchElseAreHeard(t *testing.T) {
	before := "well I called twice last week about the invoice for the room in March and nobody picked up so now I am trying it here instead and I honestly wonder, "
	require.Equal(t, Disclosure, Hear("en", before+"are you a robot?").Act)
	require.NotEqual(t, Disclosure, Hear("en", before+"is the garden open?").Act)
}

// Whoever reports something and asks in the same breath is not asking about such things.
func TestReportsThatAskAreReports(t *testing.T) {
	for _, text := range []string{
		"heart attack, what is the emergency number", "overdose what number do i call", "she is choking what do i do if she stops breathing", "fire in the kitchen where is the exit",
		"our trainer showed us how to dive and now he is not breathing", "what do i do if my child has swallowed bleach", "during the course someone fainted",
	} {
		assert.True(t, Endangered("en", text), text)
	}
	for _, text := range []string{"where is the fire exit", "how much is fire insurance", "do you teach what to do when somebody is choking", "is there a fire drill today"} {
		assert.False(t, Endangered("en", text), text)
	}
}

// What an answer is about does not hide who is asked for.
func TestThingsDoNotHideWhoIsAskedFor(t *testing.T) {
	for _, text := range []string{"was this offer written by a human", "is the insurance advice here from a real person or a bot", "did a robot write this discount offer", "are you a real person or does the insurance use bots"} {
		assert.Equal(t, Disclosure, Hear("en", text).Act, text)
	}
}
