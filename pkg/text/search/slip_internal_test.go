package search

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is quickly seen of two words puts none aside that is within the slips that are forgiven.
func TestNoSlipIsPutAside(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abcdeksyzéß中я")), 1, 9, -1)
	rapid.Check(t, func(t *rapid.T) {
		x, most := []rune(word.Draw(t, "word")), rapid.IntRange(1, 2).Draw(t, "most")
		y := append([]rune{}, x...)
		for range rapid.IntRange(0, 3).Draw(t, "edits") { // words that are near: others are no question
			at := rapid.IntRange(0, len(y)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "edit") {
			case 0:
				y[at] = []rune(word.Draw(t, "letter"))[0]
			case 1:
				y = append(y[:at+1], y[at:]...)
			case 2:
				if len(y) > 1 {
					y = append(y[:at], y[at+1:]...)
				}
			}
		}
		if slow, quick := distance(x, y, most), slipsBetween(x, y, most); slow > float64(most) {
			require.Greater(t, quick, float64(most))
		} else {
			require.InDelta(t, slow, quick, 0)
		}
	})
}

// A word that is in no list is held against all that begin as it does.
func BenchmarkUnknownWord(b *testing.B) {
	for b.Loop() {
		Understand("en", "When does the musaeum open on a monstrabilis day?")
	}
}
