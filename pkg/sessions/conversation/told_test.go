package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/session"
)

// An age that was told holds for who is spoken of afterwards, and for nobody else.
func TestAgesAreRemembered(t *testing.T) {
	pool := pack{
		{Title: "Pool rules", Heading: "Children", Text: "Children under 10 may only enter the water with an adult. Young people from 12 years may swim alone. The slide is for children from 8 years.", Language: "en", Score: 0.9},
		{Title: "Pool rules", Heading: "Lockers", Text: "A locker costs €1.", Language: "en", Score: 0.7},
	}
	const alone = "Young people from 12 years may swim alone."
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"My son is 14, can he swim alone?"}, "Yes. " + alone},
		{[]string{"My son is 9. Can he swim alone?"}, "No. " + alone},
		{[]string{"My son is 14, can he swim alone?", "and my daughter of 9?"}, "No. " + alone},
		{[]string{"My daughter is 9.", "Can she swim alone?"}, "No. " + alone},
		{[]string{"My daughter is 9.", "Where is the slide?", "Can she swim alone?"}, "No. " + alone},
		{[]string{"My son is 7, can he use the slide?", "and the pool alone?"}, "No. " + alone},
		{[]string{"My son is 7, can he use the slide?", "what does a locker cost?"}, "A locker costs €1."},
	} {
		text, _ := rehearsed(t, pool, c.lines...)
		require.Equal(t, c.want, text, c.lines)
	}
}

// What is asked about somebody else has no age of theirs.
func TestAgesAreNobodyElses(t *testing.T) {
	for _, text := range []string{"And my wife, what does she pay?", "And what does my brother pay?", "and my mother?", "And does his father pay?", "And what do I pay if she comes?", "Can adults swim alone?", "Can I swim alone?", "What does a locker cost?"} {
		require.Equal(t, -1, ageOf(Question{Text: text, Language: "en", Previous: "My son is 7, can he swim?"}, "en"), text)
	}
}

// How old somebody says they are themselves is the age of nobody who is spoken of.
func TestOnesOwnAgeIsNobodyElses(t *testing.T) {
	const own = "I am 67, do I get a discount?"
	for _, text := range []string{"My daughter comes too, does she pay full price?", "and what does she pay?"} {
		q := Question{Text: text, Language: "en", Previous: own, History: []session.Turn{{Speaker: session.User, Text: own, Language: "en"}}}
		require.Equal(t, -1, ageOf(q, "en"), text)
	}
}
