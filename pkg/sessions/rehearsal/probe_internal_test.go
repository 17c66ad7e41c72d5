package rehearsal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
)

func TestProbesOfADocument(t *testing.T) {
	d := &knowledge.Document{ID: id.NewDocument(), Title: "Guide", Language: new("en")}
	chunk := func(heading, text string) knowledge.Chunk {
		return knowledge.Chunk{ID: id.NewChunk(), Heading: heading, Text: text}
	}
	parking := chunk("Parking", "You may leave your car behind the house.")
	prices := chunk("Prices", "Ticket: Adult; Price: 12 €; Note: by day\nTicket: Child; Price: 6 €\n- Audio guide: 4 €\n- 2024: 3 €\n- Open: daily")
	more := chunk("Prices", "Cards are taken.")
	none := chunk("", "Welcome.")
	all := probesOf(d, []knowledge.Chunk{parking, prices, more, none}, "de")
	found := map[string]Probe{}
	for _, p := range all {
		require.Equal(t, []any{"en", d.ID, "Guide"}, []any{p.Language, p.Text, p.Title})
		require.NotContains(t, found, p.Question, "each is asked once")
		found[p.Question] = p
	}
	require.Equal(t, []id.Chunk{prices.ID, more.ID}, found["Prices"].Chunks)
	require.Equal(t, []string{"12"}, found["Adult Price"].Figures)
	require.Equal(t, []string{"6"}, found["Child Price"].Figures)
	require.Equal(t, []string{"4"}, found["Audio guide Prices"].Figures)
	require.NotContains(t, found, "Adult Note", "it has no figure")
	require.NotContains(t, found, "Open Prices", "it has no figure")
	var concepts []string
	for _, p := range all {
		if p.Of == OfConcept {
			require.NotEmpty(t, p.Concept)
			require.NotContains(t, []string{"Parking", "parking", "Prices", "prices", "car"}, p.Question, "the document has these words")
			concepts = append(concepts, p.Heading)
		}
	}
	require.Contains(t, concepts, "Parking")
}

func TestSpread(t *testing.T) {
	require.Equal(t, []int{1, 2, 3}, spread([]int{1, 2, 3}, 3))
	require.Equal(t, []int{0, 2, 5, 7}, spread([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 4))
}

func TestJudgeOfAProbe(t *testing.T) {
	own, other := id.NewChunk(), id.NewChunk()
	reply := func(text string, from id.Chunk) conversation.Reply {
		return conversation.Reply{Text: text, Grounded: new(true), Sources: []conversation.Source{{Source: session.Source{ChunkID: from}}}}
	}
	heading, fact := Probe{Chunks: []id.Chunk{own}}, Probe{Chunks: []id.Chunk{own}, Figures: []string{"12", "6"}}
	require.Empty(t, heading.judge(reply("Behind the house.", own)))
	require.Equal(t, OtherPassage, heading.judge(reply("Behind the house.", other)))
	require.Empty(t, fact.judge(reply("It is 12 €, or 6 € for children.", other)), "wherever it says so")
	require.Equal(t, FigureAbsent, fact.judge(reply("It is 126 €.", own)))
	require.Equal(t, Unknown, heading.judge(conversation.Reply{Gap: true, Grounded: new(false)}))
	require.Equal(t, NotLookedUp, heading.judge(conversation.Reply{Text: "Hello!"}))
}
