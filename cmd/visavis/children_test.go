package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/extract/sandbox"
)

func TestTheHeapLeavesRoomForChildren(t *testing.T) {
	children := documentsAtOnce * sandbox.Default().Footprint()
	container := int64(2 << 30) // the chart's reader
	limit := beside(int64(float64(container)*heapPart), children)
	require.LessOrEqual(t, limit+children, container)
	require.Greater(t, limit, int64(512<<20))

	require.EqualValues(t, 225, beside(900, 1_000_000), "a process has something in any container")
	require.EqualValues(t, math.MaxInt64, beside(math.MaxInt64, children), "nothing limits it")
}
