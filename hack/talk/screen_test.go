package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	two := 2
	show := func(terminal bool) string {
		var out strings.Builder
		s := screen{out: &out, terminal: terminal}
		ready := received{}
		ready.Session.Name = "Amara"
		s.show("session-ready", ready)
		s.show("notice", received{Kind: "ai_notice", Text: "You talk with an AI."})
		s.show("state", received{State: "speaking"})
		s.show("bot-text", received{Text: "Hello!"})
		s.show("bot-text", received{Text: "How can I help?"})
		s.show("bot-text", received{Final: true, Sources: []source{{"Guide", nil}, {"Guide", nil}, {"Guide", &two}}})
		s.show("state", received{State: "listening"})
		s.entered()
		s.show("bot-text", received{Text: "We open at"})
		s.show("interrupted", received{})
		s.show("bot-text", received{Name: "Ben", Text: "And we close at six."})
		s.show("bot-text", received{Name: "Ben", Final: true})
		s.show("state", received{State: "listening"})
		s.show("notice", received{Kind: "staff_joined", Name: "Kim"})
		s.show("staff-text", received{Name: "Kim", Text: "It is me."})
		s.show("session-ended", received{EndReason: "ended_by_user"})
		return out.String()
	}
	require.Equal(t, `— You talk with an AI.
Amara: Hello! How can I help?
  ↳ Guide
  ↳ Guide, page 2
Amara: We open at
— interrupted
Ben: And we close at six.
— Kim joined
Kim: It is me.
— The conversation is over: ended by user.
`, show(false))
	typed := show(true)
	require.Contains(t, typed, "page 2\n> Amara: We open at\n")
	require.Contains(t, typed, "close at six.\n> \r\x1b[K— Kim")
}
