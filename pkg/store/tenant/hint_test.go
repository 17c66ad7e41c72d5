package tenant_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/store/tenant"
)

// Who looks because of a hint sees what it is of, and nobody looks for what is nothing to
// workers or was undone.
func TestWorkersAreToldAfterTheCommit(t *testing.T) {
	w := newWorld(t)
	hub := hint.NewHub(true)
	w.HintBy(hub)
	org := w.organization(t)
	type told struct {
		shard string
		rows  []string
	}
	var heard []told
	hub.Watch(hint.Jobs, func(shard string) { heard = append(heard, told{shard, settingsOn(t, w.a, org)}) })
	hub.Watch(hint.Deliveries, func(string) { t.Error("nothing was to be delivered") })

	// Which rows are a job's is what Touch says; any row will do for it to be seen.
	makeJob := func(ctx context.Context, tx *tenant.Tx, key string) error {
		tx.Touch("job", id.NewJob())
		return setIn(ctx, tx, key)
	}
	require.NoError(t, w.set(t.Context(), org, "nothing to workers"))
	require.Empty(t, heard)
	require.NoError(t, w.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		require.NoError(t, makeJob(ctx, tx, "one"))
		require.Empty(t, heard, "not before the commit")
		return makeJob(ctx, tx, "two")
	}))
	require.Equal(t, []told{{"a", []string{"nothing to workers", "one", "two"}}}, heard)

	undone := errors.New("undone")
	require.ErrorIs(t, w.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		require.NoError(t, makeJob(ctx, tx, "three"))
		return undone
	}), undone)
	require.Len(t, heard, 1)
}

// What waited at a fence, and what a move brought, is nobody's commit.
func TestWorkersAreToldWhereAnOrganizationIsOpened(t *testing.T) {
	w := newWorld(t)
	hub := hint.NewHub(true)
	w.HintBy(hub)
	org := w.organization(t)
	var heard []string
	hub.Watch(hint.Every, func(shard string) { heard = append(heard, shard) })
	open, fenced := tenant.Fence{Epoch: 1, State: tenant.Open}, tenant.Fence{Epoch: 1, State: tenant.Fenced}
	for _, turn := range [][2]tenant.Fence{{open, fenced}, {fenced, open}} {
		done, err := w.Turn(t.Context(), "a", org, turn[0], turn[1])
		require.NoError(t, err)
		require.True(t, done)
	}
	require.Equal(t, []string{"a"}, heard)
}
