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
	long := before.steered(Steered{Context: text(strings.Repeat("ä", maxContext))})
	require.LessOrEqual(t, len(long.Context), maxContext)
	require.True(t, strings.HasSuffix(long.Context, "ä"), "the latest stays")
}
