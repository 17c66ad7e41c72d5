package floor_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/floor"
)

func open(style, handover string, balance float64, names ...string) *floor.Floor {
	if names == nil {
		names = []string{"Ada", "Ben"}
	}
	return floor.New(persona.Cast{
		Hosts: []persona.Host{
			{Seat: "right", Name: names[1], Role: "partner"}, {Seat: "left", Name: names[0], Role: "lead"},
		},
		Interplay: persona.Interplay{Style: style, Handover: handover, Balance: balance},
	})
}

// answer divides an answer of sentences, and is who says each: A or B.
func answer(f *floor.Floor, sentences ...string) string {
	began := f.Begins(sentences[0])
	f.Said(began, sentences[0])
	spoke, out := began, began.Name[:1]
	for i, s := range sentences[1:] {
		spoke = f.GoesOn(began, spoke, i+1, s)
		f.Said(spoke, s)
		out += spoke.Name[:1]
	}
	return out
}

var five = []string{"One sentence here.", "Two sentences now.", "Three of the kind.", "Four, it is alike.", "Five is the last."}

func TestAnswersAreDivided(t *testing.T) {
	for name, c := range map[string]struct {
		style, handover string
		balance         float64
		want            []string // of one answer after the other
	}{
		"co-hosts alternate":                  {"co_host", "natural", 0.5, []string{"ABABA", "BABAB"}},
		"co-hosts, turn by turn":              {"co_host", "strict", 0.5, []string{"AAAAA", "BBBBB", "AAAAA"}},
		"co-hosts of whom one says more":      {"co_host", "natural", 0.75, []string{"ABAAA", "ABAAB"}},
		"all is the lead's":                   {"co_host", "natural", 1, []string{"AAAAA", "AAAAA"}},
		"nothing is the lead's":               {"co_host", "strict", 0, []string{"BBBBB", "BBBBB"}},
		"an interview is the partner's":       {"interview", "natural", 0, []string{"BBBBB", "BBBBB"}},
		"an interviewer takes over":           {"interview", "natural", 0.5, []string{"BAAAA", "BBBAA"}},
		"a strict interview has parts":        {"interview", "strict", 0.9, []string{"BBBBB", "BBBBB"}},
		"who teaches explains":                {"teach", "natural", 1, []string{"AAAAA", "AAAAA"}},
		"whom one teaches sums up":            {"teach", "natural", 0.75, []string{"ABBBB", "AAAAA", "AAAAA"}},
		"a strict lesson has parts":           {"teach", "strict", 0.1, []string{"AAAAA", "AAAAA"}},
		"a debate has both in every answer":   {"debate", "natural", 1, []string{"ABAAA", "ABAAA"}},
		"a strict debate goes turn by turn":   {"debate", "strict", 0.5, []string{"AAAAA", "BBBBB"}},
		"a debate alternates as to the share": {"debate", "natural", 0.5, []string{"ABABA", "BABAB"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(c.style, c.handover, c.balance)
			var got []string
			for range c.want {
				got = append(got, answer(f, five...))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// Where no style gives the hosts parts, the shares come as near to the balance as one sentence, or one answer, lets them.
func TestSharesComeToTheBalance(t *testing.T) {
	sentences := strings.SplitAfter("Short. A little longer than that. This is quite a long sentence, which says a lot. No. It is noon.", ". ")
	for _, style := range []string{"co_host", "debate"} {
		for _, handover := range []string{"natural", "strict"} {
			for _, balance := range []float64{0.2, 0.5, 0.8} {
				f := open(style, handover, balance)
				said := map[byte]int{}
				for range 60 {
					for i, who := range []byte(answer(f, sentences...)) {
						said[who] += len(sentences[i])
					}
				}
				share := float64(said['A']) / float64(said['A']+said['B'])
				near := 0.04
				if style == "debate" && handover == "natural" {
					near = 0.1 // both are heard in every answer
				}
				require.Less(t, math.Abs(share-balance), near, "%s %s %v", style, handover, balance)
			}
		}
	}
}

func TestWhoAsks(t *testing.T) {
	require.Equal(t, "Ada", open("interview", "natural", 0.5).Asks("What?").Name)
	require.Equal(t, "Ben", open("teach", "natural", 0.5).Asks("What?").Name)
	f := open("co_host", "natural", 0.5)
	f.Said(f.Lead(), "Hello, I am Ada.")
	require.Equal(t, "Ben", f.Asks("What?").Name, "who has said less")
}

func TestAddressed(t *testing.T) {
	long := []string{"Dr. Ada Lovelace", "Ben O'Neil"}
	for _, c := range []struct {
		names []string
		text  string
		want  string
	}{
		{nil, "Ben, when do you open?", "Ben"},
		{nil, "and what do you think, ADA?", "Ada"},
		{nil, "Ada and Ben, who are you?", ""},
		{nil, "When do you open?", ""},
		{nil, "Where is the bench, and the Canada geese?", ""},
		{long, "ben o'neil, please", "Ben O'Neil"},
		{long, "Ben?", "Ben O'Neil"},
		{[]string{"Anna Berg", "Anna Tal"}, "Anna, who are you?", ""},
		{[]string{"Anna Berg", "Anna Tal"}, "Anna Tal, who are you?", "Anna Tal"},
		{[]string{"Zoë", "Ben"}, "Zoe, who are you?", "Zoë"},
		{[]string{"小美", "大伟"}, "请问小美几点开门", "小美"},
		{[]string{"ليلى", "عمر"}, "يا عمر، متى تفتحون؟", "عمر"},
		{[]string{"…", "Ben"}, "… Ben", "Ben"},
	} {
		got := ""
		if h := open("co_host", "natural", 0.5, c.names...).Addressed(c.text); h != nil {
			got = h.Name
		}
		require.Equal(t, c.want, got, c.text)
	}
}

func TestNamed(t *testing.T) {
	f := open("co_host", "natural", 0.5, "Ada Lovelace", "大伟")
	for text, want := range map[string][2]string{
		"Ada: Hello.":          {"Ada Lovelace", "Hello."},
		"ada lovelace : Hi.":   {"Ada Lovelace", "Hi."},
		"大伟：您好。":               {"大伟", "您好。"},
		"Note: Ada is here.":   {"", "Note: Ada is here."},
		"We open at 9:30.":     {"", "We open at 9:30."},
		": nothing":            {"", ": nothing"},
		"Ada says: come in.":   {"", "Ada says: come in."},
		"No name and no mark.": {"", "No name and no mark."},
	} {
		h, rest := f.Named(text)
		name := ""
		if h != nil {
			name = h.Name
		}
		require.Equal(t, want, [2]string{name, rest})
	}
}
