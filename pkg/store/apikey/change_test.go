package apikey_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func (w *world) propose(c apikey.Change, after error) error {
	return w.tenants.InTx(context.Background(), w.org, func(ctx context.Context, tx *tenant.Tx) error {
		return errors.Join(w.changes.Propose(ctx, tx, c, nil, activity.Actor{By: "test", At: w.clock.Now()}), after)
	})
}

func (w *world) proposed(t *testing.T) (n int) {
	t.Helper()
	shard, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	require.NoError(t, shard.QueryRow(context.Background(), `SELECT count(*) FROM directory_change`).Scan(&n))
	return n
}

func insertion(k apikey.Key, s apikey.Secret) apikey.Change {
	h := s.Hash()
	k.Last4 = s.Last4()
	return apikey.Change{Insert: &apikey.Insertion{Key: k, Hash: h[:]}}
}

func TestProposalOfAFailedTransactionHasNoEffect(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k, failed := w.key(), errors.New("failed")
	require.ErrorIs(t, w.propose(insertion(k, apikey.NewSecret(apikey.Live)), failed), failed)
	require.NoError(t, w.changes.Apply(ctx, w.org))
	_, err := w.Get(ctx, w.org, k.ID)
	require.ErrorIs(t, err, apikey.ErrUnknown)
}

func TestChangesAreAppliedInOrder(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k, first, second := w.key(), apikey.NewSecret(apikey.Live), apikey.NewSecret(apikey.Live)
	hash, name := second.Hash(), "renamed"
	none, no := []scope.Scope{}, false
	changes := []apikey.Change{
		insertion(k, first),
		{Update: &apikey.Alteration{Key: k.ID, Update: apikey.Update{
			Name: &name, Scopes: &none, FullAccess: &no, AllowedAddresses: &[]string{"192.0.2.0/24"}, At: now.Add(time.Second),
		}}},
		{Rotate: &apikey.Rotation{Key: k.ID, Hash: hash[:], Last4: second.Last4(), At: now.Add(2 * time.Second), OldUntil: now.Add(time.Hour)}},
	}
	for _, c := range changes {
		require.NoError(t, w.propose(c, nil))
	}
	w.requireRefused(t, first)
	for range 2 {
		require.NoError(t, w.changes.Apply(ctx, w.org))
		require.Zero(t, w.proposed(t))
		got, err := w.Get(ctx, w.org, k.ID)
		require.NoError(t, err)
		require.Equal(t, name, got.Name)
		require.Empty(t, got.Scopes)
		require.False(t, got.FullAccess)
		require.Equal(t, []string{"192.0.2.0/24"}, got.AllowedAddresses)
		require.Equal(t, second.Last4(), got.Last4)
		require.True(t, got.UpdatedAt.Equal(now.Add(2*time.Second)))
		w.clock.Step(time.Second)
		w.requireOpens(t, first)
		w.requireOpens(t, second)
		// As if the process died between applying and noting that it did.
		for _, c := range changes {
			require.NoError(t, w.propose(c, nil))
		}
	}
}

func TestLateChangeDoesNotUndoANewerOne(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k := w.key()
	w.insert(t, k)
	older, newer := "older", "newer"
	require.NoError(t, w.Update(ctx, w.org, k.ID, apikey.Update{Name: &newer, At: now.Add(2 * time.Second)}))
	require.NoError(t, w.Update(ctx, w.org, k.ID, apikey.Update{Name: &older, At: now.Add(time.Second)}))
	got, err := w.Get(ctx, w.org, k.ID)
	require.NoError(t, err)
	require.Equal(t, newer, got.Name)
}

func TestSweepAppliesWhatACrashLeft(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k, s := w.key(), apikey.NewSecret(apikey.Live)
	require.NoError(t, w.propose(insertion(k, s), nil))
	n, err := w.changes.Sweep(ctx, "a", now.Add(time.Second))
	require.NoError(t, err)
	require.Zero(t, n, "whoever proposed it may still be at it")
	n, err = w.changes.Sweep(ctx, "a", now.Add(3*time.Second))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Zero(t, w.proposed(t))
	w.requireOpens(t, s)

	require.NoError(t, w.propose(apikey.Change{Revoke: &apikey.Revocation{Key: k.ID, At: now}}, nil))
	_, err = w.changes.Sweep(ctx, "a", now.Add(3*time.Second))
	require.NoError(t, err)
	w.clock.Step(time.Second)
	w.requireRefused(t, s)
}
