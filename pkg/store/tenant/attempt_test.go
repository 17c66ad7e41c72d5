package tenant_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// What an attempt did goes with its error, and the transaction goes on.
func TestAttempt(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	ctx := context.Background()
	file := uuid.New()
	insert := func(ctx context.Context, tx *tenant.Tx, which uuid.UUID) error {
		_, err := tx.Exec(ctx, `INSERT INTO file (org_id, id, state, content_type, bytes, sha256, changed_at) VALUES ($1, $2, 'pending', '', 0, '', now())`, tx.Org, which)
		return err
	}
	mine := errors.New("mine")
	require.NoError(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error {
		require.NoError(t, insert(ctx, tx, file))
		err := tx.Attempt(ctx, func(ctx context.Context) error { return insert(ctx, tx, file) })
		require.True(t, database.Violates(err, "file_pkey"), "the database refused, and goes on: %v", err)
		err = tx.Attempt(ctx, func(ctx context.Context) error { return errors.Join(insert(ctx, tx, uuid.New()), mine) })
		require.ErrorIs(t, err, mine)
		require.NoError(t, tx.Attempt(ctx, func(ctx context.Context) error { // one in another
			require.ErrorIs(t, tx.Attempt(ctx, func(ctx context.Context) error { return errors.Join(insert(ctx, tx, uuid.New()), mine) }), mine)
			return insert(ctx, tx, uuid.New())
		}))
		return nil
	}))
	db, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	var n int
	require.NoError(t, db.QueryRow(ctx, `SELECT count(*) FROM file WHERE org_id = $1`, one).Scan(&n))
	require.Equal(t, 2, n)
}
