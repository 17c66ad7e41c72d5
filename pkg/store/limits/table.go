package limits

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Counter names what is counted: an address (Org is zero), or a key or a
// whole organization in one class.
type Counter struct {
	Org id.Org
	// Holder is an address, a key's id, or HolderOrg.
	Holder string
	Class  rate.Class
}

// HolderOrg is the holder of an organization's own counters.
const HolderOrg = "org"

// Window is what a table answers: how many tokens were taken just now, how
// many are granted in all, in which minute since 1970, and how long it lasts.
type Window struct {
	Took, Granted, Minute int64
	Left                  time.Duration
}

// Table is where tokens are taken from and given back to.
type Table interface {
	// Take grants min(want, limit − granted) tokens by the database's clock.
	Take(ctx context.Context, c Counter, want, limit int64) (Window, error)
	// Return gives back n tokens of a minute; a minute that is over is ignored.
	Return(ctx context.Context, c Counter, n, minute int64) error
}

// Tables keeps the addresses in the directory and the rest on each
// organization's shard. The counts are outside the fence: a move starts them
// anew at worst, and a limit is no reason to wait for one.
type Tables struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
}

// Take implements Table.
func (t *Tables) Take(ctx context.Context, c Counter, want, limit int64) (Window, error) {
	db, err := t.database(ctx, c)
	if err != nil {
		return Window{}, err
	}
	sql, args := takeOfAddress, []any{c.Holder, want, limit}
	if !c.Org.IsZero() {
		sql, args = takeOfOrg, []any{c.Org, c.Holder, string(c.Class), want, limit}
	}
	row := db.QueryRow(ctx, sql, args...)
	var w Window
	var left float64
	err = row.Scan(&w.Took, &w.Granted, &w.Minute, &left)
	w.Left = time.Duration(left * float64(time.Second))
	return w, err
}

const takeOfOrg = `
	INSERT INTO rate_window AS w (org_id, holder, class, minute, granted, last_took)
	VALUES ($1, $2, $3, CAST(floor(extract(epoch FROM now()) / 60) AS BIGINT), LEAST($4::BIGINT, $5::BIGINT), LEAST($4::BIGINT, $5::BIGINT))
	ON CONFLICT (org_id, holder, class) DO UPDATE SET
		minute = GREATEST(w.minute, excluded.minute),
		granted = CASE WHEN w.minute < excluded.minute THEN excluded.granted
			ELSE w.granted + GREATEST(LEAST($4::BIGINT, $5::BIGINT - w.granted), 0) END,
		last_took = CASE WHEN w.minute < excluded.minute THEN excluded.last_took
			ELSE GREATEST(LEAST($4::BIGINT, $5::BIGINT - w.granted), 0) END
	RETURNING last_took, granted, minute, CAST((minute + 1) * 60 AS FLOAT8) - CAST(extract(epoch FROM now()) AS FLOAT8)`

const takeOfAddress = `
	INSERT INTO address_window AS w (address, minute, granted, last_took)
	VALUES ($1, CAST(floor(extract(epoch FROM now()) / 60) AS BIGINT), LEAST($2::BIGINT, $3::BIGINT), LEAST($2::BIGINT, $3::BIGINT))
	ON CONFLICT (address) DO UPDATE SET
		minute = GREATEST(w.minute, excluded.minute),
		granted = CASE WHEN w.minute < excluded.minute THEN excluded.granted
			ELSE w.granted + GREATEST(LEAST($2::BIGINT, $3::BIGINT - w.granted), 0) END,
		last_took = CASE WHEN w.minute < excluded.minute THEN excluded.last_took
			ELSE GREATEST(LEAST($2::BIGINT, $3::BIGINT - w.granted), 0) END
	RETURNING last_took, granted, minute, CAST((minute + 1) * 60 AS FLOAT8) - CAST(extract(epoch FROM now()) AS FLOAT8)`

// Return implements Table.
func (t *Tables) Return(ctx context.Context, c Counter, n, minute int64) error {
	db, err := t.database(ctx, c)
	if err != nil {
		return err
	}
	if c.Org.IsZero() {
		_, err = db.Exec(ctx, `
			UPDATE address_window SET granted = GREATEST(granted - $2, 0)
			WHERE address = $1 AND minute = $3`, c.Holder, n, minute)
		return err
	}
	_, err = db.Exec(ctx, `
		UPDATE rate_window SET granted = GREATEST(granted - $4, 0)
		WHERE org_id = $1 AND holder = $2 AND class = $3 AND minute = $5`,
		c.Org, c.Holder, string(c.Class), n, minute)
	return err
}

func (t *Tables) database(ctx context.Context, c Counter) (*database.DB, error) {
	if c.Org.IsZero() {
		return t.Directory.DB, nil
	}
	route, err := t.Directory.Route(ctx, c.Org)
	if err != nil {
		return nil, err
	}
	return t.Tenants.Shard(ctx, route.Shard)
}

// Sweep forgets addresses that have not been seen for some minutes. It rides
// the index address_window_by_minute.
func Sweep(ctx context.Context, d *directory.Directory) (int, error) {
	tag, err := d.DB.Exec(ctx, `
		DELETE FROM address_window
		WHERE minute < CAST(floor(extract(epoch FROM now()) / 60) AS BIGINT) - 5`)
	return int(tag.RowsAffected()), err
}
