package memory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/session"
)

func texts(items []Item) (found []string) {
	for _, i := range items {
		found = append(found, i.Line())
	}
	return found
}

func TestMerge(t *testing.T) {
	before := []Item{{Key: "name", Text: "Kim"}, {Text: "I live in Bern."}, {Text: "I like rye."}}
	fresh := []Item{{Key: "name", Text: "Kim Meier"}, {Text: "i LIVE in  Bern"}, {Text: "I work at night."}}
	require.Equal(t, []string{"name: Kim Meier", "i LIVE in  Bern", "I work at night.", "I like rye."}, texts(Merge(before, fresh)))
	require.Empty(t, Merge(nil, nil))
}

func TestAnyMerge(t *testing.T) {
	item := rapid.Custom(func(t *rapid.T) Item {
		return Item{Key: rapid.SampledFrom([]string{"", "name", "city"}).Draw(t, "key"), Text: rapid.StringMatching(`[a-cA-C .]{1,4}`).Draw(t, "text")}
	})
	rapid.Check(t, func(t *rapid.T) {
		before, fresh := rapid.SliceOfN(item, 0, 30).Draw(t, "before"), rapid.SliceOfN(item, 0, 30).Draw(t, "fresh")
		merged := Merge(before, fresh)
		require.LessOrEqual(t, len(merged), MaxItems)
		seen := map[[2]string]bool{}
		for _, i := range merged {
			require.False(t, seen[i.identity()], "%q is there twice", i.Line())
			seen[i.identity()] = true
		}
		// The newest of everything comes first, and is left out only for room.
		all := append(append([]Item{}, fresh...), before...)
		at := 0
		for _, i := range all {
			if at < len(merged) && merged[at] == i {
				at++
				continue
			}
			require.True(t, seen[i.identity()] || len(merged) == MaxItems)
		}
		require.Equal(t, len(merged), at)
		require.Equal(t, merged, Merge(merged, nil), "what was merged stays")
		require.Equal(t, merged, Merge(merged, merged))
	})
}

func user(language, text string) session.Turn {
	return session.Turn{Speaker: session.User, Language: language, Text: text}
}

func TestSaid(t *testing.T) {
	for name, c := range map[string]struct {
		turns []session.Turn
		want  []string
	}{
		"a sentence":           {[]session.Turn{user("en", "Hello. My name is Kim. Where is it?")}, []string{"My name is Kim."}},
		"the last first":       {[]session.Turn{user("en", "I live in Bern."), user("en-GB", "I’m learning Greek! I work nights")}, []string{"I work nights", "I’m learning Greek!", "I live in Bern."}},
		"a question":           {[]session.Turn{user("en", "I like what?")}, nil},
		"nothing more":         {[]session.Turn{user("en", "I like ...")}, nil},
		"within a sentence":    {[]session.Turn{user("en", "She said my name is Kim.")}, nil},
		"the beginning alone":  {[]session.Turn{user("en", "I likened it to a boat.")}, nil},
		"the avatar":           {[]session.Turn{{Speaker: session.Avatar, Language: "en", Text: "My name is Mira."}}, nil},
		"German":               {[]session.Turn{user("de-CH", "Guten Tag, ich bin da. Ich heiße Kim.\nIch wohne in Bern.")}, []string{"Ich wohne in Bern.", "Ich heiße Kim."}},
		"French":               {[]session.Turn{user("fr", "J’habite à Lyon.")}, []string{"J’habite à Lyon."}},
		"Spanish":              {[]session.Turn{user("es", "Me llamo Kim.")}, []string{"Me llamo Kim."}},
		"another language's":   {[]session.Turn{user("de", "My name is Kim.")}, nil},
		"an unknown language":  {[]session.Turn{user("tlh", "My name is Kim.")}, nil},
		"what is not kept":     {[]session.Turn{user("en", "")}, nil},
		"too long":             {[]session.Turn{user("en", "I like "+strings.Repeat("very ", 60)+"much.")}, nil},
		"a number in it":       {[]session.Turn{user("en", "I work 3.5 days a week.")}, []string{"I work 3.5 days a week."}},
		"interrupted and lost": {[]session.Turn{{Speaker: session.User, Language: "en", Text: "I like rye.", Interrupted: true}}, nil},
	} {
		require.Equal(t, c.want, said(c.turns), name)
	}
	many := said([]session.Turn{user("en", strings.Repeat("I like rye. ", 50))})
	require.Len(t, many, maxSaid)
}

func TestFacts(t *testing.T) {
	words := "My name is Kim.\nI work in a bakery in Bern."
	for name, c := range map[string]struct {
		answer string
		want   []string
		bad    bool
	}{
		"a list":           {`["Is called Kim.", "Works in a bakery."]`, []string{"Is called Kim.", "Works in a bakery."}, false},
		"in a fence":       {"```json\n[\"Is called Kim.\"]\n```", []string{"Is called Kim."}, false},
		"none":             {`[]`, nil, false},
		"made up":          {`["Owns three dogs.", "Is called Kim."]`, []string{"Is called Kim."}, false},
		"too long":         {`["Kim ` + strings.Repeat("x", 200) + `"]`, nil, false},
		"too many":         {`["Kim","Kim","Kim","Kim","Kim","Kim","Kim","Kim","Kim"]`, []string{"Kim", "Kim", "Kim", "Kim", "Kim", "Kim", "Kim", "Kim"}, false},
		"several lines":    {`["Is\n called\tKim."]`, []string{"Is called Kim."}, false},
		"prose":            {`The person is called Kim.`, nil, true},
		"objects":          {`[{"fact": "Kim"}]`, nil, true},
		"not to its end":   {`["Is called Kim."`, nil, true},
		"the wrong way on": {`] and [`, nil, true},
	} {
		found, err := facts(c.answer, words)
		require.Equal(t, c.bad, err != nil, name)
		require.Equal(t, c.want, found, name)
		if c.bad {
			require.ErrorIs(t, err, upstream.ErrMalformed)
		}
	}
	found, err := facts(`["住在东京", "喜欢猫"]`, "我住在东京。")
	require.NoError(t, err)
	require.Equal(t, []string{"住在东京"}, found)
}

func FuzzFacts(f *testing.F) {
	f.Add(`["Is called Kim."]`, "My name is Kim.")
	f.Add("][", "")
	f.Fuzz(func(t *testing.T, answer, words string) {
		found, err := facts(answer, words)
		require.LessOrEqual(t, len(found), maxSaid)
		for _, text := range found {
			require.NoError(t, err)
			require.NotEmpty(t, text)
			require.LessOrEqual(t, len([]rune(text)), MaxText)
			require.Equal(t, storable(text), text)
		}
	})
}

func TestSpoken(t *testing.T) {
	turns := []session.Turn{user("en", strings.Repeat("old ", 2000)), user("en", "I work\nhere."), {Speaker: session.Avatar, Text: "Fine."}, user("en", "Bye.")}
	require.Equal(t, "I work here.\nBye.", spoken(turns))
}

func TestCollected(t *testing.T) {
	at := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	s := session.Session{ID: id.NewSession(), EndedAt: &at, Collected: map[string]string{"name": "Kim", "city": " Bern ", "none": "", "essay": strings.Repeat("x", 201)}}
	require.Equal(t, []Item{{"city", "Bern", s.ID, at}, {"name", "Kim", s.ID, at}}, collected(s))
}
