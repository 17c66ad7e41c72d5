package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database/databasetest"
)

// What visitors ask the museum of the README and the quickstart, in several languages, is
// answered from its guide.
func TestTheSampleGuideIsKnown(t *testing.T) {
	if os.Getenv(databasetest.Env) == "" {
		t.Fatalf("%s names no database server", databasetest.Env)
	}
	guide, err := os.ReadFile("../../config/samples/guide.md")
	require.NoError(t, err)
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	s := set{domain: "sample", documents: map[string]string{"guide.md": string(guide)}, now: time.Date(2026, 11, 18, 10, 30, 0, 0, zone)}
	s.Organization, s.Language, s.Zone = "City Museum", "en", "Europe/Berlin"
	for asked, holds := range map[string]fact{
		"When do you open?": "nine", "are you open on mondays?": "closed", "can i take photos": "photographs", "May I take pictures with flash?": "flash",
		"how much is it for kids": "free", "student discount?": "eight euros", "where are you": "Castle Street", "which tram": "line 4",
		"can i park my car": "garage", "is my dog allowed": "outside", "where's the loo": "café", "what's the wifi called": "Museum",
		"i'm in a wheelchair, can i get around": "elevator", "who's the director": "Jonas Abel", "who founded the museum": "Clara Winther",
		"phone number": "555 0177", "how long does a tour take": "one hour", "i lost my umbrella": "four weeks", "where can i leave my backpack": "lockers", "can we eat inside": "café",
		"Darf man fotografieren?": "photographs", "Was kostet der Eintritt?": "twelve euros", "Puis-je prendre des photos ?": "photographs", "Quels sont vos horaires ?": "nine",
		"¿Se pueden hacer fotos?": "photographs", "写真を撮ってもいいですか": "photographs",
	} {
		s.Questions = append(s.Questions, question{ID: asked, Ask: []string{asked}, Expect: expectKnow, Facts: [][]fact{{holds}}})
	}
	f, err := newFixture(t.Context())
	require.NoError(t, err)
	t.Cleanup(f.backend.Close)
	p, err := f.prepare(t.Context(), &s)
	require.NoError(t, err)
	well := 0
	for i := range s.Questions {
		q := &s.Questions[i]
		if a, _, _ := p.answer(t.Context(), &s, q); judge(q, a) == good {
			well++
		} else {
			t.Logf("%s → [%s] %s", q.ID, a.act, a.text)
		}
	}
	require.GreaterOrEqual(t, well, len(s.Questions)*9/10, "of %d", len(s.Questions))
}
