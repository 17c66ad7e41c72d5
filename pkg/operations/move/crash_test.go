package move_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// everywhere is whether a process is let die at each statement: make chaos does.
var everywhere = flag.Bool("everywhere", false, "whether a process dies at each statement rather than at some")

// A process that dies at any statement leaves what another brings to its end.
func TestAMoverDiesAnywhere(t *testing.T) {
	both(t, func(t *testing.T, option func(*move.Options)) {
		w := newWorld(t, option)
		w.fill = w.only("consent", "avatar", "event", "setting")
		// A large one has many statements that are alike. Every run tries some of them.
		stride := 3
		if w.large {
			stride = 40
		}
		if *everywhere {
			stride = 1
		}
		at := 1 + rand.N(stride)
		t.Log("from the statement", at)
		for ; ; at += stride {
			org := w.organization("a")
			w.furnish(org, "a", 3)
			want := w.everything(org, "a")
			w.begin(org, "b")
			w.Kill(at)
			err := w.advance(w.mover)
			if !w.Arm(0) {
				require.NoError(t, err)
				require.Greater(t, at, 40, "every statement was tried")
				return
			}
			written := w.tryToWrite(org, fmt.Sprintf("while nobody moves it, %d", at))
			w.oneHome(org)
			w.lapse(org)
			require.NoError(t, w.advance(w.again()), "after statement %d", at)
			require.Equal(t, directory.Moved, w.move(org).Phase, "after statement %d: %s", at, w.move(org).Problem)
			w.oneHome(org)
			require.Empty(t, w.everything(org, "a"), "after statement %d", at)
			got := w.everything(org, "b")
			require.Len(t, got["setting"], len(want["setting"])+written, "after statement %d", at)
			delete(got, "setting")
			delete(want, "setting")
			require.Equal(t, want, got, "after statement %d", at)
		}
	})
}

// A process that comes back from the dead changes nothing of what another did meanwhile.
func TestAMoverComesBackFromTheDead(t *testing.T) {
	both(t, func(t *testing.T, option func(*move.Options)) {
		w := newWorld(t, option)
		for _, moment := range []string{"FROM setting t", "SET LOCAL lock_timeout", "AND NOT cancelled", "UPDATE org_move SET phase"} {
			org := w.organization("a")
			require.NoError(t, w.write(t.Context(), org, "one"))
			w.begin(org, "b")
			w.before(moment, func() {
				w.lapse(org)
				require.NoError(t, w.advance(w.again()))
				require.Equal(t, directory.Moved, w.move(org).Phase, w.move(org).Problem)
				require.NoError(t, w.write(context.Background(), org, "two"))
			})
			_ = w.advance(w.mover) // it may notice
			w.oneHome(org)
			require.Len(t, w.everything(org, "b")["setting"], 2, moment)
			require.Equal(t, tenant.Open, w.fence("b", org).State, moment)
			require.NoError(t, w.write(t.Context(), org, "three"), moment)
		}
	})
}

// only are the statements that fill some tables.
func (w *world) only(tables ...string) (some []string) {
	for _, sql := range w.fill {
		for _, t := range tables {
			var name string
			if _, err := fmt.Sscanf(sql, "INSERT INTO %s", &name); err == nil && name == t {
				some = append(some, sql)
			}
		}
	}
	require.Len(w, some, len(tables))
	return some
}

// tryToWrite writes something, and answers how much it could.
func (w *world) tryToWrite(org id.Org, key string) int {
	ctx, cancel := context.WithTimeout(w.Context(), 40*time.Millisecond)
	defer cancel()
	if w.write(ctx, org, key) != nil {
		return 0
	}
	return 1
}

// oneHome makes sure that an organization can be written to in one place at most.
func (w *world) oneHome(org id.Org) {
	w.Helper()
	homes := 0
	for shard := range w.shards {
		if s := w.fence(shard, org).State; s == tenant.Open || s == tenant.Capture {
			homes++
		}
	}
	require.LessOrEqual(w, homes, 1)
}

// lapse ends the lease of whoever has a move, and the time it waits.
func (w *world) lapse(org id.Org) {
	w.Helper()
	_, err := w.directory.DB.Exec(context.Background(), `UPDATE org_move SET lease_until = now(), due_at = LEAST(due_at, $2) WHERE org_id = $1 AND due_at IS NOT NULL`, org, now)
	require.NoError(w, err)
}
