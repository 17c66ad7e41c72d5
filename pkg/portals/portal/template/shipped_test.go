package template_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
)

// shipped are the templates that are worth starting from: they teach, ask and
// answer before anybody has changed them.
var shipped = []string{"course", "employee_onboarding", "interview_practice", "museum_guide", "product_support", "sales_reception"}

func eachShipped(t *testing.T, test func(*testing.T, template.Template)) {
	t.Helper()
	g, err := template.Load()
	require.NoError(t, err)
	for _, key := range shipped {
		t.Run(key, func(t *testing.T) {
			made, ok := g.Find(key)
			require.True(t, ok)
			test(t, made)
		})
	}
}

// A persona that is made of it is good with every voice that speaks its languages.
func TestShippedPersonas(t *testing.T) {
	eachShipped(t, func(t *testing.T, made template.Template) {
		require.Equal(t, []string{"en", "de", "fr", "es"}, made.Languages)
		for _, v := range voice.Studio() {
			languages := slices.DeleteFunc(slices.Clone(made.Languages), func(code string) bool { return !slices.Contains(v.Languages, code) })
			if len(languages) == 0 {
				continue
			}
			d, err := made.Speaker(v, languages)
			require.NoError(t, err)
			normalized, err := d.Normalize(v)
			require.NoError(t, err, v.Name)
			for _, code := range languages {
				require.NotEmpty(t, normalized.Greeting.Text[code])
				require.NotEmpty(t, normalized.Closing[code])
			}
			require.LessOrEqual(t, len([]rune(*normalized.Role)), 200)
			require.Len(t, normalized.Guardrails, len(made.Persona.Guardrails)*len(languages), "a rule is kept in each language that is spoken")
			for _, g := range normalized.Guardrails {
				require.LessOrEqual(t, len([]rune(g.Rule)), 1000)
				require.Contains(t, g.Rule, `"`, "the built-in engine goes by what stands in quotes")
			}
		}
	})
}

// Whoever chose a language reads and hears all of it in that language.
func TestShippedContentIsWholeInEveryLanguage(t *testing.T) {
	eachShipped(t, func(t *testing.T, made template.Template) {
		require.GreaterOrEqual(t, len(made.Subjects), 2)
		b, err := json.Marshal(made.Subjects)
		require.NoError(t, err)
		var tree any
		require.NoError(t, json.Unmarshal(b, &tree))
		requireWords(t, "subjects", tree, made.Languages)
	})
}

// requireWords: wherever there is a text in one language, it is there in all.
func requireWords(t *testing.T, field string, node any, languages []string) {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for i, item := range node {
			requireWords(t, fmt.Sprintf("%s[%d]", field, i), item, languages)
		}
	case map[string]any:
		if _, ok := node[languages[0]]; ok {
			require.Len(t, node, len(languages), field)
			for _, code := range languages {
				require.NotEmpty(t, strings.TrimSpace(fmt.Sprint(node[code])), "%s.%s", field, code)
			}
			return
		}
		for key, item := range node {
			requireWords(t, field+"."+key, item, languages)
		}
	}
}

func TestShippedSubjects(t *testing.T) {
	eachShipped(t, func(t *testing.T, made template.Template) {
		for _, s := range made.Subjects {
			c := s.Content
			require.NotEmpty(t, c.Intro)
			require.NotEmpty(t, c.Ending.Message)
			require.GreaterOrEqual(t, len(c.Sections), 3)
			for _, section := range c.Sections {
				require.NotEmpty(t, section.KeyPoints, section.Key)
				requireLength(t, section.Key, section.Body)
			}
			require.GreaterOrEqual(t, len(c.Questions), 4)
			var points float64
			for _, q := range c.Questions {
				points += q.Points
				requireQuestion(t, q)
			}
			if s.Definition.Assessed {
				require.NotNil(t, s.Definition.PassPercent)
				require.Positive(t, points)
			}
			require.Equal(t, s.Kind == subject.Practice, c.Scenario != nil)
		}
	})
}

// requireLength: a section says something, and can be listened to.
func requireLength(t *testing.T, key string, body language.Words) {
	t.Helper()
	for code, text := range body {
		n := len(strings.Fields(text))
		require.True(t, n >= 60 && n <= 180, "%s.%s has %d words", key, code, n)
	}
}

func requireQuestion(t *testing.T, q subject.Question) {
	t.Helper()
	correct := 0
	for _, o := range q.Options {
		if o.Correct {
			correct++
		}
	}
	if q.Kind == "choice" {
		require.GreaterOrEqual(t, len(q.Options), 2, q.Key)
		require.Equal(t, 1, correct, q.Key)
	} else {
		require.Empty(t, q.Options, q.Key)
	}
	if len(q.Rubric) > 0 || q.Kind == "scenario" {
		require.Len(t, q.Rubric, 3, q.Key)
	}
	// Its points are what the criteria can give, so that they mean the same everywhere.
	most := 0.0
	for _, criterion := range q.Rubric {
		require.Len(t, criterion.Levels, 3, q.Key)
		most += criterion.Weight * criterion.Levels[2].Score
		require.Less(t, criterion.Levels[0].Score, criterion.Levels[1].Score)
		require.Less(t, criterion.Levels[1].Score, criterion.Levels[2].Score)
	}
	if len(q.Rubric) > 0 {
		require.InDelta(t, most, q.Points, 0, q.Key)
	}
}

// Nothing is asked that nothing uses, and nothing is left open without answers.
func TestShippedQuestions(t *testing.T) {
	g, err := template.Load()
	require.NoError(t, err)
	open := regexp.MustCompile(`\{\{|\}\}`)
	eachShipped(t, func(t *testing.T, made template.Template) {
		written, err := os.ReadFile("templates/" + made.Key + ".yaml")
		require.NoError(t, err)
		answers := map[string]string{}
		for _, q := range made.Questions {
			require.Contains(t, string(written), "{{"+q.Key, "%s is asked for nothing", q.Key)
			answers[q.Key] = "the answer to " + q.Key
		}
		filled, ok := g.Filled(made.Key, answers)
		require.True(t, ok)
		plain, full := fmt.Sprint(asYAML(t, made)), fmt.Sprint(asYAML(t, filled))
		require.NotRegexp(t, open, plain)
		require.NotRegexp(t, open, full)
		for _, answer := range answers {
			require.NotContains(t, plain, answer)
			require.Contains(t, full, answer)
		}
	})
}

func asYAML(t *testing.T, v any) string {
	t.Helper()
	b, err := yaml.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// White text on the accent can be read (WCAG 2.2, 1.4.3).
func TestShippedAccents(t *testing.T) {
	eachShipped(t, func(t *testing.T, made template.Template) {
		require.GreaterOrEqual(t, 1.05/(luminance(t, made.Definition.Brand.Accent)+0.05), 4.5)
	})
}

// luminance is the relative luminance of a colour (WCAG 2.2).
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		part := float64(n) / 255
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum
}
