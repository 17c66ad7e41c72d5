package minds

import (
	"math"
	"runtime/debug"

	"visavis.dev/pkg/personas/knowledge"
)

// usualSearchMemory is what the knowledge packs in memory take where the process
// may use what it likes.
const usualSearchMemory = 256 << 20

// searchMemory is what the knowledge packs in memory take unless told otherwise: a
// quarter of what the Go runtime may use, and enough for any pack. What the runtime may
// use of its container is the program's to find out and to set.
func searchMemory() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return usualSearchMemory
	}
	return max(limit/4, knowledge.MinSearchMemory)
}
