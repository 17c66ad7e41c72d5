package template_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/search"
)

// Shares of the questions that are answered from the section that answers them: of all, and
// of each template's in each language.
const (
	leastAnswered = 0.75
	leastEach     = 0.5
)

// shelf is what a template teaches, as a persona knows it.
type shelf struct {
	index    *search.Index
	passages map[id.Chunk]conversation.Passage
	sections map[id.Chunk]string
}

func shelve(t *testing.T, made template.Template, language string) *shelf {
	t.Helper()
	s := &shelf{search.New(), map[id.Chunk]conversation.Passage{}, map[id.Chunk]string{}}
	for _, subject := range made.Subjects {
		var texts []search.Text
		doc := id.NewDocument()
		for _, section := range subject.Content.Sections {
			text := search.Text{ID: id.NewChunk(), Heading: section.Title[language], Text: strings.ReplaceAll(section.Body[language], "**", "")}
			texts = append(texts, text)
			s.sections[text.ID] = section.Key
			s.passages[text.ID] = conversation.Passage{
				Document: doc, Chunk: text.ID, Title: subject.Title[language], Heading: text.Heading, Text: text.Text, Language: language,
			}
		}
		require.NoError(t, s.index.Add(doc, nil, language, search.Analyze(language, texts).Marshal()))
	}
	return s
}

// Search implements conversation.Knowledge.
func (s *shelf) Search(ctx context.Context, q conversation.Query) ([]conversation.Passage, error) {
	hits, err := s.index.Find(ctx, search.Query{Language: q.Language, Text: q.Text, Limit: q.Limit})
	out := make([]conversation.Passage, len(hits))
	for i, h := range hits {
		out[i] = s.passages[h.Passage]
		out[i].Score = h.Support * (0.7 + 0.3*h.Score/hits[0].Score)
	}
	return out, err
}

// asked are the questions of testdata/asked.txt, by template.
type asked struct {
	section string
	in      map[string]string
}

func readAsked(t *testing.T) map[string][]asked {
	t.Helper()
	text, err := os.ReadFile("testdata/asked.txt")
	require.NoError(t, err)
	out := map[string][]asked{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 5, line)
		key, section, _ := strings.Cut(cells[0], " ")
		out[key] = append(out[key], asked{section, map[string]string{"en": cells[1], "de": cells[2], "fr": cells[3], "es": cells[4]}})
	}
	return out
}

// told is what whoever made the portal answered to the template's own questions.
var told = map[string]string{
	"organization": "Acme", "hours": "9:00 – 18:00", "tickets": "12 €", "address": "Castle Street 12", "contact": "+49 40 555 0177, team@acme.example",
}

// What a template teaches is known by who teaches it: twenty questions of each, in each of
// its languages, are asked in other words than the text's.
func TestShippedTemplatesAnswerWhatIsAsked(t *testing.T) {
	questions := readAsked(t)
	g, err := template.Load()
	require.NoError(t, err)
	all, answered := 0, 0
	for _, key := range shipped {
		require.GreaterOrEqual(t, len(questions[key]), 20, key)
		made, ok := g.Filled(key, told)
		require.True(t, ok)
		for _, language := range made.Languages {
			t.Run(key+"/"+language, func(t *testing.T) {
				known := shelve(t, made, language)
				well := 0
				for _, q := range questions[key] {
					if from, said := known.answer(t, language, q.in[language]); slices.Contains(from, q.section) {
						well++
					} else {
						t.Logf("%s (%s) → %v %s", q.in[language], q.section, from, said)
					}
				}
				t.Logf("%d of %d", well, len(questions[key]))
				require.GreaterOrEqual(t, float64(well)/float64(len(questions[key])), leastEach)
				all, answered = all+len(questions[key]), answered+well
			})
		}
	}
	require.GreaterOrEqual(t, float64(answered)/float64(all), leastAnswered)
}

// answer is what is said to a question, and the sections that it is from.
func (s *shelf) answer(t *testing.T, language, question string) (from []string, said string) {
	t.Helper()
	config := conversation.Config{Knowledge: s, Clock: clocktesting.NewFakeClock(time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC))}
	config.Persona = persona.Definition{Knowledge: persona.Knowledge{Retrieval: "balanced"}}
	config.Persona.Settings.Language = language
	r := conversation.Rehearse(t.Context(), config, []string{question})
	for _, turn := range r.Turns {
		if turn.Speaker == session.Avatar {
			said += turn.Text + " "
			for _, source := range turn.Sources {
				from = append(from, s.sections[source.ChunkID])
			}
		}
	}
	return from, said
}
