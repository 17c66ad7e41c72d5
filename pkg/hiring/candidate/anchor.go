package candidate

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// Anchorer signs once a day how the records of organizations' candidates stand.
type Anchorer struct {
	// Signer is the key that signs for an organization.
	Signer func(context.Context, id.Org) (record.Signer, error)
}

// Background is what workers do for it.
func (a *Anchorer) Background(d sweep.Deps) job.Background {
	return job.Background{Tasks: []sweep.Task{
		{Name: "anchor candidates' records", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(a.Run)},
	}}
}

// Run anchors the records of a shard's organizations that changed since their last anchor, where
// that is of another day (in UTC), and answers how many organizations it looked at. It rides
// candidate_by_anchor and record_anchor_by_time.
func (a *Anchorer) Run(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT c.org_id FROM candidate c JOIN org_fence f ON f.org_id = c.org_id AND f.state IN ('open', 'capture')
		WHERE c.record_length > c.anchored_length
			AND NOT EXISTS (SELECT 1 FROM record_anchor a WHERE a.org_id = c.org_id AND a.at >= $1)
		LIMIT $2`, now.UTC().Truncate(24*time.Hour), SweepBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, org := range found {
		failed = append(failed, a.anchor(ctx, t, org, now))
	}
	return len(found), errors.Join(failed...) // for one nobody else waits
}

// anchor anchors all records of an organization that changed, in as many anchors as it takes.
func (a *Anchorer) anchor(ctx context.Context, t *tenant.Tenants, org id.Org, now time.Time) error {
	by, err := a.Signer(ctx, org)
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			changed, err := changed(ctx, tx)
			if more = len(changed) == record.MaxLeaves; err != nil || len(changed) == 0 {
				return err
			}
			_, err = record.Seal(ctx, tx, changed, by, now)
			return err
		}, tenant.Idempotent(true)) // what is anchored changed no more
	}
	return err
}

// changed are records that changed since they were anchored, and counts them as anchored. It rides
// candidate_by_anchor.
func changed(ctx context.Context, tx *tenant.Tx) ([]record.Chain, error) {
	found, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[record.Chain], `
		UPDATE candidate SET anchored_length = record_length WHERE org_id = $1 AND id IN (
			SELECT id FROM candidate WHERE org_id = $1 AND record_length > anchored_length ORDER BY id LIMIT $2 FOR UPDATE)
		RETURNING id, record_length, record_head`, tx.Org, record.MaxLeaves)
	for _, c := range found {
		tx.Touch("candidate", c.Candidate)
	}
	return found, err
}
