package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	embeddings "visavis.dev/pkg/provider/embedding"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/vector"
)

// Embedder makes the vectors of packs' passages: it is what the jobs of the kind
// knowledge_embed do.
type Embedder struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Egress  *egress.Guard
	Report  *connection.Reporter
	Clock   clock.PassiveClock
}

const (
	// passagesPerPart is how many passages have their vectors in a part: those of one request, so
	// that nothing is asked for twice that was answered.
	passagesPerPart = embeddings.MostTexts
	// maxPassage bounds what is told of a passage, in bytes: models take some thousand tokens.
	maxPassage = 6000
	// embeddingTries is how often a service may fail in a row before it is left alone for
	// embeddingPause; firstEmbeddingWait is after the first time, and doubles.
	embeddingTries     = 5
	firstEmbeddingWait = 15 * time.Second
	embeddingPause     = 15 * time.Minute
	// unseen is how long a change of a connection may not have been seen, where its config is
	// remembered for a moment and clocks differ: what was done within it is looked at again.
	unseen = 10 * time.Second
)

// Background is what workers do for vectors.
func (e *Embedder) Background() job.Background {
	d := sweep.Deps{Tenants: e.Tenants, Clock: e.Clock}
	return job.Background{
		Works: map[job.Kind]job.Work{job.KnowledgeEmbed: {Prepare: e.prepare, GiveUp: giveUpEmbedding}},
		Tasks: []sweep.Task{{Name: "make vectors anew", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(EmbedDue)}},
	}
}

// embedProgress is how far a job got: the document whose vectors are made, and how many of its
// passages have one.
type embedProgress struct {
	Document   id.Document `json:"document,omitzero"`
	Generation int64       `json:"generation,omitempty"`
	Passages   int64       `json:"passages,omitempty"`
	// Space is that of the vectors: where the connection changes meanwhile all are made anew.
	Space vector.Space `json:"space,omitempty"`
	// Failed counts the failures in a row.
	Failed int `json:"failed,omitempty"`
}

// prepare makes some vectors, and answers the step that keeps them.
func (e *Embedder) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		what embedding
		so   embedProgress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &what), json.Unmarshal(j.Progress, &so)); err != nil {
		return nil, err
	}
	b, err := GetBase(ctx, e.Tenants, j.Org, what.Base)
	switch {
	case errdefs.IsAbsent(err, BaseNoun), err == nil && b.Embeds != j.ID:
		return forgotten, nil
	case err != nil:
		return nil, err
	case b.Connection.IsZero():
		return takeAway(what), nil
	}
	opened, err := e.Opener.Open(ctx, j.Org, b.Connection)
	switch {
	case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
		return halted(what, NoConnection), nil
	case err != nil:
		return nil, err
	}
	began := e.Clock.Now().UTC()
	d, err := e.next(ctx, j.Org, what.Base, opened.Space(), so)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return e.done(what, opened.Space(), began), nil
	}
	if so.Document != d.Document || so.Generation != d.Generation || so.Space != opened.Space() {
		so = embedProgress{Document: d.Document, Generation: d.Generation, Space: opened.Space(), Failed: so.Failed}
	}
	made, err := e.embed(ctx, j.Org, &opened, d, so.Passages, b.Chunks)
	switch {
	case errors.Is(err, errTooManyVectors):
		return halted(what, TooManyVectors), nil
	case errdefs.IsAbsent(err, DocumentNoun):
		return lookAnew, nil
	case upstream.CodeOf(err) != "":
		if so.Failed++; so.Failed < embeddingTries {
			return waiting(so), nil
		}
		return halted(what, ConnectionFailed), nil
	case err != nil:
		return nil, err
	}
	return keepVectors(what, d, opened.Space(), made, so), nil
}

// lacking is a document whose passages lack vectors.
type lacking struct {
	Document           id.Document
	Generation, Chunks int64
	Title              string
}

// next is a document of a pack that lacks vectors of a space, the one that was begun before
// others; nil where none does. It rides knowledge_document_by_base.
func (e *Embedder) next(ctx context.Context, org id.Org, b id.KnowledgeBase, space vector.Space, so embedProgress) (*lacking, error) {
	found, err := tenant.All(ctx, e.Tenants, org, pgx.RowToStructByPos[lacking], selectLacking+` ORDER BY d.id <> $4, d.id LIMIT 1`, org, b, space, so.Document)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

const selectLacking = `
	SELECT d.id, d.generation, d.chunks, d.title FROM knowledge_document d
	WHERE d.org_id = $1 AND d.base_id = $2 AND d.deleted_at IS NULL AND d.generation > 0 AND d.chunks > 0
		AND (d.embedded_generation <> d.generation OR d.embedded_space <> $3)`

// errTooManyVectors says that the vectors of a pack would take more than MaxVectorBytes.
var errTooManyVectors = errors.New("the pack has too many passages for vectors of this size")

// embed makes the vectors of the passages of a part, of a pack with so many passages. The error is
// upstream's, errTooManyVectors, errdefs.NotFound or errdefs.Gone, or one of the database.
func (e *Embedder) embed(ctx context.Context, org id.Org, by *connection.Opened, d *lacking, from, all int64) (form []byte, err error) {
	if vector.Bytes(all, by.Config.Number("dimensions")) > MaxVectorBytes { // seen without asking
		return nil, errTooManyVectors
	}
	chunks, err := ListChunks(ctx, e.Tenants, org, d.Document, from, passagesPerPart)
	if err != nil {
		return nil, err
	}
	if len(chunks) == 0 { // it was read anew just now
		return nil, DocumentNoun.NotFound(d.Document)
	}
	client := by.Embedder(e.Egress)
	passages, texts := make([]id.Chunk, len(chunks)), make([]string, len(chunks))
	for i := range chunks {
		passages[i], texts[i] = chunks[i].ID, by.Config.PassageText(told(d.Title, &chunks[i]))
	}
	began := e.Clock.Now()
	vectors, err := client.Embed(ctx, texts)
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	e.Report.Report(org, by.ID, connection.OutcomeOf("embeddings", began, e.Clock.Now(), err))
	switch {
	case err != nil:
		return nil, err
	case vector.Bytes(all, len(vectors[0])) > MaxVectorBytes:
		return nil, errTooManyVectors
	}
	return vector.Marshal(passages, vectors), nil
}

// told is what is told of a passage: where it stands, and what it says.
func told(title string, c *Chunk) string {
	t := c.text(title)
	text := t.Heading + "\n" + t.Text
	return strings.ToValidUTF8(text[:min(len(text), maxPassage)], "")
}

// lockEmbedding locks the pack of a job; nil where it is no longer the pack's.
func lockEmbedding(ctx context.Context, tx *tenant.Tx, what embedding, j *job.Job) (*Base, error) {
	b, err := LockBase(ctx, tx, what.Base)
	switch {
	case errdefs.IsAbsent(err, BaseNoun), err == nil && b.Embeds != j.ID:
		j.State = job.Cancelled
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &b, nil
}

// keepVectors is the step that keeps the vectors of a part. With the last of a document they are
// found.
func keepVectors(what embedding, d *lacking, space vector.Space, form []byte, so embedProgress) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if b, err := lockEmbedding(ctx, tx, what, j); err != nil || b == nil {
			return 0, err
		}
		now, err := LockDocument(ctx, tx, d.Document)
		if errdefs.IsAbsent(err, DocumentNoun) || err == nil && now.Generation != d.Generation {
			return 0, nil // the next look finds what there is then
		}
		if err != nil {
			return 0, err
		}
		part := so.Passages / passagesPerPart
		tx.Touch("knowledge_vector", d.Document, number(d.Generation), number(part))
		if _, err := tx.Exec(ctx, `
			INSERT INTO knowledge_vector (org_id, document_id, generation, part, space, form) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (org_id, document_id, generation, part) DO UPDATE SET space = excluded.space, form = excluded.form`,
			tx.Org, d.Document, d.Generation, part, space, form); err != nil {
			return 0, err
		}
		so.Passages, so.Failed = (part+1)*passagesPerPart, 0
		if so.Passages >= now.Chunks {
			if err := now.embedded(ctx, tx, space); err != nil {
				return 0, err
			}
			so = embedProgress{}
		}
		j.Progress, err = json.Marshal(so)
		return 0, err
	}
}

// embedded notes that all vectors of a document are there, so that searches take them up.
func (d *Document) embedded(ctx context.Context, tx *tenant.Tx, space vector.Space) error {
	revision, err := count(ctx, tx, d.Base, delta{})
	if err != nil {
		return err
	}
	tx.Touch("knowledge_document", d.ID)
	_, err = tx.Exec(ctx, `
		UPDATE knowledge_document SET embedded_generation = generation, embedded_space = $3, revision = $4 WHERE org_id = $1 AND id = $2`,
		tx.Org, d.ID, space, revision)
	return err
}

// done is the step of a job that found nothing left to do. What came meanwhile is done too.
func (e *Embedder) done(what embedding, space vector.Space, began time.Time) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if b, err := lockEmbedding(ctx, tx, what, j); err != nil || b == nil {
			return 0, err
		}
		more, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[lacking], selectLacking+` LIMIT 1`, tx.Org, what.Base, space)
		if err != nil || len(more) > 0 {
			return 0, err
		}
		j.State = job.Succeeded
		tx.Touch("knowledge_base", what.Base)
		_, err = tx.Exec(ctx, `
			UPDATE knowledge_base SET embedding_job_id = NULL, embedding_done_at = $3, embedding_due_at = NULL, embedding_error = ''
			WHERE org_id = $1 AND id = $2`, tx.Org, what.Base, began.Add(-unseen))
		return 0, err
	}
}

// halted is the step of a job that cannot go on. It is tried again after a while, or when the
// connection was changed.
func halted(what embedding, code EmbeddingCode) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		return 0, halt(ctx, tx, what, j, code, now)
	}
}

func halt(ctx context.Context, tx *tenant.Tx, what embedding, j *job.Job, code EmbeddingCode, now time.Time) error {
	if b, err := lockEmbedding(ctx, tx, what, j); err != nil || b == nil {
		return err
	}
	j.State, j.ErrorCode = job.Failed, string(code)
	var due *time.Time
	if code != TooManyVectors { // that changes with the pack or the connection alone, which have it tried again
		due = new(now.Add(embeddingPause))
	}
	tx.Touch("knowledge_base", what.Base)
	_, err := tx.Exec(ctx, `
		UPDATE knowledge_base SET embedding_job_id = NULL, embedding_done_at = $3, embedding_due_at = $4, embedding_error = $5
		WHERE org_id = $1 AND id = $2`, tx.Org, what.Base, now, due, code)
	return err
}

// giveUpEmbedding ends a job that failed for reasons of ours.
func giveUpEmbedding(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	var what embedding
	if err := json.Unmarshal(j.Input, &what); err != nil {
		return err
	}
	return halt(ctx, tx, what, j, ConnectionFailed, now)
}

// waiting is the step of a job whose service failed.
func waiting(so embedProgress) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (wait time.Duration, err error) {
		j.Progress, err = json.Marshal(so)
		return firstEmbeddingWait << (so.Failed - 1), err
	}
}

// lookAnew is the step of a job whose document changed meanwhile.
func lookAnew(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) { return 0, nil }

// documentsAtOnce is how many documents lose their vectors in a transaction.
const documentsAtOnce = 20

// takeAway is the step of a job whose pack has no connection any more: the vectors go.
func takeAway(what embedding) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if b, err := lockEmbedding(ctx, tx, what, j); err != nil || b == nil {
			return 0, err
		}
		some, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Document], `
			SELECT d.id FROM knowledge_document d
			WHERE d.org_id = $1 AND d.base_id = $2 AND d.deleted_at IS NULL AND (d.embedded_space <> '' OR EXISTS (
				SELECT 1 FROM knowledge_vector v WHERE v.org_id = d.org_id AND v.document_id = d.id))
			LIMIT $3`, tx.Org, what.Base, documentsAtOnce)
		if err != nil {
			return 0, err
		}
		for _, d := range some {
			if err := deleteVectors(ctx, tx, d, 0, math.MaxInt64); err != nil {
				return 0, err
			}
			revision, err := count(ctx, tx, what.Base, delta{})
			if err != nil {
				return 0, err
			}
			tx.Touch("knowledge_document", d)
			if _, err := tx.Exec(ctx, `
				UPDATE knowledge_document SET embedded_generation = 0, embedded_space = '', revision = $3 WHERE org_id = $1 AND id = $2`,
				tx.Org, d, revision); err != nil {
				return 0, err
			}
		}
		if len(some) == documentsAtOnce {
			return 0, nil
		}
		j.State = job.Succeeded
		tx.Touch("knowledge_base", what.Base)
		_, err = tx.Exec(ctx, `UPDATE knowledge_base SET embedding_job_id = NULL WHERE org_id = $1 AND id = $2`, tx.Org, what.Base)
		return 0, err
	}
}
