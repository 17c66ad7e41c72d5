package agent

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// Pages of two lists that reach differently far are compared up to where both reach.
func TestPagesAreComparedWhereBothReach(t *testing.T) {
	page := func(from, n int) []candidate {
		all := make([]candidate, n)
		for i := range all {
			all[i].portal = id.Portal{byte((from + i) >> 8), byte(from + i)}
		}
		return all
	}
	there, written := page(0, refreshBatch), page(100, refreshBatch)
	until, more := common(there, written)
	require.True(t, more)
	require.Equal(t, there[refreshBatch-1].key, until)
	require.Len(t, upTo(there, until, more), refreshBatch)
	require.Len(t, upTo(written, until, more), refreshBatch-100)

	until, more = common(there, page(100, 3))
	require.True(t, more)
	require.Equal(t, there[refreshBatch-1].key, until)
	require.Len(t, upTo(page(100, 3), until, more), 3)
	require.Empty(t, upTo(page(refreshBatch+5, 3), until, more), "the next page has them")

	_, more = common(page(0, 7), page(3, 9))
	require.False(t, more)
	require.Len(t, upTo(page(0, 7), key{}, more), 7)
	require.True(t, slices.IsSortedFunc(there, func(a, b candidate) int { return a.compare(b.key) }))
}
