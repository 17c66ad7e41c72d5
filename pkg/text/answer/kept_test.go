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

// Talks, calls and exchanges are of the house as well: they count where the avatar is named.
func TestOfTalkKept(t *testing.T) {
	for language, said := range map[string][2]string{
		"en": {"Calls with our avatar are stored.", "Emergency calls are recorded for one year."},
		"de": {"Gespräche mit dem Avatar werden gespeichert.", "Gespräche mit dem Zeitzeugen wurden aufgezeichnet."},
		"es": {"Las charlas con el avatar se guardan.", "La charla del escritor se graba."},
		"fr": {"Les échanges avec l'avatar sont conservés.", "Les échanges scolaires sont enregistrés ici."},
		"tr": {"Avatar ile görüşmeler saklanır.", "İş görüşmeleri kaydedilir."},
	} {
		assert.True(t, OfTalkKept(language, said[0]), said[0])
		assert.False(t, OfTalkKept(language, said[1]), said[1])
	}
}
