package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsksSure(t *testing.T) {
	for language, said := range phrasings(t, "sure.txt") {
		for _, text := range said {
			assert.True(t, AsksSure(language, text), "%s: %s", language, text)
		}
	}
	for language, said := range phrasings(t, "sure_lookalikes.txt") {
		for _, text := range said {
			assert.False(t, AsksSure(language, text), "%s: %s", language, text)
		}
	}
}
