package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABriefIsSteered(t *testing.T) {
	text := func(s string) *string { return &s }
	before := Brief{Context: "one", Variables: map[string]string{"a": "1", "b": "2"}}
	after := before.steered(Steered{Context: text("two"), Instructions: text("be brief"), Variables: map[string]string{"b": "3"}})
	require.Equal(t, "one\ntwo", after.Context)
	require.Equal(t, "be brief", *after.Instructions)
	require.Equal(t, map[string]string{"a": "1", "b": "3"}, after.Variables)
	require.Equal(t, map[string]string{"a": "1", "b": "2"}, before.Variables, "what it was is left alone")
	require.Equal(t, before, before.steered(Steered{}))
	off := before.steered(Steered{Listening: new(false), Mute: new(true), Goal: text("need")})
	require.Equal(t, []any{true, true, "need"}, []any{off.Deaf, off.Mute, off.Goal})
	require.Equal(t, off, off.steered(Steered{}), "what is not named stays")
	on := off.steered(Steered{Listening: new(true), Mute: new(false)})
	require.Equal(t, []any{false, false, "need"}, []any{on.Deaf, on.Mute, on.Goal})
	long := before.steered(Steered{Context: text(strings.Repeat("ä", maxContext))})
	require.LessOrEqual(t, len(long.Context), maxContext)
	require.True(t, strings.HasSuffix(long.Context, "ä"), "the latest stays")
}
