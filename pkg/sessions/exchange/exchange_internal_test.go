package exchange

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
)

// A transaction that is made again counts the same.
func TestCountsOfATransactionThatIsMadeAgain(t *testing.T) {
	did := Did{Counts: map[string]int64{Unchanged: 5, Skipped: 3, Taken: 1}}
	for range 2 {
		j, p := job.Job{Counts: map[string]int64{}}, progress{Again: 2, Gone: 1}
		p.count(&j, did, true)
		require.Equal(t, map[string]int64{Unchanged: 3, Skipped: 2, Taken: 1}, j.Counts)
		require.Zero(t, p)
	}
	j, p := job.Job{Counts: map[string]int64{}}, progress{}
	(&p).count(&j, Did{}, true)
	require.Empty(t, j.Counts)
}
