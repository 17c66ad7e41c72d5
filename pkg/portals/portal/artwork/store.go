package artwork

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Picture is a copy of a picture, or why there is none.
type Picture struct {
	URL string
	// File is zero where there is no copy.
	File        id.File
	ContentType string
	// Failure says why it could not be fetched the last time; empty when it was. The
	// copy of before is shown then.
	Failure   string
	FetchedAt time.Time
	sum       []byte
}

const columns = `url, file_id, content_type, failure, fetched_at, sum`

func scan(row pgx.CollectableRow) (p Picture, err error) {
	err = row.Scan(&p.URL, &p.File, &p.ContentType, &p.Failure, &p.FetchedAt, &p.sum)
	return p, err
}

const selectAll = `SELECT ` + columns + ` FROM portal_picture WHERE org_id = $1 AND portal_id = $2`

// ByURL are pictures by their addresses.
type ByURL map[string]Picture

func byURL(found []Picture, err error) (ByURL, error) {
	known := ByURL{}
	for _, p := range found {
		known[p.URL] = p
	}
	return known, err
}

// Find finds the pictures of a portal in a transaction. It rides portal_picture_pkey.
func Find(ctx context.Context, tx *tenant.Tx, p id.Portal) (ByURL, error) {
	rows, err := tx.Query(ctx, selectAll, tx.Org, p)
	if err != nil {
		return nil, err
	}
	return byURL(pgx.CollectRows(rows, scan))
}

// Queue asks for the pictures of a portal.
func Queue(r *tenant.Reads, org id.Org, p id.Portal, into *ByURL) {
	r.Query(func(rows pgx.Rows) (err error) {
		*into, err = byURL(pgx.CollectRows(rows, scan))
		return err
	}, selectAll, org, p)
}

// keep keeps what was fetched in place of what was known, and forgets what nobody wants
// any more.
func keep(ctx context.Context, tx *tenant.Tx, files *file.Store, p id.Portal, fetched []Picture, wanted []Wish) error {
	known, err := Find(ctx, tx, p)
	if err != nil {
		return err
	}
	changed := false
	for _, f := range fetched {
		before := known[f.URL]
		switch {
		case f.Failure != "", bytes.Equal(f.sum, before.sum) && !before.File.IsZero():
			f.File, f.ContentType, f.sum = before.File, before.ContentType, before.sum // the file that was put is swept
		default:
			if err := replace(ctx, tx, files, before.File, f.File); err != nil {
				return err
			}
			changed = true
		}
		tx.Touch("portal_picture", p, keyOf(f.URL))
		if _, err := tx.Exec(ctx, `
			INSERT INTO portal_picture (org_id, portal_id, hash, url, file_id, content_type, sum, failure, fetched_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (org_id, portal_id, hash) DO UPDATE SET file_id = EXCLUDED.file_id, content_type = EXCLUDED.content_type,
				sum = EXCLUDED.sum, failure = EXCLUDED.failure, fetched_at = EXCLUDED.fetched_at`,
			tx.Org, p, []byte(keyOf(f.URL)), f.URL, f.File, f.ContentType, f.bytes(), f.Failure, f.FetchedAt); err != nil {
			return err
		}
	}
	for _, w := range wanted {
		delete(known, w.URL)
	}
	for url, old := range known {
		if err := forget(ctx, tx, files, p, url, old.File); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	return portal.Refresh(ctx, tx, p)
}

// bytes is the sum of the copy; never nil.
func (p *Picture) bytes() []byte { return append([]byte{}, p.sum...) }

func replace(ctx context.Context, tx *tenant.Tx, files *file.Store, before, after id.File) error {
	if !before.IsZero() {
		if err := files.Discard(ctx, tx, before); err != nil {
			return err
		}
	}
	return files.Keep(ctx, tx, after)
}

func forget(ctx context.Context, tx *tenant.Tx, files *file.Store, p id.Portal, url string, f id.File) error {
	if !f.IsZero() {
		if err := files.Discard(ctx, tx, f); err != nil {
			return err
		}
	}
	tx.Touch("portal_picture", p, keyOf(url))
	_, err := tx.Exec(ctx, `DELETE FROM portal_picture WHERE org_id = $1 AND portal_id = $2 AND hash = $3`, tx.Org, p, []byte(keyOf(url)))
	return err
}
