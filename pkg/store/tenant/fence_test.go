package tenant_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

func TestNewEpochIsLearned(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	require.NoError(t, w.set(ctx, org, "before"))
	fence(t, w.a, org, 2, "open", "")
	require.NoError(t, w.set(ctx, org, "written"))
	route, err := w.directory.Route(ctx, org)
	require.NoError(t, err)
	require.Equal(t, directory.Route{Shard: "a", Epoch: 2}, route)

	fence(t, w.a, org, 3, "open", "")
	require.Equal(t, []string{"before", "written"}, w.settings(t, org))
}

func TestOrganizationIsFollowed(t *testing.T) {
	for _, access := range []string{"read", "write"} {
		t.Run(access, func(t *testing.T) {
			w, ctx := newWorld(t), context.Background()
			org := w.organization(t)
			require.NoError(t, w.set(ctx, org, "left behind"))
			fence(t, w.b, org, 2, "open", "")
			fence(t, w.a, org, 2, "moved", "b")
			if access == "read" {
				require.Empty(t, w.settings(t, org), "rows of the old home must not be seen")
			} else {
				require.NoError(t, w.set(ctx, org, "at home"))
				require.Equal(t, []string{"at home"}, settingsOn(t, w.b, org))
			}
			route, err := w.directory.Route(ctx, org)
			require.NoError(t, err)
			require.Equal(t, directory.Route{Shard: "b", Epoch: 2}, route)
		})
	}
}

func TestUnknownHereIsLookedUpAgain(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	require.NoError(t, w.set(ctx, org, "a"))
	// The old home has forgotten the organization; only the directory knows.
	_, err := w.a.Exec(ctx, `DELETE FROM org_fence WHERE org_id = $1`, org)
	require.NoError(t, err)
	fence(t, w.b, org, 2, "open", "")
	_, err = w.directory.DB.Exec(ctx, `UPDATE organization SET shard = 'b', epoch = 2 WHERE id = $1`, org)
	require.NoError(t, err)
	require.NoError(t, w.set(ctx, org, "b"))
	require.Equal(t, []string{"b"}, w.settings(t, org))
}

func TestHomelessOrganizationIsUnavailable(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	fence(t, w.a, org, 2, "moved", "b")
	fence(t, w.b, org, 2, "moved", "a")
	err := w.set(ctx, org, "lost")
	require.Error(t, err)
	require.True(t, tenant.Unavailable(err), "%v", err)
	err = w.Read(ctx, org, func(*tenant.Reads) {})
	require.True(t, tenant.Unavailable(err), "%v", err)

	err = w.set(ctx, id.NewOrg(), "nobody")
	require.ErrorIs(t, err, directory.ErrUnknown)
	require.False(t, tenant.Unavailable(err))
}

func TestFencedOrganization(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	require.NoError(t, w.set(ctx, org, "before"))
	fence(t, w.a, org, 2, "fenced", "")

	t.Run("reads pass", func(t *testing.T) {
		require.Equal(t, []string{"before"}, w.settings(t, org))
	})
	t.Run("writes wait no longer than their caller", func(t *testing.T) {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, w.set(short, org, "impatient"), context.DeadlineExceeded)
	})
	t.Run("writes give up after a while", func(t *testing.T) {
		began := time.Now()
		err := w.set(ctx, org, "too early")
		require.True(t, tenant.Unavailable(err), "%v", err)
		require.InDelta(t, 11, time.Since(began).Seconds(), 10)
	})
	t.Run("writes go through when it opens", func(t *testing.T) {
		done := make(chan error, 1)
		go func() { done <- w.set(ctx, org, "patient") }()
		select {
		case err := <-done:
			t.Fatal("the write did not wait", err)
		case <-time.After(120 * time.Millisecond):
		}
		fence(t, w.a, org, 2, "open", "")
		require.NoError(t, <-done)
		require.Equal(t, []string{"before", "patient"}, w.settings(t, org))
	})
}

func TestUnknownStateIsRefused(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	fence(t, w.a, org, 1, "haunted", "")
	require.ErrorContains(t, w.set(ctx, org, "x"), "haunted")
	require.ErrorContains(t, w.Read(ctx, org, func(*tenant.Reads) {}), "haunted")
}

func TestCaptureNotesWhatWasWritten(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)
	dirty := func() []string {
		rows, _ := w.a.Query(ctx, `SELECT table_name || ':' || pk FROM move_dirty WHERE org_id = $1 ORDER BY 1`, org)
		notes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return notes
	}
	require.NoError(t, w.set(ctx, org, "open"))
	require.Empty(t, dirty(), "nothing is noted while nobody copies")

	fence(t, w.a, org, 1, "capture", "")
	failed := errors.New("failed")
	err := w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		require.NoError(t, setIn(ctx, tx, "undone"))
		return failed
	})
	require.ErrorIs(t, err, failed)
	require.Empty(t, dirty(), "a note goes the way of its row")

	for _, key := range []string{"one", "two"} {
		require.NoError(t, w.set(ctx, org, key))
	}
	err = w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Increment(ctx, "things", 5, true)
		tx.Touch("setting", part("org"), part(""), part("one")) // noted before
		return err
	})
	require.NoError(t, err)
	require.Equal(t, []string{"org_counter:things", "setting:org//one", "setting:org//two"}, dirty())
}
