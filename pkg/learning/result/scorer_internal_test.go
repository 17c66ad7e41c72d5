package result

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// What was said while another language was spoken is no answer in this one.
func TestForeign(t *testing.T) {
	turn := session.Turn{Speaker: session.User, Text: "Par l'escalier", Language: "fr"}
	require.True(t, rubric.Foreign("en", "Yes.\nPar l'escalier", []session.Turn{turn}))
	require.False(t, rubric.Foreign("fr-CA", "Par l'escalier", []session.Turn{turn}))
	require.False(t, rubric.Foreign("en", "The stairs", []session.Turn{turn}))
}

// A question was asked where the avatar was heard to put all of it.
func TestAsked(t *testing.T) {
	s := session.Session{Brief: session.Brief{Goals: []persona.Goal{{Key: "alarm", Prompt: "What do you do, when it rings?"}, {Key: "oven", Prompt: "And the oven?"}}}}
	put := session.Turn{Speaker: session.Avatar, Text: "Thank you. What do you do when it rings?"}
	require.True(t, rubric.Asked(s, []session.Turn{put}, "alarm"))
	require.False(t, rubric.Asked(s, []session.Turn{put}, "oven"))
	require.False(t, rubric.Asked(s, []session.Turn{put}, "window"))
	cut := put
	cut.Interrupted, cut.Spoken = true, "Thank you. What do"
	require.False(t, rubric.Asked(s, []session.Turn{cut}, "alarm"))
	said := put
	said.Speaker = session.User
	require.False(t, rubric.Asked(s, []session.Turn{said}, "alarm"))
}
