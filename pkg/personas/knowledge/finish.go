package knowledge

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// forgotten is the step of a job whose document was deleted meanwhile.
func forgotten(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Cancelled
	return 0, nil
}

// later is the step of a job that tries again.
func later(so tries) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (wait time.Duration, err error) {
		j.Progress, err = json.Marshal(so)
		wait = firstWait
		for range so.sum() - 1 {
			wait *= 4
		}
		return wait, err
	}
}

// lockFor locks the document of a job; nil when it is no longer the job's.
func lockFor(ctx context.Context, tx *tenant.Tx, what task, j *job.Job) (*Document, error) {
	d, err := LockDocument(ctx, tx, what.Document)
	switch {
	case errdefs.IsAbsent(err, DocumentNoun), err == nil && d.Job != j.ID:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &d, nil
}

// finished is the step that makes what was read the document's.
func (r *Reader) finished(what task, got *reading) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		d, err := lockFor(ctx, tx, what, j)
		if err != nil || d == nil {
			j.State = job.Cancelled
			return 0, err
		}
		j.State = job.Succeeded
		if got.fetchedAt != nil {
			d.FetchedAt = got.fetchedAt
		}
		if got.same {
			d.Error = ""
			return 0, d.finishJob(ctx, tx, d.figures(), now)
		}
		room, vocabulary, err := hasRoom(ctx, tx, d, got.weight, MaxPackBytes)
		if err != nil {
			return 0, err
		}
		if !room {
			j.State, j.ErrorCode = job.Failed, string(PackFull)
			return 0, d.fail(ctx, tx, &failure{code: PackFull}, now)
		}
		if err := d.weigh(ctx, tx, got.weight.Vocabulary, vocabulary); err != nil {
			return 0, err
		}
		return 0, r.replace(ctx, tx, d, got, now)
	}
}

// replace makes the passages that were written those that are found.
func (r *Reader) replace(ctx context.Context, tx *tenant.Tx, d *Document, got *reading, now time.Time) error {
	before, old, last := d.figures(), d.File, d.Generation
	d.Status, d.Error, d.Generation, d.UpdatedAt = Ready, "", last+1, now
	d.ContentType, d.Bytes, d.SHA256, d.Pages, d.Language = got.contentType, got.bytes, got.sha256, got.pages, got.language
	d.Chunks, d.Postings = int64(len(got.chunks)), got.weight.Postings
	if !d.Titled && got.title != "" {
		d.Title = clip(got.title)
	}
	if !got.fresh.IsZero() {
		d.File = got.fresh
		if err := r.Files.Keep(ctx, tx, got.fresh); err != nil {
			return err
		}
		if !old.IsZero() {
			if err := r.Files.Discard(ctx, tx, old); err != nil {
				return err
			}
		}
	}
	if err := replaceTerms(ctx, tx, d.ID, true); err != nil {
		return err
	}
	if last > 0 {
		if err := d.litter(ctx, tx, last); err != nil {
			return err
		}
	}
	event.Emit(tx, event.Draft{Type: event.KnowledgeDocumentProcessed, At: now, Fields: map[string]any{
		"documentId": d.ID, "knowledgeBaseId": d.Base, "kind": d.Kind, "title": d.Title, "language": d.Language, "bytes": d.Bytes,
		"pages": d.Pages, "chunkCount": d.Chunks, "refreshed": last > 0, "processedAt": now,
	}})
	if err := d.finishJob(ctx, tx, before, now); err != nil {
		return err
	}
	return embedAgain(ctx, tx, d.Base, now)
}

// failed is the step that gives a document up. What was read before stays.
func failed(what task, why *failure) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		d, err := lockFor(ctx, tx, what, j)
		if err != nil || d == nil {
			j.State = job.Cancelled
			return 0, err
		}
		j.State, j.ErrorCode = job.Failed, string(why.code)
		return 0, d.fail(ctx, tx, why, now)
	}
}

// giveUp gives a document up whose job could not be made.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	var what task
	if err := json.Unmarshal(j.Input, &what); err != nil {
		return err
	}
	d, err := lockFor(ctx, tx, what, j)
	if err != nil || d == nil {
		return err
	}
	return d.fail(ctx, tx, &failure{code: Unreadable, retryable: true}, now)
}

// fail notes why the document cannot be read. A refresh that fails day by day
// is told of once.
func (d *Document) fail(ctx context.Context, tx *tenant.Tx, why *failure, now time.Time) error {
	before, news := d.figures(), d.Error == ""
	d.Error, d.UpdatedAt = why.code, now
	if d.Generation == 0 {
		d.Status = Failed
	}
	if news {
		event.Emit(tx, event.Draft{Type: event.KnowledgeDocumentFailed, At: now, Fields: map[string]any{
			"documentId": d.ID, "knowledgeBaseId": d.Base, "kind": d.Kind, "title": d.Title, "errorCode": d.Error,
			"retryable": why.retryable, "failedAt": now,
		}})
	}
	return d.finishJob(ctx, tx, before, now)
}

// finishJob writes what came of a job, and when the address is to be read again.
func (d *Document) finishJob(ctx context.Context, tx *tenant.Tx, before delta, now time.Time) error {
	revision, err := count(ctx, tx, d.Base, d.figures().since(before))
	if err != nil {
		return err
	}
	tx.Touch("knowledge_document", d.ID)
	_, err = tx.Exec(ctx, `
		UPDATE knowledge_document SET title = $3, status = $4, error_code = $5, content_type = $6, bytes = $7, sha256 = $8,
			file_id = $9, pages = $10, chunks = $11, language = $12, fetched_at = $13, refresh_due_at = $14, job_id = NULL,
			generation = $15, updated_at = $16, revision = $17, postings = $18
		WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, d.Title, d.Status, d.Error, d.ContentType, d.Bytes, d.SHA256, d.File, d.Pages, d.Chunks, d.Language,
		d.FetchedAt, d.Refresh.due(now), d.Generation, d.UpdatedAt, revision, d.Postings)
	return err
}

// maxTitle is how many characters of a document's own title are kept.
const maxTitle = 200

func clip(title string) string {
	if runes := []rune(title); len(runes) > maxTitle {
		return string(runes[:maxTitle])
	}
	return title
}
