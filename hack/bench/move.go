package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

// moving moves organizations to another shard while somebody writes: the rows a second,
// beside a bare COPY of the same rows between the same databases, and the longest that a
// writer waited.
func moving(ctx context.Context, f *fixture) error {
	url, err := makeDatabase(ctx, os.Getenv(databasetest.Env), "bench_other", database.Shard)
	if err != nil {
		return err
	}
	if err := f.backend.Directory.AddShard(ctx, "shard-2", url); err != nil {
		return err
	}
	for _, size := range []struct {
		name string
		rows int
	}{{"MoveSmall", 49_000}, {"MoveLarge", 200_000}} {
		if err := moveOne(ctx, f, size.name, size.rows); err != nil {
			return err
		}
	}
	return nil
}

func moveOne(ctx context.Context, f *fixture, name string, rows int) error {
	d, t := f.backend.Directory, f.backend.Tenants
	o := directory.Organization{ID: id.NewOrg(), Shard: "shard-1", Epoch: 1, Plan: "enterprise", CreatedAt: time.Now()}
	o.Slug = "moves-" + o.ID.Bare()
	if err := organization.Create(ctx, d, t, o); err != nil {
		return err
	}
	from, err := t.Shard(ctx, "shard-1")
	if err != nil {
		return err
	}
	to, err := t.Shard(ctx, "shard-2")
	if err != nil {
		return err
	}
	if _, err := from.Exec(ctx, `
		INSERT INTO event (org_id, id, type, created_at, session_id, data)
		SELECT $1, gen_random_uuid(), 'session.started', now(), gen_random_uuid(), '{"sessionId": "sess_1", "kind": "conversation", "language": "en"}'
		FROM generate_series(1, $2)`, o.ID, rows); err != nil {
		return err
	}
	floor, err := bareCopy(ctx, from, to, o.ID)
	if err != nil {
		return err
	}
	if err := move.Begin(ctx, d, t, o.ID, "shard-2", "bench"); err != nil {
		return err
	}
	writing, stop := context.WithCancel(ctx)
	longest := make(chan time.Duration, 1)
	go func() { longest <- writeOn(writing, t, o.ID) }()
	began := time.Now()
	m := move.New(move.Options{Directory: d, Tenants: t, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), RowsPerSecond: 10_000_000})
	_, err = m.Advance(ctx)
	took := time.Since(began)
	stop()
	pause := <-longest
	if err != nil {
		return err
	}
	if done, err := d.MoveOf(ctx, o.ID); err != nil || !move.Switched(done) {
		return fmt.Errorf("the move stands in %s: %w", done.Phase, err)
	}
	report(name, rows, figure{float64(rows) / took.Seconds(), "rows/s"}, figure{float64(rows) / floor.Seconds(), "floor-rows/s"},
		figure{float64(pause.Milliseconds()), "longest-wait-ms"})
	return nil
}

// writeOn writes until it is stopped, and answers the longest that a write took.
func writeOn(ctx context.Context, t *tenant.Tenants, org id.Org) (longest time.Duration) {
	for ctx.Err() == nil {
		began := time.Now()
		_ = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Increment(ctx, "bench", 0, false)
			return err
		})
		longest = max(longest, time.Since(began))
	}
	return longest
}

// bareCopy copies the organization's events into a table of the other database that is
// like theirs, and answers how long it takes.
func bareCopy(ctx context.Context, from, to *database.DB, org id.Org) (took time.Duration, err error) {
	if _, err := to.Exec(ctx, `DROP TABLE IF EXISTS event_floor; CREATE TABLE event_floor (LIKE event INCLUDING ALL)`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return 0, err
	}
	began := time.Now()
	reader, writer := io.Pipe()
	go func() {
		_ = writer.CloseWithError(from.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
			_, err := c.Conn().PgConn().CopyTo(ctx, writer, fmt.Sprintf(`COPY (SELECT * FROM event WHERE org_id = '%x') TO STDOUT (FORMAT binary)`, org[:]))
			return err
		}))
	}()
	err = to.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		_, err := c.Conn().PgConn().CopyFrom(ctx, reader, `COPY event_floor FROM STDIN (FORMAT binary)`)
		return err
	})
	return time.Since(began), err
}
