package idempotency_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// A day's answers are searched part by part, each once for all conversations that are
// looked for, and none is missed.
func TestAnswersAreSearchedInParts(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	db, err := tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	sessions := []id.Session{id.SessionAt(time.Now()), id.SessionAt(time.Now())}
	const records, every = 4500, 100
	for n := range records {
		answer := "somebody else"
		if n%every == 0 {
			answer = "about " + sessions[n/every%2].String()
		}
		_, err := db.Exec(context.Background(), `
			INSERT INTO idempotency_record (org_id, key_id, method, path, client_key, request_hash, state, owner, lease_until, status, answer, expires_at)
			VALUES ($1, $2, 'POST', $3, $4, '', 'done', $5, now(), 201, $6, now())`,
			org, uuid.New(), "/sessions", fmt.Sprint(n), uuid.New(), []byte(answer))
		require.NoError(t, err)
	}
	parts := 0
	for from := new(idempotency.Place); from != nil; parts++ {
		require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			from, err = idempotency.Erase(ctx, tx, []string{sessions[0].Bare(), sessions[1].Bare()}, *from)
			return err
		}))
	}
	require.Equal(t, 3, parts)
	var erased, left int
	require.NoError(t, db.QueryRow(context.Background(), `
		SELECT count(*) FILTER (WHERE state = 'erased' AND answer = ''), count(*) FILTER (WHERE position('about'::BYTEA IN answer) > 0)
		FROM idempotency_record`).Scan(&erased, &left))
	require.Equal(t, records/every, erased)
	require.Zero(t, left)
}
