package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// bareMints times the least a mint must do on its shard: take a place, look at
// the minutes, enter the session and its token, and commit.
func (f *fixture) bareMints(ctx context.Context) ([]time.Duration, error) {
	pool, err := pgxpool.New(ctx, f.shardURL)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, `
		CREATE TABLE IF NOT EXISTS bare_counter (id UUID PRIMARY KEY, value BIGINT NOT NULL);
		CREATE TABLE IF NOT EXISTS bare_session (LIKE session INCLUDING ALL);
		CREATE TABLE IF NOT EXISTS bare_token (LIKE session_token INCLUDING ALL)`); err != nil {
		return nil, err
	}
	defer func() { _, _ = pool.Exec(ctx, `DROP TABLE bare_counter, bare_session, bare_token`) }()
	org := uuid.New()
	took := make([]time.Duration, mints)
	return took, inParallel(mints, func(n int) error {
		began := time.Now()
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return bareMint(ctx, tx, org) })
		took[n] = time.Since(began)
		return err
	})
}

func bareMint(ctx context.Context, tx pgx.Tx, org uuid.UUID) error {
	which := uuid.Must(uuid.NewV7())
	var b pgx.Batch
	b.Queue(`INSERT INTO bare_counter AS c (id, value) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET value = c.value + 1`, org)
	b.Queue(`SELECT sum(remaining_s) FROM minute_grant WHERE org_id = $1`, org)
	b.Queue(`
		INSERT INTO bare_session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, metadata, language, engine,
			transport, channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by, turn_count,
			languages_heard, collected, on_hold, flagged, slot, epoch, reconnects)
		VALUES ($1, $2, 'created', 'conversation', 'api', $2, 1, $2, $2, '{}', 'en', 'premier', 'websocket', 'chat', false, '{}', '{}', 7200, 300,
			now(), now(), 0, '{}', '{}', false, false, true, 0, 0)`, org, which)
	b.Queue(`INSERT INTO bare_token (org_id, hash, session_id, kind, expires_at) VALUES ($1, $2, $3, 'client', now())`, org, which[:], which)
	return tx.SendBatch(ctx, &b).Close()
}
