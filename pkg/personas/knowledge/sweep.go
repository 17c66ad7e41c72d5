package knowledge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// SweepBatch bounds what a sweep deals with at a time.
const SweepBatch = 100

// found is a document of some organization that a sweep deals with.
type found struct {
	Org        id.Org
	Document   id.Document
	Generation int64
}

// find lists documents that a statement selects, of organizations that are not
// being moved.
func find(ctx context.Context, t *tenant.Tenants, shard, sql string, args ...any) ([]found, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[found])
}

// each does something for every document in a transaction of its own.
func each(ctx context.Context, t *tenant.Tenants, all []found, fn func(context.Context, *tenant.Tx, found) error) (int, error) {
	for i, f := range all {
		err := t.InTx(ctx, f.Org, func(ctx context.Context, tx *tenant.Tx) error { return fn(ctx, tx, f) }, tenant.Idempotent(true))
		if err != nil && !errdefs.IsAbsent(err, DocumentNoun) {
			return i, err
		}
	}
	return len(all), nil
}

// Refreshed queues the jobs of the addresses of a shard that are to be read
// again. It rides knowledge_document_refresh.
func Refreshed(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	due, err := find(ctx, t, shard, `
		SELECT d.org_id, d.id, 0 FROM knowledge_document d
		JOIN knowledge_base b ON b.org_id = d.org_id AND b.id = d.base_id AND b.deleted_at IS NULL
		JOIN org_fence f ON f.org_id = d.org_id AND f.state = 'open'
		WHERE d.refresh_due_at <= $1 AND d.job_id IS NULL AND d.deleted_at IS NULL
		ORDER BY d.refresh_due_at LIMIT $2`, now, SweepBatch)
	if err != nil {
		return 0, err
	}
	return each(ctx, t, due, func(ctx context.Context, tx *tenant.Tx, f found) error {
		_, err := ReadAgain(ctx, tx, f.Document, activity.Actor{By: "schedule", At: now}.Unlogged())
		return err
	})
}

// SweepPassages deletes passages that nobody finds any more.
func SweepPassages(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	litter, err := find(ctx, t, shard, `
		SELECT l.org_id, l.document_id, l.generation FROM knowledge_litter l
		JOIN org_fence f ON f.org_id = l.org_id AND f.state = 'open' LIMIT $1`, SweepBatch)
	if err != nil {
		return 0, err
	}
	for i, l := range litter {
		for left := true; left; {
			err := t.InTx(ctx, l.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
				if left, err = deleteChunks(ctx, tx, l.Document, 0, l.Generation); err != nil || left {
					return err
				}
				tx.Touch("knowledge_litter", l.Document, number(l.Generation))
				_, err = tx.Exec(ctx, `
					DELETE FROM knowledge_litter WHERE org_id = $1 AND document_id = $2 AND generation = $3`,
					tx.Org, l.Document, l.Generation)
				return err
			}, tenant.Idempotent(true))
			if err != nil {
				return i, err
			}
		}
	}
	return len(litter), nil
}

// SweepDocuments deletes the documents of deleted packs, with their files.
func SweepDocuments(ctx context.Context, t *tenant.Tenants, files *file.Store, shard string, now time.Time) (int, error) {
	orphans, err := find(ctx, t, shard, `
		SELECT d.org_id, d.id, 0 FROM knowledge_base b
		JOIN org_fence f ON f.org_id = b.org_id AND f.state = 'open'
		JOIN knowledge_document d ON d.org_id = b.org_id AND d.base_id = b.id AND d.deleted_at IS NULL
		WHERE b.deleted_at IS NOT NULL LIMIT $1`, SweepBatch)
	if err != nil {
		return 0, err
	}
	return each(ctx, t, orphans, func(ctx context.Context, tx *tenant.Tx, f found) error {
		if err := recallReading(ctx, tx, f.Document, now); err != nil {
			return err
		}
		d, err := LockDocument(ctx, tx, f.Document)
		if !errdefs.IsGone(err, DocumentNoun) {
			return err
		}
		// Another sweep may have been faster; a file is let go of with its document.
		tag, err := tx.Exec(ctx, `
			SELECT id FROM knowledge_document WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`, tx.Org, f.Document)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if !d.File.IsZero() {
			if err := files.Discard(ctx, tx, d.File); err != nil {
				return err
			}
		}
		return d.remove(ctx, tx, *d.DeletedAt)
	})
}

// rememberedFor is how long what was deleted is answered with 410 rather than 404.
const rememberedFor = 90 * 24 * time.Hour

// Sweep forgets documents and packs of a shard that were deleted long ago.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	documents, err := t.SweepRows(ctx, shard, `
		DELETE FROM knowledge_document WHERE (org_id, id) IN (
			SELECT d.org_id, d.id FROM knowledge_document d JOIN org_fence f ON f.org_id = d.org_id AND f.state = 'open'
			WHERE d.deleted_at <= $1 LIMIT 1000)`, now.Add(-rememberedFor))
	if err != nil {
		return documents, err
	}
	bases, err := t.SweepRows(ctx, shard, `
		DELETE FROM knowledge_base WHERE (org_id, id) IN (
			SELECT b.org_id, b.id FROM knowledge_base b JOIN org_fence f ON f.org_id = b.org_id AND f.state = 'open'
			WHERE b.deleted_at <= $1 AND NOT EXISTS (
				SELECT 1 FROM knowledge_document d WHERE d.org_id = b.org_id AND d.base_id = b.id)
			LIMIT 1000)`, now.Add(-rememberedFor))
	return documents + bases, err
}
