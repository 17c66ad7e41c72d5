package setup

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/text/extract"
)

func gallery(t *testing.T) []template.Template {
	t.Helper()
	g, err := template.Load()
	require.NoError(t, err)
	return g.Templates()
}

// told is a source of one section.
func told(title, code, text string) source {
	return source{Title: title, URL: "https://example.com/" + title, Language: code, Sections: []extract.Section{{Heading: "About", Text: text}}}
}

var long = strings.Repeat("A bowline makes a loop that does not slip. ", 5)

func TestWhichTemplateIsChosen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in    Input
		found []source
		want  string
	}{
		"the named one":         {Input{TemplateKey: new("blank"), Brief: new("A museum guide for exhibitions")}, nil, "blank"},
		"by the brief":          {Input{Brief: new("Guide visitors through the exhibits of our museum"), Audience: "visitors"}, nil, "museum_guide"},
		"by the audience":       {Input{Audience: "customers"}, nil, "product_support"},
		"by the titles of what": {Input{}, []source{told("Interview practice for job interviews", "en", long)}, "interview_practice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, choose(test.in, test.found, gallery(t)).Key)
		})
	}
}

func TestAnOutline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in        Input
		found     []source
		languages []string
		titles    []string
		name      string
	}{
		"the language of the sources": {Input{TemplateKey: new("blank")}, []source{told("Knoten", "de", long)}, []string{"de"}, []string{"Knoten"}, "Knoten"},
		"those that are asked for":    {Input{Languages: []string{"fr"}}, []source{told("Knots", "en", long)}, []string{"fr"}, []string{"Knots"}, "Knots"},
		"each title once":             {Input{}, []source{told("Knots", "en", long), told(" KNOTS ", "en", long)}, []string{"en"}, []string{"Knots"}, "Knots"},
		"what says too little":        {Input{}, []source{told("Menu", "en", "Home"), told("Knots", "en", long)}, []string{"en"}, []string{"Knots"}, "Menu"},
		"an address without text":     {Input{URL: new("https://harbour.example/x"), TemplateKey: new("blank")}, nil, []string{"en"}, nil, "harbour.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := outline(test.in, test.found, gallery(t))
			var titles []string
			for _, part := range made.Subjects {
				titles = append(titles, part.Title)
			}
			require.Equal(t, test.titles, titles)
			require.Equal(t, test.languages, made.Languages)
			require.Equal(t, test.name, made.Name)
			require.Len(t, made.Knowledge, len(test.found))
			_, err := made.Normalize(gallery(t))
			require.NoError(t, err)
		})
	}
}

// Whatever the sources say, what is put together of them can be entered.
func TestEveryOutlineCanBeEntered(t *testing.T) {
	t.Parallel()
	templates := gallery(t)
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab .\n#ß汉é")), 0, 6000, -1)
	rapid.Check(t, func(r *rapid.T) {
		var found []source
		for range rapid.IntRange(0, 30).Draw(r, "sources") {
			s := source{Title: title(text.Draw(r, "title"), "https://example.com/"), URL: "https://example.com/", Language: rapid.SampledFrom([]string{"", "en", "de"}).Draw(r, "language")}
			for range rapid.IntRange(0, 20).Draw(r, "sections") {
				s.Sections = append(s.Sections, extract.Section{Heading: text.Draw(r, "heading"), Text: text.Draw(r, "text")})
			}
			found = append(found, s)
		}
		made := outline(Input{}, found, templates)
		normalized, err := made.Normalize(templates)
		require.NoError(r, err)
		require.LessOrEqual(r, len(normalized.Knowledge), maxSources)
		require.LessOrEqual(r, len(normalized.Name), maxName)
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"}, {"One. Two. Three", 11, "One. Two."}, {"many words here", 12, "many words"}, {"汉字", 4, "汉"}, {"anything", -1, ""},
	} {
		require.Equal(t, test.want, clip(test.text, test.limit))
	}
	rapid.Check(t, func(r *rapid.T) {
		whole, limit := rapid.String().Draw(r, "text"), rapid.IntRange(-5, 50).Draw(r, "limit")
		cut := clip(whole, limit)
		require.LessOrEqual(r, len(cut), max(limit, 0))
		require.True(r, utf8.ValidString(cut))
		require.True(r, strings.HasPrefix(whole, cut))
	})
}

func TestOnlyTheLanguagesThatAreAskedFor(t *testing.T) {
	t.Parallel()
	said := language.Words{"en": " Hello\x00 ", "de": "  ", "fr": "Bonjour"}
	require.Equal(t, language.Words{"en": "Hello"}, only(said, []string{"en", "de"}, 100))
}
