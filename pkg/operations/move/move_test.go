package move_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

func TestEverythingMoves(t *testing.T) {
	both(t, func(t *testing.T, option func(*move.Options)) {
		w := newWorld(t, option)
		org, other := w.organization("a"), w.organization("a")
		w.furnish(org, "a", 20)
		w.furnish(other, "a", 2)
		before, others := w.everything(org, "a"), w.everything(other, "a")
		require.Len(t, before, len(w.fill))

		m := w.moves(org, "b")
		require.Equal(t, directory.Moved, m.Phase, m.Problem)
		require.Empty(t, m.Problem)
		require.Equal(t, before, w.everything(org, "b"))
		require.Empty(t, w.everything(org, "a"), "nothing is kept")
		require.Equal(t, others, w.everything(other, "a"))
		require.Empty(t, w.everything(other, "b"))

		o, err := w.directory.Organization(t.Context(), org)
		require.NoError(t, err)
		require.Equal(t, "b", o.Shard)
		require.Equal(t, tenant.Fence{Epoch: o.Epoch, State: tenant.Open}, w.fence("b", org))
		require.Equal(t, tenant.Fence{Epoch: o.Epoch, State: tenant.Moved, MovedTo: "b"}, w.fence("a", org), "the sign stays")
		require.NoError(t, w.write(t.Context(), org, "after"), "a process that knew the old route")

		back := w.moves(org, "a")
		require.Equal(t, directory.Moved, back.Phase, back.Problem)
		require.NoError(t, w.write(t.Context(), org, "and back"))
		require.Len(t, w.everything(org, "a")["setting"], len(before["setting"])+2)
	})
}
