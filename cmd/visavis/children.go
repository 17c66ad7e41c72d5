package main

import (
	"os"
	"runtime/debug"
)

// leastHeapPart is the least part of its limit that a process keeps for its own heap.
const leastHeapPart = 4

// leaveMemory takes what child processes may take of the container out of what tuneMemory
// gave the heap. It leaves an operator's own GOMEMLIMIT alone.
func leaveMemory(children int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(beside(debug.SetMemoryLimit(-1), children))
	}
}

// beside is what is left of a heap's limit beside child processes.
func beside(limit, children int64) int64 {
	if limit >= machine {
		return limit
	}
	return max(limit-int64(float64(children)*heapPart), limit/leastHeapPart)
}
