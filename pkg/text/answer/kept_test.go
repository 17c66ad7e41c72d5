package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsksKept(t *testing.T) {
	n := 0
	for language, said := range phrasings(t, "kept.txt") {
		for _, text := range said {
			n++
			assert.True(t, AsksKept(language, text), "%s: %s", language, text)
			heard := Hear(language, text).Act
			assert.Contains(t, []Act{None, Disclosure}, heard, "%s: %s", language, text)
		}
	}
	assert.GreaterOrEqual(t, n, 120)
}

// Who asks who is speaking, or about the organization's own records, asks for nothing that is
// kept of the conversation.
func TestWhatOnlyLooksLikeAskingWhatIsKept(t *testing.T) {
	for _, name := range []string{"lookalikes.txt", "kept_lookalikes.txt"} {
		for language, said := range phrasings(t, name) {
			for _, text := range said {
				assert.False(t, AsksKept(language, text), "%s: %s", language, text)
			}
		}
	}
}
