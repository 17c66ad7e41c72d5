package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// bareTables are tables beside the shard's own, for the bare statements that are
// the floors of what the product does on it.
type bareTables struct {
	pool *pgxpool.Pool
	org  uuid.UUID
}

func (f *fixture) newBareTables(ctx context.Context) (*bareTables, error) {
	pool, err := pgxpool.New(ctx, f.shardURL)
	if err != nil {
		return nil, err
	}
	t := &bareTables{pool, uuid.New()}
	if _, err = pool.Exec(ctx, `
		CREATE TABLE bare_counter (id UUID PRIMARY KEY, value BIGINT NOT NULL);
		CREATE TABLE bare_session (LIKE session INCLUDING ALL);
		CREATE TABLE bare_token (LIKE session_token INCLUDING ALL)`); err != nil {
		pool.Close()
	}
	return t, err
}

func (t *bareTables) close(ctx context.Context) {
	_, _ = t.pool.Exec(ctx, `DROP TABLE bare_counter, bare_session, bare_token`)
	t.pool.Close()
}

// commit times the least that keeps anything: one row, committed.
func (t *bareTables) commit(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	_, err := t.pool.Exec(ctx, `INSERT INTO bare_counter (id, value) VALUES ($1, 1)`, uuid.New())
	return time.Since(began), err
}

// mints times the least a mint must do on its shard: take a place, look at the
// minutes, enter the session and its token, and commit.
func (t *bareTables) mints(ctx context.Context) ([]time.Duration, error) {
	took := make([]time.Duration, mints)
	return took, inParallel(mints, func(n int) error {
		began := time.Now()
		err := pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error { return t.mint(ctx, tx) })
		took[n] = time.Since(began)
		return err
	})
}

func (t *bareTables) mint(ctx context.Context, tx pgx.Tx) error {
	which := uuid.Must(uuid.NewV7())
	var b pgx.Batch
	b.Queue(`INSERT INTO bare_counter AS c (id, value) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET value = c.value + 1`, t.org)
	b.Queue(`SELECT sum(remaining_s) FROM minute_grant WHERE org_id = $1`, t.org)
	b.Queue(`
		INSERT INTO bare_session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, metadata, language, engine,
			transport, channel, sandbox, brief, allowed_origins, created_at, max_duration_s, connect_by, idle_timeout_s, languages_heard,
			turn_count, collected, on_hold, slot, flagged, epoch, reconnects)
		VALUES ($1, $2, 'created', 'conversation', 'api', $2, 1, $2, $2, '{}', 'en', 'premier', 'websocket', 'chat', false, '{}', '{}', now(), 7200,
			now(), 300, '{}', 0, '{}', false, true, false, 1, 0)`, t.org, which)
	b.Queue(`INSERT INTO bare_token (org_id, hash, session_id, kind, expires_at) VALUES ($1, $2, $3, 'client', now())`, t.org, which[:], which)
	return tx.SendBatch(ctx, &b).Close()
}
