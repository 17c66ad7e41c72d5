package organisation_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
)

// moving is the condition Moving of a resource.
func (w *world) moving(o *v1alpha1.Organisation) metav1.Condition {
	w.t.Helper()
	c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Moving)
	require.NotNil(w.t, c)
	return *c
}

// work lets a worker carry out what is asked for.
func (w *world) work() {
	w.t.Helper()
	m := move.New(move.Options{Directory: w.Directory, Tenants: w.Tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Keep: -1})
	for found := true; found; {
		var err error
		found, err = m.Advance(w.t.Context())
		require.NoError(w.t, err)
	}
}

func TestAnotherShardMovesIt(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Directory.AddShard(t.Context(), "b", databasetest.URL(t, database.Shard)))
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Shard = "a" })
	o := w.reconciled(acme)
	w.ready(o)
	require.Nil(t, meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Moving), "it stays")
	to := func(shard string) *v1alpha1.Organisation {
		t.Helper()
		o := w.reconciled(acme)
		o.Spec.Shard = shard
		require.NoError(t, w.objects.Update(t.Context(), o))
		return w.reconciled(acme)
	}

	o = to("b")
	w.ready(o)
	require.Equal(t, metav1.ConditionTrue, w.moving(o).Status)
	require.Equal(t, "It waits to be moved from a to b.", w.moving(o).Message)
	require.Equal(t, "a", o.Status.Shard)
	wrote := w.wrote
	w.reconciled(acme)
	require.Equal(t, wrote, w.wrote, "nothing new is no news")

	w.work()
	o = w.reconciled(acme)
	w.ready(o)
	require.Equal(t, "b", o.Status.Shard)
	require.Equal(t, v1alpha1.ReasonMoved, w.moving(o).Reason)
	require.Equal(t, "It lives on b.", w.moving(o).Message)

	o = to("c")
	w.ready(o)
	require.Equal(t, metav1.ConditionFalse, w.moving(o).Status)
	require.Equal(t, string(move.NoShard), w.moving(o).Reason)
	require.Equal(t, "There is no shard c.", w.moving(o).Message)

	// What the spec says last is what counts.
	require.Equal(t, "It waits to be moved from b to a.", w.moving(to("a")).Message)
	to("b")
	w.work()
	o = w.reconciled(acme)
	w.ready(o)
	require.Equal(t, "b", o.Status.Shard)
	require.Equal(t, metav1.ConditionFalse, w.moving(o).Status)
}

// A move that was refused is tried again after a while: what was in its way may be gone.
func TestARefusedMoveIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Directory.AddShard(t.Context(), "b", databasetest.URL(t, database.Shard)))
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Shard = "a" })
	o := w.reconciled(acme)
	which, err := id.ParseOrg(o.Status.ID)
	require.NoError(t, err)
	there, err := w.Tenants.Shard(t.Context(), "b")
	require.NoError(t, err)
	_, err = there.Exec(t.Context(), `INSERT INTO org_fence (org_id, epoch, state, moved_to) VALUES ($1, 1, 'open', '')`, which)
	require.NoError(t, err)
	o.Spec.Shard = "b"
	require.NoError(t, w.objects.Update(t.Context(), o))
	w.reconciled(acme)
	w.work()
	o = w.reconciled(acme)
	w.ready(o)
	require.Equal(t, v1alpha1.ReasonNotMoved, w.moving(o).Reason)
	require.Contains(t, w.moving(o).Message, "The shard b has "+which.String()+" already")

	_, err = there.Exec(t.Context(), `DELETE FROM org_fence`)
	require.NoError(t, err)
	w.clock.Step(2 * time.Minute)
	w.reconciled(acme)
	w.work()
	require.Equal(t, "b", w.reconciled(acme).Status.Shard)
	m, err := w.Directory.MoveOf(t.Context(), which)
	require.NoError(t, err)
	require.Equal(t, directory.Moved, m.Phase)
}
