package session

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSummarize(t *testing.T) {
	long := strings.Repeat("ä", 300)
	for name, c := range map[string]struct {
		turns []Turn
		want  string
	}{
		"nothing":            {nil, ""},
		"no question":        {[]Turn{{Speaker: Avatar, Text: "Hello."}}, ""},
		"no answer":          {[]Turn{{Speaker: User, Text: "Hello?"}}, ""},
		"one":                {[]Turn{{Speaker: User, Text: " When? "}, {Speaker: Avatar, Text: "At 9.30 o'clock. Or ten."}}, "When? → At 9.30 o'clock."},
		"the last question":  {[]Turn{{Speaker: User, Text: "Hm"}, {Speaker: User, Text: "When?"}, {Speaker: Staff, Text: "Now!"}}, "When? → Now!"},
		"what was heard":     {[]Turn{{Speaker: User, Text: "When?"}, {Speaker: Avatar, Text: "Now. Or later.", Spoken: "No", Interrupted: true}}, "When? → No"},
		"the first answer":   {[]Turn{{Speaker: User, Text: "a"}, {Speaker: Avatar, Text: "b"}, {Speaker: Avatar, Text: "c"}}, "a → b"},
		"other full stops":   {[]Turn{{Speaker: User, Text: "何時？"}, {Speaker: Avatar, Text: "九時です。十時です。"}}, "何時？ → 九時です。"},
		"lines":              {[]Turn{{Speaker: User, Text: "a\n\nb\tc"}, {Speaker: Avatar, Text: "d\ne"}}, "a b c → d"},
		"blotted out":        {[]Turn{{Speaker: User, Text: ""}, {Speaker: Avatar, Text: "b"}}, ""},
		"long":               {[]Turn{{Speaker: User, Text: long}, {Speaker: Avatar, Text: "b"}}, strings.Repeat("ä", 200) + "… → b"},
		"as long as it goes": {[]Turn{{Speaker: User, Text: long[:400]}, {Speaker: Avatar, Text: "b"}}, strings.Repeat("ä", 200) + " → b"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Summarize(c.turns)
			if c.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, c.want, *got)
		})
	}
}

func TestSummariesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var turns []Turn
		for range rapid.IntRange(0, 40).Draw(t, "turns") {
			turns = append(turns, Turn{
				Speaker: rapid.SampledFrom([]Speaker{User, Avatar, Staff}).Draw(t, "speaker"),
				Text:    strings.Repeat(rapid.StringN(0, 20, -1).Draw(t, "text"), rapid.IntRange(1, 100).Draw(t, "times")),
			})
		}
		got := Summarize(turns)
		if got == nil {
			return
		}
		lines := strings.Split(*got, "\n")
		require.LessOrEqual(t, len(lines), maxSummaryTopics)
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 2*(maxSummaryLine+2)+3)
		}
	})
	huge := strings.Repeat("a.", 1_000_000)
	require.NotNil(t, Summarize([]Turn{{Speaker: User, Text: huge}, {Speaker: Avatar, Text: huge}}))
}

func TestRedact(t *testing.T) {
	for name, c := range map[string]struct {
		rules      []string
		text, want string
	}{
		"no rules":         {nil, "ann@example.com", "ann@example.com"},
		"an address":       {[]string{"email"}, "to ann.b+c@mail.example.com, please", "to ▇▇▇, please"},
		"no address":       {[]string{"email"}, "at @home or a@b", "at @home or a@b"},
		"other letters":    {[]string{"email"}, "jörg@müller.de", "▇▇▇"},
		"a number":         {[]string{"phone"}, "call +49 (30) 123-456 now", "call ▇▇▇ now"},
		"numbers":          {[]string{"phone"}, "0049 30 1234567 or 030/1234567", "▇▇▇ or ▇▇▇"},
		"a small number":   {[]string{"phone"}, "room 123456", "room 123456"},
		"a card":           {[]string{"card"}, "4111-1111 1111 1111.", "▇▇▇."},
		"not a card":       {[]string{"card"}, "4111 1111 1111", "4111 1111 1111"},
		"a card as phone":  {[]string{"phone", "card"}, "6304 0000 0000 0000 000", "▇▇▇"},
		"a word":           {[]string{"Project X."}, "PROJECT X. or project xy", "▇▇▇ or project xy"},
		"a longer word":    {[]string{"ann", "anna"}, "Anna and Ann", "▇▇▇ and ▇▇▇"},
		"in an address":    {[]string{"ann", "email"}, "ann@example.com", "▇▇▇"},
		"no word":          {[]string{" ", ""}, "a b", "a b"},
		"a pattern":        {[]string{"a|b", "(", `\E`}, `a b a|b ( \E`, "a b ▇▇▇ ▇▇▇ ▇▇▇"},
		"spaces around it": {[]string{" email "}, "a@b.de", "▇▇▇"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, redactionOf(c.rules).blot(c.text))
		})
	}
}

func TestAnalyze(t *testing.T) {
	begin := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	spoken := func(t Turn, ms int64) Turn {
		t.StartedAt = begin
		t.EndedAt = new(begin.Add(time.Duration(ms) * time.Millisecond))
		return t
	}
	a := Analyze([]Turn{
		spoken(Turn{Speaker: Avatar, Origin: Greeting, Text: "Good day to you", Spoken: "Good day", Interrupted: true, Timing: Timing{-1, -1, -1, false}}, 700),
		spoken(Turn{Speaker: User, Text: "When do you open?", Language: "en"}, 900),
		spoken(Turn{Speaker: Avatar, Text: "At nine", Grounded: new(true), Timing: Timing{300, 20, 0, false}, ToolCalls: []ToolCall{{Status: "failed"}, {Status: "done"}}}, 400),
		spoken(Turn{Speaker: User, Text: "Und wo?", Language: "de"}, 100),
		{Speaker: Avatar, Text: "Hm", Grounded: new(false), Timing: Timing{100, 10, -1, false}, StartedAt: begin},
		spoken(Turn{Speaker: Staff, Text: "Here"}, 5000),
	})
	p := func(p50, p90, p95, most int64) Percentiles { return Percentiles{&p50, &p90, &p95, &most} }
	require.Equal(t, Analytics{
		UserTurns: 2, AvatarTurns: 3, Interruptions: 1, UserMs: 1000, AvatarMs: 1100, UserWords: 6, AvatarWords: 5,
		Response: p(100, 300, 300, 300), Retrieval: p(10, 20, 20, 20), ModelFirst: p(0, 0, 0, 0),
		Queries: 2, Grounded: 1, Gaps: 1, ToolsTotal: 2, ToolsFailed: 1, Languages: map[string]int64{"en": 1, "de": 1},
	}, a)
	require.Equal(t, Analytics{Languages: map[string]int64{}}, Analyze(nil))
}

func TestPercentiles(t *testing.T) {
	upTo := func(n int64) (times []int64) {
		for i := n; i > 0; i-- {
			times = append(times, i)
		}
		return times
	}
	for _, c := range []struct{ n, p50, p90, p95, most int64 }{{1, 1, 1, 1, 1}, {2, 1, 2, 2, 2}, {10, 5, 9, 10, 10}, {20, 10, 18, 19, 20}, {100, 50, 90, 95, 100}} {
		got := percentiles(upTo(c.n))
		require.Equal(t, []int64{c.p50, c.p90, c.p95, c.most}, []int64{*got.P50, *got.P90, *got.P95, *got.Max})
	}
	require.Equal(t, Percentiles{}, percentiles(nil))
}
