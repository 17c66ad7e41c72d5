package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shownMoves is what the tool prints of moves.
type shownMoves []struct {
	ID, From, To, Phase, Problem string
	DueAt                        *string
}

func TestAnOrganizationIsMovedByHand(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	adminTool[map[string]any](t, p.directory, "shard", "add", "two", "--url", newDatabase(t))
	refused := func(want string, args ...string) {
		t.Helper()
		_, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory, "org"}, args...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, want)
	}
	refused("There is no shard three.", "move", p.org, "--to", "three", "--yes")
	refused("lives on the shard one already", "move", p.org, "--to", "one", "--yes")
	refused("not moved: say yes", "move", p.org, "--to", "two")
	refused("was never moved", "move-status", p.org)
	refused("no move that can be stopped", "move-cancel", p.org)

	asked := adminTool[shownMoves](t, p.directory, "org", "move", p.org, "--to", "two", "--yes")
	require.Len(t, asked, 1)
	require.Equal(t, "preflight", asked[0].Phase)
	require.Equal(t, asked, adminTool[shownMoves](t, p.directory, "org", "move-status"))
	refused("is being moved from one to two already", "move", p.org, "--to", "two", "--yes")
	adminTool[shownMoves](t, p.directory, "org", "move-cancel", p.org)
	_, stderr, code := execute(t, nil, "admin", "--database", p.directory, "show", "orgs")
	require.Zero(t, code, stderr)

	p.work(t)
	require.Eventually(t, func() bool {
		return adminTool[shownMoves](t, p.directory, "org", "move-status", p.org)[0].Phase == "cancelled"
	}, 30*time.Second, 50*time.Millisecond)
	moved := adminTool[shownMoves](t, p.directory, "org", "move", p.org, "--to", "two", "--yes", "--wait")
	require.Equal(t, "keep", moved[0].Phase)
	require.Equal(t, "two", adminTool[[]shownOrg](t, p.directory, "org", "list")[0].Shard)
}
