package knowledge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Embedding is how a pack's passages are found by what they mean, besides their words.
type Embedding struct {
	// Connection makes the vectors; zero for none.
	Connection id.Connection
	// Embeds is the job that makes them now; zero where none does.
	Embeds id.Job
	// EmbeddingError is why the last one could not; empty where it could.
	EmbeddingError EmbeddingCode
	// Embedded counts the passages with a vector.
	Embedded int64
}

// EmbeddingCode is why vectors could not be made.
type EmbeddingCode string

// The codes.
const (
	// NoConnection: it was deleted, or is switched off.
	NoConnection EmbeddingCode = "connection_unavailable"
	// ConnectionFailed: the service failed several times in a row, which its calls tell more of.
	ConnectionFailed EmbeddingCode = "connection_failed"
	// TooManyVectors: the passages times the numbers of a vector are beyond MaxVectorBytes.
	TooManyVectors EmbeddingCode = "pack_too_large"
)

// EmbeddingCodes lists them.
func EmbeddingCodes() []EmbeddingCode {
	return []EmbeddingCode{NoConnection, ConnectionFailed, TooManyVectors}
}

// MaxVectorBytes bounds the vectors of a pack, of which each number takes a byte: 43,000
// passages with 1,536 numbers each.
const MaxVectorBytes = 64 << 20

// connectionChange is what a change of the connection is called among the changes of a pack.
const connectionChange = "embeddingConnectionId"

// embedBy has the vectors of a pack made by its connection from now on, or taken away
// where it has none. The error can be a connection.UnusableError or an errdefs.Invalid.
func (b *Base) embedBy(ctx context.Context, tx *tenant.Tx, who activity.Actor) error {
	uses := []id.Connection{b.Connection}
	if b.Connection.IsZero() {
		uses = nil
	}
	if err := connection.SetUses(ctx, tx, connection.ByKnowledgeBase(b.ID), uses...); err != nil {
		return err
	}
	if !b.Connection.IsZero() {
		c, err := connection.Find(ctx, tx, b.Connection)
		if err != nil {
			return err
		}
		if c.Kind != connection.Embedding {
			return errdefs.InvalidField(connectionChange, "is a connection of another kind than embedding")
		}
	}
	// Whoever makes vectors now makes them for the connection of before: its job ends by itself.
	next, err := proposeEmbedding(ctx, tx, b.ID, who.At)
	if err != nil {
		return err
	}
	b.Embeds, b.EmbeddingError = next, ""
	tx.Touch("knowledge_base", b.ID)
	_, err = tx.Exec(ctx, `
		UPDATE knowledge_base SET embedding_connection_id = $3, embedding_job_id = $4, embedding_error = '', embedding_due_at = NULL,
			embedding_done_at = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org, b.ID, b.Connection, next)
	return err
}

// embedAgain has vectors made of what a pack has new, where a connection makes them and no job
// does so already. Who calls it holds the pack's row.
func embedAgain(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase, now time.Time) error {
	tag, err := tx.Exec(ctx, `
		SELECT b.id FROM knowledge_base b
		WHERE b.org_id = $1 AND b.id = $2 AND b.deleted_at IS NULL AND b.embedding_connection_id IS NOT NULL AND b.embedding_job_id IS NULL`,
		tx.Org, b)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	next, err := proposeEmbedding(ctx, tx, b, now)
	if err != nil {
		return err
	}
	tx.Touch("knowledge_base", b)
	_, err = tx.Exec(ctx, `
		UPDATE knowledge_base SET embedding_job_id = $3, embedding_due_at = NULL WHERE org_id = $1 AND id = $2`, tx.Org, b, next)
	return err
}

// embedSmaller is embedAgain for a pack that lost passages and was too large for vectors before.
// Who calls it holds the pack's row.
func embedSmaller(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase, now time.Time) error {
	tag, err := tx.Exec(ctx, `
		SELECT b.id FROM knowledge_base b WHERE b.org_id = $1 AND b.id = $2 AND b.embedding_error = $3`, tx.Org, b, TooManyVectors)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return embedAgain(ctx, tx, b, now)
}

// embedding is the input of a job of kind knowledge_embed.
type embedding struct {
	Base id.KnowledgeBase `json:"base"`
}

func proposeEmbedding(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase, at time.Time) (id.Job, error) {
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.KnowledgeEmbed, ResourceKind: "knowledge_base", ResourceID: b.String(), Scope: scope.KnowledgeRead,
		CreatedBy: "system", CreatedAt: at,
	}, embedding{b})
	return j.ID, err
}

// EmbedDue queues the jobs of packs of a shard whose vectors are to be made anew: those of a
// connection that was changed since, those that were not done, and those with a document that a
// release without vectors read. It rides
// knowledge_base_by_embedding.
func EmbedDue(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org  id.Org
		Base id.KnowledgeBase
	}
	rows, err := db.Query(ctx, `
		SELECT b.org_id, b.id FROM knowledge_base b
		JOIN org_fence f ON f.org_id = b.org_id AND f.state = 'open'
		JOIN connection c ON c.org_id = b.org_id AND c.id = b.embedding_connection_id AND c.state <> 'disabled'
		WHERE b.embedding_connection_id IS NOT NULL AND b.embedding_job_id IS NULL AND b.deleted_at IS NULL
			AND (b.embedding_due_at <= $1 OR c.settled_at > b.embedding_done_at OR b.embedding_error = '' AND EXISTS (
				SELECT 1 FROM knowledge_document d
				WHERE d.org_id = b.org_id AND d.base_id = b.id AND d.deleted_at IS NULL AND d.generation > 0 AND d.chunks > 0
					AND d.embedded_generation <> d.generation))
		LIMIT $2`, now, SweepBatch)
	if err != nil {
		return 0, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	for i, d := range all {
		err := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
			if _, err := LockBase(ctx, tx, d.Base); err != nil {
				return err
			}
			return embedAgain(ctx, tx, d.Base, now)
		}, tenant.Idempotent(true))
		if err != nil && !errdefs.IsAbsent(err, BaseNoun) {
			return i, err
		}
	}
	return len(all), err
}

// deleteVectors deletes the vectors of the generations from one to another.
func deleteVectors(ctx context.Context, tx *tenant.Tx, d id.Document, from, to int64) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM knowledge_vector WHERE org_id = $1 AND document_id = $2 AND generation >= $3 AND generation <= $4
		RETURNING generation, part`, tx.Org, d, from, to)
	if err != nil {
		return err
	}
	var generation, part int64
	_, err = pgx.ForEachRow(rows, []any{&generation, &part}, func() error {
		tx.Touch("knowledge_vector", d, number(generation), number(part))
		return nil
	})
	return err
}
