package main

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryLimit(t *testing.T) {
	group := func(limit uint64, err error) func() (uint64, error) {
		return func() (uint64, error) { return limit, err }
	}
	for name, c := range map[string]struct {
		told  string
		group func() (uint64, error)
		want  int64
	}{
		"the deployment knows":   {"1000000000", group(5, nil), 900_000_000},
		"the control group says": {"", group(2_000_000_000, nil), 1_800_000_000},
		"nothing limits it":      {"", group(0, errors.New("none")), 0},
	} {
		t.Run(name, func(t *testing.T) {
			limit, err := memoryLimit(c.told, c.group)
			require.NoError(t, err)
			require.Equal(t, c.want, limit)
		})
	}
	_, err := memoryLimit("1Gi", group(5, nil))
	require.ErrorContains(t, err, "VISAVIS_CONTAINER_MEMORY")
}

func TestGarbageIsCollectedSoonerWithoutALimit(t *testing.T) {
	require.Equal(t, gcPercent, percentFor(900_000_000))
	require.Equal(t, gcPercentUnlimited, percentFor(math.MaxInt64))
}
