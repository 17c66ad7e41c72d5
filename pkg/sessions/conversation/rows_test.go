package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// Rows of a table that answer alike are said together, and are as sure together.
func TestRowsThatAnswerAlike(t *testing.T) {
	table := shelf{{
		Document: id.NewDocument(), Chunk: id.NewChunk(), Title: "Museum", Heading: "Admission", Language: "en", Score: 0.8,
		Text: "Ticket: Adults; Price: $16\nTicket: Young people; Price: $7\nTicket: Students; Price: $9\nTicket: Seniors; Price: $11",
	}}
	r, err := asked(t, "what's the entrance fee", func(c *Config) { c.Knowledge = table })
	require.NoError(t, err)
	require.False(t, r.Gap)
	for _, price := range []string{"$16", "$7", "$9", "$11"} {
		require.Contains(t, r.Text, price)
	}
	r, err = asked(t, "what do students pay", func(c *Config) { c.Knowledge = table })
	require.NoError(t, err)
	require.Contains(t, r.Text, "$9")
	require.NotContains(t, r.Text, "$16")
}
