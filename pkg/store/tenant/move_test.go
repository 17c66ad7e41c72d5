package tenant_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

// moveKey is the lock that whoever moves an organization takes.
func moveKey(org id.Org) int64 {
	return int64(binary.BigEndian.Uint64(org[:8]) ^ binary.BigEndian.Uint64(org[8:]))
}

// TestNoAcknowledgedWriteIsLostInAMove moves an organization there and back
// while writers go on.
func TestNoAcknowledgedWriteIsLostInAMove(t *testing.T) {
	const writers, rounds = 6, 10
	w, ctx := newWorld(t), context.Background()
	org := w.organization(t)

	var (
		group        sync.WaitGroup
		mu           sync.Mutex
		acknowledged []string
		failed       error
		stop         = make(chan struct{})
		written      = make(chan struct{}, 1)
	)
	finish := sync.OnceFunc(func() { close(stop); group.Wait() })
	defer finish()
	for writer := range writers {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("%d-%06d", writer, n)
				err := w.set(ctx, org, key)
				mu.Lock()
				if err != nil {
					failed = errors.Join(failed, err)
				} else {
					acknowledged = append(acknowledged, key)
				}
				mu.Unlock()
				select {
				case written <- struct{}{}:
				default:
				}
				if err != nil {
					return
				}
			}
		})
	}
	homes := []*database.DB{w.a, w.b}
	names := []string{"a", "b"}
	var frozen []string
	for round := range rounds {
		for range 5 {
			select {
			case <-written:
			case <-time.After(30 * time.Second):
				t.Fatal("the writers stand still")
			}
		}
		from, to := round%2, (round+1)%2
		if round > 0 {
			require.Equal(t, frozen, settingsOn(t, homes[to], org), "written to a shard that the organization had left")
		}
		frozen = move(t, org, homes[from], homes[to], names[to], int64(round+2))
	}
	finish()
	require.NoError(t, failed)
	slices.Sort(acknowledged)
	require.Equal(t, acknowledged, settingsOn(t, homes[rounds%2], org))
	require.Equal(t, frozen, settingsOn(t, homes[(rounds+1)%2], org))
	require.Greater(t, len(acknowledged), rounds*5)
}

// move moves an organization as a mover would a small one: fence, copy, flip.
// It answers what the old home keeps.
func move(t *testing.T, org id.Org, from, to *database.DB, toName string, epoch int64) (left []string) {
	databasetest.OnlyPostgres(t, "its mover takes advisory locks")
	t.Helper()
	ctx := context.Background()
	require.NoError(t, pgx.BeginFunc(ctx, from, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, moveKey(org)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, org)
		return err
	}))
	left = settingsOn(t, from, org)
	_, err := to.Exec(ctx, `DELETE FROM setting WHERE org_id = $1`, org)
	require.NoError(t, err)
	_, err = to.Exec(ctx, `
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		SELECT $1, 'org', '', k, '{}', $3, 'test' FROM unnest($2::TEXT[]) AS k`, org, left, now)
	require.NoError(t, err)
	fence(t, to, org, epoch, "open", "")
	fence(t, from, org, epoch, "moved", toName)
	return left
}
