package record

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// From every leaf of a tree its path leads to the root, and from nothing else.
func TestPathsLeadToTheRoot(t *testing.T) {
	for n := 1; n <= 33; n++ {
		leaves := make([]Hash, n)
		for i := range leaves {
			leaves[i] = digest("test", fmt.Append(nil, i))
		}
		root, paths := tree(leaves)
		for i, l := range leaves {
			path := unpack(pack(paths[i]))
			require.Equal(t, root, climb(l, path), "leaf %d of %d", i, n)
			require.NotEqual(t, root, climb(digest("test", []byte("another")), path))
			if n > 1 {
				require.NotEqual(t, root, climb(leaves[(i+1)%n], path))
				path[0].Left = !path[0].Left
				require.NotEqual(t, root, climb(l, path))
			}
		}
	}
}
