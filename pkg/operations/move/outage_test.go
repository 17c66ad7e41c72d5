package move_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
)

// Moves from a shard that accepts everything and answers nothing keep no place of a move
// between others, and go on once it answers again.
func TestMovesBesideAShardThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, large, func(o *move.Options) { o.AnswerTimeout = 2 * time.Second })
	front := databasetest.NewFront(t, databasetest.URL(t, database.Shard))
	require.NoError(t, w.directory.AddShard(t.Context(), "frozen", front.URL))
	stuck := make([]id.Org, 4) // more than a process moves at once
	for i := range stuck {
		stuck[i] = w.organization("frozen")
		w.begin(stuck[i], "b")
	}
	healthy := w.organization("a")
	w.furnish(healthy, "a", 3)
	w.begin(healthy, "b")
	w.before("FROM pg_catalog.pg_class", front.Freeze)

	r := &move.Runner{Mover: w.mover}
	r.Start()
	require.Eventually(t, func() bool { return w.move(healthy).Phase == directory.Moved }, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		for _, org := range stuck {
			if w.move(org).Problem == "" {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
	require.Contains(t, w.move(stuck[0]).Problem, "no shard answered for 2s")

	front.Thaw()
	w.clock.Step(time.Minute)
	require.Eventually(t, func() bool {
		for _, org := range stuck {
			if w.move(org).Phase != directory.Moved {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
	r.Stop()
}
