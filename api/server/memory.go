package server

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"visavis.dev/pkg/knowledge"
)

// usualSearchMemory is what the knowledge packs in memory take where the process
// may use what it likes.
const usualSearchMemory = 256 << 20

// searchMemory is what the knowledge packs in memory take unless told otherwise: a
// quarter of what the process may use, and enough for any pack.
func searchMemory() int64 {
	limit := memoryLimit()
	if limit == 0 {
		return usualSearchMemory
	}
	return max(limit/4, knowledge.MinSearchMemory)
}

// memoryLimit is what the process may use: GOMEMLIMIT, or else what its control
// group does; zero for no limit.
func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0 // "max"
	}
	return limit
}
