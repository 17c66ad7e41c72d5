package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/config"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/database/databasetest"
)

// What visitors ask the museum of the README and the quickstart, in several languages, is
// answered from its guide.
func TestTheSampleGuideIsKnown(t *testing.T) {
	if os.Getenv(databasetest.Env) == "" {
		t.Fatalf("%s names no database server", databasetest.Env)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	s := set{domain: "sample", documents: map[string]string{"guide.md": config.Guide}, now: time.Date(2026, 11, 18, 10, 30, 0, 0, zone)}
	s.Organization, s.Language, s.Zone = "City Museum", "en", "Europe/Berlin"
	for asked, holds := range map[string]fact{
		"When do you open?": "nine", "are you open on mondays?": "closed", "can i take photos": "photographs", "May I take pictures with flash?": "flash",
		"how much is it for kids": "free", "student discount?": "eight euros", "where are you": "Castle Street", "which tram": "line 4",
		"can i park my car": "garage", "is my dog allowed": "outside", "where's the loo": "café", "what's the wifi called": "Museum",
		"i'm in a wheelchair, can i get around": "elevator", "who's the director": "Jonas Abel", "who founded the museum": "Clara Winther",
		"phone number": "555 0177", "how long does a tour take": "one hour", "i lost my umbrella": "four weeks", "where can i leave my backpack": "lockers", "can we eat inside": "café",
		"Darf man fotografieren?": "photographs", "Was kostet der Eintritt?": "twelve euros", "Puis-je prendre des photos ?": "photographs", "Quels sont vos horaires ?": "nine",
		"¿Se pueden hacer fotos?": "photographs", "¿Cuánto cuesta la entrada?": "twelve", "写真を撮ってもいいですか": "photographs", //nolint:misspell // Spanish
	} {
		s.Questions = append(s.Questions, question{ID: asked, Ask: []string{asked}, Expect: expectKnow, Facts: [][]fact{{holds}}})
	}
	answersWell(t, &s, 0.9)
}

// A visitor of the sample portal asks in simple words, where the guide of the museum and what the
// template teaches speak of the same things.
func TestTheSamplePortalIsKnown(t *testing.T) {
	if os.Getenv(databasetest.Env) == "" {
		t.Fatalf("%s names no database server", databasetest.Env)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	s := set{domain: "portal", documents: map[string]string{"guide.md": config.Guide}, now: time.Date(2026, 11, 18, 10, 30, 0, 0, zone)}
	s.Organization, s.Language, s.Zone = "City Museum", "en", "Europe/Berlin"
	g, err := template.Load()
	require.NoError(t, err)
	made, ok := g.Filled("museum_guide", map[string]string{"organization": "City Museum"})
	require.True(t, ok)
	for _, taught := range made.Subjects {
		title := taught.Title["en"]
		s.documents[title] = subject.Lesson(subject.Subject{Title: title, Kind: taught.Kind, Definition: taught.Definition}, taught.Content, "en")
	}
	for asked, holds := range map[string]fact{
		"How much is a ticket?": "twelve", "When do you open?": "nine", "what time do you close": "six", "Are you open on Sunday?": "yes", "Are you open today?": "yes",
		"are you open on mondays": "no", "When is the next guided tour?": "Saturday", "How long is the tour?": "one hour", "What does a tour cost?": "four euros",
		"May I take photos?": "photographs", "Where can I park?": "Mill Street", "Is there wifi?": "wireless", "Can I bring my dog?": "outside", "Is there a café?": "café",
		"How much do children pay?": "free", "My son is 10, how much does he pay?": "free", "Can I pay by card?": "card", "Where are the toilets?": "café",
		"Who runs the museum?": "Jonas Abel", "What's your phone number?": "555 0177", "Can I buy tickets online?": "website", "When is the last admission?": "half an hour",
		"Which tram goes to the museum?": "line 4", "Is there an elevator?": "elevator", "Can I borrow a wheelchair?": "desk", "Is it wheelchair accessible?": "lift",
		"Where can I leave my coat?": "cloakroom", "How do I get there?": "tram",
	} {
		s.Questions = append(s.Questions, question{ID: asked, Ask: []string{asked}, Expect: expectKnow, Facts: [][]fact{{holds}}})
	}
	for _, asked := range []string{"Do you have a shop?", "Is there a cinema?", "How old is the museum's roof?"} {
		s.Questions = append(s.Questions, question{ID: asked, Ask: []string{asked}, Expect: expectUnknown})
	}
	answersWell(t, &s, 0.85)
}

// answersWell requires a share of a set's questions to be answered well.
func answersWell(t *testing.T, s *set, least float64) {
	t.Helper()
	f, err := newFixture(t.Context())
	require.NoError(t, err)
	t.Cleanup(f.backend.Close)
	p, err := f.prepare(t.Context(), s)
	require.NoError(t, err)
	well := 0
	for i := range s.Questions {
		q := &s.Questions[i]
		if a, _, _ := p.answer(t.Context(), s, q); judge(q, a) == good {
			well++
		} else {
			t.Logf("%s → [%s] %s", q.ID, a.act, a.text)
		}
	}
	require.GreaterOrEqual(t, float64(well)/float64(len(s.Questions)), least, "%d of %d", well, len(s.Questions))
}
