package exchange

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
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

// An item is set aside once it failed alone a few times in a row, and not for what fails for all.
func TestAnItemThatFailsAlone(t *testing.T) {
	first, second := id.InboxItem{1}, id.InboxItem{2}
	p := Place{After: first}
	for range 2 {
		require.False(t, p.failed(Did{Failed: second}))
		require.False(t, p.failed(Did{}), "as one that asks for patience")
	}
	require.Equal(t, Place{After: first, Tries: 2}, p)
	require.True(t, p.failed(Did{Failed: second}))
	require.Equal(t, Place{After: second, Aside: 1}, p)
}

// A sync that could read nothing failed, and one that read something did not.
func TestConclusions(t *testing.T) {
	for name, c := range map[string]struct {
		counts map[string]int64
		code   string
	}{
		"nothing to be done": {map[string]int64{}, ""}, "all refused": {map[string]int64{Refused: 2}, "rejected"}, "some refused": {map[string]int64{Refused: 2, Unchanged: 1}, ""},
		"all unread": {map[string]int64{Failed: 3, Skipped: 1}, "unavailable"}, "some unread": {map[string]int64{Failed: 3, Taken: 1}, ""},
		"the others to and fro": {map[string]int64{Refused: 2, Contested: 1}, ""}, "also of what is unread": {map[string]int64{Failed: 3, Contested: 1}, ""},
	} {
		j := job.Job{Counts: c.counts}
		conclude(&j)
		require.Equal(t, c.code, j.ErrorCode, name)
	}
}
