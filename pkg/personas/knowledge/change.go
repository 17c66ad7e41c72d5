package knowledge

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// UpdateDocument writes what a customer says of a document that LockDocument
// found: its title, tags and refresh; changes are the new values by name. Searches go by
// the tags at once.
func UpdateDocument(ctx context.Context, tx *tenant.Tx, d Document, changes map[string]any, who activity.Actor) error {
	revision, err := count(ctx, tx, d.Base, delta{})
	if err != nil {
		return err
	}
	due := d.Refresh.due(d.UpdatedAt)
	if due != nil && d.FetchedAt != nil {
		due = d.Refresh.due(*d.FetchedAt)
	}
	tx.Touch("knowledge_document", d.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE knowledge_document SET title = $3, titled = $4, tags = $5, refresh = $6, refresh_due_at = $7, updated_at = $8, revision = $9
		WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, d.Title, d.Titled, d.Tags, d.Refresh, due, d.UpdatedAt, revision); err != nil {
		return err
	}
	who.Log(tx, "document.updated", "document", d.ID, changes)
	return nil
}

// DeleteDocument deletes a document: nothing of it is found from the commit
// on. Its file is for the caller to discard. The error can be errdefs.NotFound or errdefs.Gone.
func DeleteDocument(ctx context.Context, tx *tenant.Tx, which id.Document, who activity.Actor) (Document, error) {
	if err := recallReading(ctx, tx, which, who.At); err != nil {
		return Document{}, err
	}
	d, err := LockDocument(ctx, tx, which)
	if err != nil {
		return d, err
	}
	if err := d.remove(ctx, tx, who.At); err != nil {
		return d, err
	}
	who.Log(tx, "document.deleted", "document", d.ID, map[string]any{"title": d.Title, "knowledgeBaseId": d.Base})
	return d, nil
}

// recallReading has the job that reads a document look at it again, before it is deleted:
// it then ends.
func recallReading(ctx context.Context, tx *tenant.Tx, which id.Document, now time.Time) error {
	var reads id.Job
	err := tx.QueryRow(ctx, `
		SELECT job_id FROM knowledge_document WHERE org_id = $1 AND id = $2 AND job_id IS NOT NULL`, tx.Org, which).Scan(&reads)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return job.Recall(ctx, tx, reads, now)
}

// remove deletes a document whose pack is locked.
func (d *Document) remove(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	revision, err := count(ctx, tx, d.Base, d.figures().negative())
	if err != nil {
		return err
	}
	tx.Touch("knowledge_document", d.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE knowledge_document SET deleted_at = $3, updated_at = $3, file_id = NULL, refresh_due_at = NULL, revision = $4, vocabulary = ''
		WHERE org_id = $1 AND id = $2`, tx.Org, d.ID, at, revision); err != nil {
		return err
	}
	if err := replaceTerms(ctx, tx, d.ID, false); err != nil {
		return err
	}
	if err := d.litter(ctx, tx, math.MaxInt64); err != nil {
		return err
	}
	return embedSmaller(ctx, tx, d.Base, at)
}

// litter has the document's passages up to a generation deleted. There can be
// many thousands, so it is not done here.
func (d *Document) litter(ctx context.Context, tx *tenant.Tx, generation int64) error {
	tx.Touch("knowledge_litter", d.ID, number(generation))
	_, err := tx.Exec(ctx, `
		INSERT INTO knowledge_litter (org_id, document_id, generation) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, document_id, generation) DO NOTHING`, tx.Org, d.ID, generation)
	return err
}

// figures are what the document adds to its pack's.
func (d *Document) figures() delta {
	f := delta{documents: 1, bytes: d.Bytes, chunks: d.Chunks, postings: d.Postings}
	switch d.Status {
	case Ready:
		f.ready = 1
	case Failed:
		f.failed = 1
	}
	return f
}

func (d delta) negative() delta {
	return delta{-d.documents, -d.ready, -d.failed, -d.bytes, -d.chunks, -d.postings}
}

// since is what changed from one to the other.
func (d delta) since(before delta) delta {
	return delta{
		d.documents - before.documents, d.ready - before.ready, d.failed - before.failed,
		d.bytes - before.bytes, d.chunks - before.chunks, d.postings - before.postings,
	}
}

// ReasonNoAddress is that of the conflict of a document that has no address to be read
// again.
const ReasonNoAddress = "not_url"

// ReadAgain queues the job that fetches a document's address again, unless one
// reads it already. What was read before can be found until then. The error can be errdefs.NotFound, errdefs.Gone or an errdefs.Conflict.
func ReadAgain(ctx context.Context, tx *tenant.Tx, which id.Document, who activity.Actor) (Document, error) {
	d, err := LockDocument(ctx, tx, which)
	switch {
	case err != nil:
		return d, err
	case d.Kind != Address:
		return d, &errdefs.Conflict{Noun: DocumentNoun, ID: which.String(), Reason: ReasonNoAddress, Message: "Only a document of kind url can be read again."}
	}
	if d.Job.IsZero() {
		if err := d.readAgain(ctx, tx, who); err != nil {
			return d, err
		}
	}
	who.Log(tx, "document.refreshed", "document", d.ID, nil)
	return d, nil
}

func (d *Document) readAgain(ctx context.Context, tx *tenant.Tx, who activity.Actor) (err error) {
	before := d.figures()
	if d.Generation == 0 {
		d.Status, d.Error, d.UpdatedAt = Processing, "", who.At
	}
	if d.Job, err = propose(ctx, tx, d, who.By, who.At); err != nil {
		return err
	}
	if _, err := count(ctx, tx, d.Base, d.figures().since(before)); err != nil {
		return err
	}
	tx.Touch("knowledge_document", d.ID)
	_, err = tx.Exec(ctx, `
		UPDATE knowledge_document SET status = $3, error_code = $4, job_id = $5, updated_at = $6 WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, d.Status, d.Error, d.Job, d.UpdatedAt)
	return err
}
