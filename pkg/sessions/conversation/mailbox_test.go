package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is heard takes no place of the owner's, and words that others follow none of those
// that are whole.
func TestWhatIsHeardLeavesPlaceForOrders(t *testing.T) {
	c := &Conversation{mail: newMailbox()}
	for range 5000 {
		c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "so"})
	}
	require.True(t, c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "so it is", Whole: true}))
	for range 5000 {
		c.Hear(Heard{Kind: VoiceBegan, Segment: 2})
	}
	require.False(t, c.Hear(Heard{Kind: VoiceEnded, Segment: 2}))
	require.True(t, c.Say(Say{Text: "Hello."}))
	require.True(t, c.Receive(ClientMessage{Type: UserText, Text: "Hello."}))
	n := 0
	for {
		if _, ok, _ := c.mail.take(); !ok {
			break
		}
		n++
	}
	require.Equal(t, 64+256+2, n)
	require.True(t, c.Hear(Heard{Kind: VoiceBegan, Segment: 3}))
}
