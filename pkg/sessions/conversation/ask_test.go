package conversation

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/personas/persona"
)

// asked puts one question to a persona of the bakery.
func asked(t *testing.T, text string, setup func(*Config)) (Reply, error) {
	t.Helper()
	config := Config{
		Session: Facts{Language: "en", Channel: Chat}, PersonaName: "Mia", Knowledge: bakery, Clock: clocktesting.NewFakeClock(noon),
		Persona: persona.Definition{
			Knowledge: persona.Knowledge{Mode: "strict", Retrieval: "balanced"}, Model: persona.Model{MaxTokens: 300, TimeoutMs: 60_000},
			Settings: persona.Settings{Language: "en", Languages: []string{"de"}, Speed: 1},
		},
	}
	if setup != nil {
		setup(&config)
	}
	return Ask(context.Background(), config, text)
}

func TestAsk(t *testing.T) {
	law := func(action string, message *string) func(*Config) {
		return func(c *Config) {
			c.Persona.Guardrails = []persona.Guardrail{{Key: "law", Rule: `"lawsuit"`, Action: action, Message: message}}
			c.Persona.Goals = []persona.Goal{{Key: "name", Prompt: "What is your name, please?"}}
		}
	}
	const hours = "The bakery opens at 7 in the morning from Monday to Saturday."
	yes, no := new(true), new(false)
	for name, c := range map[string]struct {
		question string
		setup    func(*Config)
		want     string
		grounded *bool
		gap      bool
		sources  int
	}{
		"from the packs":     {"When does the bakery open?", nil, hours, yes, false, 1},
		"unknown":            {"Who invented the telephone?", nil, bookOf("en").dontKnow, no, true, 0},
		"without packs":      {"When does the bakery open?", func(c *Config) { c.Knowledge = nil }, bookOf("en").dontKnow, no, true, 0},
		"by a model":         {"When does the bakery open?", func(c *Config) { c.Model = writes("At seven [1]. ", "Closed on Sundays [1].") }, "At seven. Closed on Sundays.", yes, false, 1},
		"a model at a loss":  {"When does the bakery open?", func(c *Config) { c.Model = writes(unknownMark) }, bookOf("en").dontKnow, no, true, 0},
		"a model of its own": {"Who invented the telephone?", func(c *Config) { c.Model = writes("Bell."); c.Persona.Knowledge.Mode = "open" }, "Bell.", no, false, 0},
		"a model that breaks": {"When does the bakery open?", func(c *Config) {
			c.Model = &scribe{stream: func(context.Context, func(string) error) error { return errBroken }}
		}, hours, yes, false, 1},
		"a refusal":          {"Shall I file a lawsuit?", law(actRefuse, nil), bookOf("en").refuse, nil, false, 0},
		"a refusal in words": {"Shall I file a lawsuit?", law(actEnd, new("Ask {{persona}} of bread.")), "Ask Mia of bread.", nil, false, 0},
		"a redirection":      {"Shall I file a lawsuit?", law(actRedirect, new("Not here.")), "Not here. What is your name, please?", nil, false, 0},
		"a hand-off":         {"Shall I file a lawsuit?", law(actHandoff, nil), bookOf("en").handoff, nil, false, 0},
		"a forbidden answer": {"When does the bakery open?", func(c *Config) {
			law(actRefuse, nil)(c)
			c.Model = writes("At seven [1]. ", "Or file a lawsuit [1].")
		}, "At seven. " + bookOf("en").refuse, yes, false, 1},
		"a greeting":   {"Hello!", nil, bookOf("en").welcome, nil, false, 0},
		"a goodbye":    {"Goodbye", func(c *Config) { c.Persona.Closing = map[string]string{"en": "Come again!"} }, "Come again!", nil, false, 0},
		"its own name": {"Who are you?", func(c *Config) { c.Persona.Role = new("I sell bread.") }, "", nil, false, 0},
		"the time":     {"What time is it?", func(c *Config) { c.Zone = time.FixedZone("", 3600) }, "It is " + saidTime("en", noon.In(time.FixedZone("", 3600))) + ".", nil, false, 0},
		"its languages": {"Which languages do you speak?", func(c *Config) {
			c.Persona.Settings.AutoDetectLanguage, c.Persona.Settings.Languages = true, []string{"de", "fr"}
		},
			"You can talk with me in: English, Deutsch, français.", nil, false, 0},
		"a repetition": {"Could you repeat that?", nil, bookOf("en").askAgain, nil, false, 0},
		"a person":     {"I want to talk to a person", func(c *Config) { c.Persona.Tools = []persona.Tool{{Kind: handoff, Enabled: true}} }, bookOf("en").handoff, nil, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := asked(t, c.question, c.setup)
			require.NoError(t, err)
			if c.want != "" {
				require.Equal(t, c.want, r.Text)
			}
			require.NotEmpty(t, r.Text)
			require.Equal(t, c.grounded, r.Grounded)
			require.Equal(t, c.gap, r.Gap)
			require.Len(t, r.Sources, c.sources)
			require.Equal(t, "en", r.Language)
		})
	}
}

func TestAskInAnotherLanguage(t *testing.T) {
	r, err := asked(t, "Wann öffnet die Bäckerei?", func(c *Config) {
		c.Knowledge, c.Persona.Settings.AutoDetectLanguage = backerei, true
		c.Detect = func(string) string { return "de" }
	})
	require.NoError(t, err)
	require.Equal(t, "de", r.Language)
	require.Contains(t, r.Text, "um 7 Uhr")
}

// However patient the persona is with its model, whoever asks is not kept waiting.
func TestAskIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"nothing said":   {"", "The bakery opens at 7 in the morning from Monday to Saturday."},
		"something said": {"At seven [1]. Or", "At seven."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				r, err := asked(t, "When does the bakery open?", func(config *Config) {
					config.Model = &scribe{stream: func(ctx context.Context, each func(string) error) error {
						_ = each(c.said)
						<-ctx.Done()
						return ctx.Err()
					}}
				})
				require.NoError(t, err)
				require.Equal(t, c.want, r.Text)
				require.Equal(t, maxAsked, time.Since(began))
			})
		})
	}
}

func TestAskWithoutKnowledgeToAsk(t *testing.T) {
	_, err := asked(t, "When does the bakery open?", func(c *Config) { c.Knowledge = failing{errBroken} })
	require.ErrorIs(t, err, errBroken, "not to know is another thing")
}

// The organization's own words for a thing are understood at once, by the search and by
// whoever judges the sentences, and explained.
func TestAskInWordsOfTheOrganization(t *testing.T) {
	const question = "When does the Backstubn open?"
	own := func(c *Config) {
		c.Persona.Knowledge.Synonyms = persona.Synonyms{{Words: []string{"bakery", "Backstubn"}}}
	}
	r, err := asked(t, question, nil)
	require.NoError(t, err)
	require.True(t, r.Gap, "nobody said what it is")
	why := &Explanation{}
	r, err = asked(t, question, func(c *Config) { own(c); c.Explain = why })
	require.NoError(t, err)
	require.Equal(t, "The bakery opens at 7 in the morning from Monday to Saturday.", r.Text)
	require.True(t, slices.ContainsFunc(why.Units, func(u ExplainedUnit) bool { return slices.Equal(u.Synonyms, []string{"bakery"}) }))
	r, err = asked(t, "Who invented the Backstubn?", own)
	require.NoError(t, err)
	require.True(t, r.Gap)
}
