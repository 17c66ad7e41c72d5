package minds

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/knowledge"
)

func TestSearchTakesAPartOfTheMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for limit, want := range map[int64]int64{
		math.MaxInt64: usualSearchMemory, 8 << 30: 2 << 30, 64 << 20: knowledge.MinSearchMemory,
	} {
		debug.SetMemoryLimit(limit)
		require.Equal(t, want, searchMemory())
	}
}
