package translation

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

func questions() subject.Content {
	return subject.Content{
		Intro: language.Words{"en": "Hello"},
		Questions: []subject.Question{
			{
				Key: "loop", Text: language.Words{"en": "Which knot?", "de": "Welcher Knoten?"},
				Options: []subject.Option{{Key: "a", Text: language.Words{"en": "Bowline"}}},
				Rubric: []subject.Criterion{{
					Key: "clear", Label: language.Words{"de": "Klar"}, Levels: []subject.Level{{Description: language.Words{"en": "Says it"}}, {}},
				}},
			},
			{Key: "why", Text: language.Words{"fr": "Pourquoi ?", "es": "¿Por qué?"}},
		},
	}
}

func TestPlan(t *testing.T) {
	all := []Piece{
		{"loop", "options.a", "Bowline", "en", "de", "", 500},
		{"loop", "rubric.clear.0", "Says it", "en", "de", "", 1000},
		{"why", "text", "¿Por qué?", "es", "de", "", 2000},
	}
	french := []Piece{
		{"loop", "text", "Which knot?", "en", "fr", "", 2000}, {"loop", "options.a", "Bowline", "en", "fr", "", 500},
		{"loop", "rubric.clear", "Klar", "de", "fr", "", 200}, {"loop", "rubric.clear.0", "Says it", "en", "fr", "", 1000},
	}
	for name, test := range map[string]struct {
		request Request
		want    []Piece
	}{
		"what lacks":    {Request{Languages: []string{"de"}, Source: "en"}, all},
		"one question":  {Request{Languages: []string{"de"}, Source: "en", Keys: []string{"why"}}, all[2:]},
		"several":       {Request{Languages: []string{"de", "fr"}, Source: "en"}, append(all[:3:3], french...)},
		"what is there": {Request{Languages: []string{"es"}, Source: "fr", Keys: []string{"why"}, Overwrite: true}, []Piece{{"why", "text", "Pourquoi ?", "fr", "es", "¿Por qué?", 2000}}},
		"into the source": {Request{Languages: []string{"en"}, Source: "en", Keys: []string{"loop"}, Overwrite: true}, []Piece{
			{"loop", "text", "Welcher Knoten?", "de", "en", "Which knot?", 2000}, {"loop", "rubric.clear", "Klar", "de", "en", "", 200},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Plan(questions(), test.request)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	_, err := Plan(questions(), Request{Keys: []string{"why", "nothing"}})
	var unknown *UnknownKeyError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, 1, unknown.Index)
}

// Whatever people write meanwhile is there afterwards.
func TestNobodysWordsAreLost(t *testing.T) {
	codes := []string{"en", "de", "fr", "es"}
	rapid.Check(t, func(t *rapid.T) {
		read := questions()
		pieces, err := Plan(read, Request{Languages: codes, Source: "en", Overwrite: rapid.Bool().Draw(t, "overwrite")})
		require.NoError(t, err)
		translations := make([]string, len(pieces))
		for i := range pieces {
			translations[i] = "translated"
		}
		newest := questions()
		if rapid.Bool().Draw(t, "dropped") {
			newest.Questions = newest.Questions[1:]
		}
		written := map[string]string{}
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			q := &newest.Questions[rapid.IntRange(0, len(newest.Questions)-1).Draw(t, "question")]
			list := parts(q)
			p := list[rapid.IntRange(0, len(list)-1).Draw(t, "part")]
			code := rapid.SampledFrom(codes).Draw(t, "language")
			edited := maps.Clone(*p.words)
			if edited == nil {
				edited = language.Words{}
			}
			edited[code] = rapid.StringMatching("by hand [a-z]+").Draw(t, "text")
			*p.words = edited
			written[q.Key+"/"+p.name+"/"+code] = edited[code]
		}
		before := newest.Questions[0].Text
		kept := maps.Clone(before)
		after := Apply(newest, pieces, translations)
		require.Equal(t, kept, before, "what was given stays as it was")
		require.Len(t, after.Questions, len(newest.Questions))
		require.Equal(t, newest.Intro, after.Intro)
		for i := range after.Questions {
			q := &after.Questions[i]
			for _, p := range parts(q) {
				for code, text := range *p.words {
					if by, ok := written[q.Key+"/"+p.name+"/"+code]; ok {
						require.Equal(t, by, text)
					}
				}
			}
		}
	})
}

func TestApply(t *testing.T) {
	read := questions()
	pieces, err := Plan(read, Request{Languages: []string{"fr"}, Source: "en"})
	require.NoError(t, err)
	newest := questions()
	newest.Questions[0].Options[0].Text["en"] = "The bowline" // which nobody translated
	after := Apply(newest, pieces, []string{"Quel nœud ?", "Nœud de chaise", "Clair", "Le dit"})
	q := after.Questions[0]
	require.Equal(t, "Quel nœud ?", q.Text["fr"])
	require.NotContains(t, q.Options[0].Text, "fr")
	require.Equal(t, "Clair", q.Rubric[0].Label["fr"])
	require.Equal(t, "Le dit", q.Rubric[0].Levels[0].Description["fr"])
	require.NotContains(t, newest.Questions[0].Text, "fr")
	require.NotContains(t, newest.Questions[0].Rubric[0].Levels[0].Description, "fr")
}

func TestBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Piece {
			return Piece{
				Text: rapid.StringN(1, 4000, -1).Draw(t, "text"), From: rapid.SampledFrom([]string{"en", "de"}).Draw(t, "from"),
				To: rapid.SampledFrom([]string{"fr", "es"}).Draw(t, "to"),
			}
		}), 1, 60).Draw(t, "pieces")
		for n := 0; n < len(pieces); {
			got := batch(pieces, n)
			require.NotEmpty(t, got)
			require.LessOrEqual(t, len(got), batchPieces)
			characters := 0
			for i, p := range got {
				require.Equal(t, pieces[n+i], p)
				require.Equal(t, []string{got[0].From, got[0].To}, []string{p.From, p.To})
				characters += len([]rune(p.Text))
			}
			require.True(t, len(got) == 1 || characters <= batchCharacters)
			n += len(got)
		}
	})
}

func TestRead(t *testing.T) {
	pieces := []Piece{{Limit: 5}, {Limit: 5}}
	for answer, want := range map[string][]string{
		`{"0":"a","1":"b"}`:                         {"a", "b"},
		"```json\n{\"1\":\" b \",\"0\":\"a\"}\n```": {"a", "b"},
		"```\n{\"0\":\"éàüöß\",\"1\":\"b\"}```":     {"éàüöß", "b"},
		`{"0":"a"}`:                 nil,
		`{"0":"a","2":"b"}`:         nil,
		`{"0":"a","1":"b","2":"c"}`: nil,
		`{"0":"a","1":""}`:          nil,
		`{"0":"a","1":"too long"}`:  nil,
		`{"0":"a","1":2}`:           nil,
		`{"0":"a","1":null}`:        nil,
		`{"0":"a","1":"\u0000"}`:    nil,
		`["a","b"]`:                 nil,
		`{"0":"a","1":"b"} there.`:  nil,
		`Here: {"0":"a","1":"b"}`:   nil,
		``:                          nil,
	} {
		got, err := read(answer, pieces)
		require.Equal(t, want, got, answer)
		require.Equal(t, want == nil, err != nil, answer)
		if err != nil {
			require.ErrorIs(t, err, errMalformed)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"0":"a"}`, "```json\n{}\n```", "``", `{"0":"\ud800"}`, ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := read(answer, []Piece{{Limit: 10}})
		if err != nil {
			require.ErrorIs(t, err, errMalformed)
			return
		}
		require.Len(t, got, 1)
		require.NotEmpty(t, got[0])
		require.LessOrEqual(t, len([]rune(got[0])), 10)
	})
}
