package knowledge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Base is a knowledge pack.
type Base struct {
	ID                    id.KnowledgeBase
	Name                  string
	Description, Language *string
	// Documents counts them all; those neither ready nor failed are being read.
	Documents, Ready, Failed int64
	// Bytes of the documents' originals, and how many passages they have.
	Bytes, Chunks        int64
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
	Uses
	Embedding
}

// Uses are who answers from a pack.
type Uses struct {
	Personas []id.Persona
	Portals  []id.Portal
}

// The nouns that errors of this package are about.
const (
	BaseNoun     errdefs.Noun = "knowledge pack"
	DocumentNoun errdefs.Noun = "document"
	GapNoun      errdefs.Noun = "gap"
)

const selectBase = `
	SELECT b.id, b.name, b.description, b.language, b.documents, b.ready, b.failed, b.bytes, b.chunks,
		b.created_at, b.updated_at, b.deleted_at, b.embedding_connection_id, b.embedding_job_id, b.embedding_error,
		CASE WHEN b.embedding_connection_id IS NULL THEN 0 ELSE (
			SELECT COALESCE(SUM(d.chunks), 0)::BIGINT FROM knowledge_document d
			WHERE d.org_id = b.org_id AND d.base_id = b.id AND d.deleted_at IS NULL AND d.embedded_generation = d.generation) END,
		ARRAY(SELECT u.user_id FROM knowledge_use u
			WHERE u.org_id = b.org_id AND u.base_id = b.id AND u.user_kind = 'persona' ORDER BY u.user_id),
		ARRAY(SELECT u.user_id FROM knowledge_use u
			WHERE u.org_id = b.org_id AND u.base_id = b.id AND u.user_kind = 'portal' ORDER BY u.user_id)
	FROM knowledge_base b `

func scanBase(row pgx.CollectableRow) (b Base, err error) {
	err = row.Scan(&b.ID, &b.Name, &b.Description, &b.Language, &b.Documents, &b.Ready, &b.Failed, &b.Bytes, &b.Chunks,
		&b.CreatedAt, &b.UpdatedAt, &b.DeletedAt, &b.Connection, &b.Embeds, &b.EmbeddingError, &b.Embedded, &b.Personas, &b.Portals)
	return b, err
}

// oneBase is the one pack that was found, if it is still there.
func oneBase(b id.KnowledgeBase, found []Base, err error) (Base, error) {
	switch {
	case err != nil:
		return Base{}, err
	case len(found) == 0:
		return Base{}, BaseNoun.NotFound(b)
	case found[0].DeletedAt != nil:
		return found[0], BaseNoun.Gone(b)
	}
	return found[0], nil
}

// ListBases is a page of the packs, newest first, after one of them; the zero
// id for the first page. It rides knowledge_base_pkey.
func ListBases(ctx context.Context, t *tenant.Tenants, org id.Org, after id.KnowledgeBase, limit int) (found []Base, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scanBase)
			return err
		}, selectBase+`
			WHERE b.org_id = $1 AND ($2::UUID IS NULL OR b.id < $2) AND b.deleted_at IS NULL
			ORDER BY b.id DESC LIMIT $3`, org, after, limit)
	})
	return found, err
}

// GetBase finds a pack. The error can be errdefs.NotFound or errdefs.Gone.
func GetBase(ctx context.Context, t *tenant.Tenants, org id.Org, b id.KnowledgeBase) (Base, error) {
	found, err := tenant.All(ctx, t, org, scanBase, selectBase+`WHERE b.org_id = $1 AND b.id = $2`, org, b)
	return oneBase(b, found, err)
}

// LockBase reads a pack and holds its row until the transaction ends. It comes
// before every change of the pack, of what is in it and of who uses it. The
// error can be errdefs.NotFound or errdefs.Gone.
func LockBase(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase) (Base, error) {
	// Who uses it is read in a statement of its own: the first sees what was so
	// before it waited.
	if _, err := tx.Exec(ctx, `SELECT id FROM knowledge_base WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, b); err != nil {
		return Base{}, err
	}
	found, err := tenant.AllIn(ctx, tx, scanBase, selectBase+`WHERE b.org_id = $1 AND b.id = $2`, tx.Org, b)
	return oneBase(b, found, err)
}

// Revisions are those of packs: what a pack holds is the same while its revision is. One that is
// gone has none. It rides knowledge_base_pkey.
func Revisions(ctx context.Context, t *tenant.Tenants, org id.Org, bases []id.KnowledgeBase) (map[id.KnowledgeBase]int64, error) {
	type revision struct {
		Base id.KnowledgeBase
		Of   int64
	}
	all, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[revision], `
		SELECT b.id, b.revision FROM knowledge_base b WHERE b.org_id = $1 AND b.id = ANY($2) AND b.deleted_at IS NULL`, org, bases)
	found := make(map[id.KnowledgeBase]int64, len(all))
	for _, r := range all {
		found[r.Base] = r.Of
	}
	return found, err
}

// InsertBase adds a pack without documents. full says that the terms leave no
// room and nothing was added. The error can be a connection.UnusableError, or an errdefs.Invalid
// of the connection.
func InsertBase(ctx context.Context, tx *tenant.Tx, b Base, terms plan.Terms, who activity.Actor) (full bool, err error) {
	limit, limited := terms.Limit(plan.KnowledgeBases)
	if full, err := tx.Increment(ctx, string(plan.KnowledgeBases), limit, limited); full || err != nil {
		return full, err
	}
	tx.Touch("knowledge_base", b.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO knowledge_base (org_id, id, name, description, language, documents, ready, failed, bytes, chunks, revision,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, 0, $6, $6)`,
		tx.Org, b.ID, b.Name, b.Description, b.Language, b.CreatedAt); err != nil {
		return false, err
	}
	who.Log(tx, "knowledge.created", "knowledge_base", b.ID, map[string]any{"name": b.Name})
	if !b.Connection.IsZero() {
		return false, b.embedBy(ctx, tx, who)
	}
	return false, nil
}

// UpdateBase writes what a customer says of a pack that LockBase found; changes
// are the new values by name. The error can be a connection.UnusableError, or an errdefs.Invalid
// of the connection.
func UpdateBase(ctx context.Context, tx *tenant.Tx, b Base, changes map[string]any, who activity.Actor) error {
	tx.Touch("knowledge_base", b.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE knowledge_base SET name = $3, description = $4, language = $5, updated_at = $6 WHERE org_id = $1 AND id = $2`,
		tx.Org, b.ID, b.Name, b.Description, b.Language, b.UpdatedAt); err != nil {
		return err
	}
	who.Log(tx, "knowledge.updated", "knowledge_base", b.ID, changes)
	if _, changed := changes[connectionChange]; changed {
		return b.embedBy(ctx, tx, who)
	}
	return nil
}

// DeleteBase deletes a pack that nobody uses, with all that is in it: nothing
// of it is found from the commit on, and the rest is swept. The error can be
// errdefs.NotFound, errdefs.Gone or an errdefs.Conflict.
func DeleteBase(ctx context.Context, tx *tenant.Tx, which id.KnowledgeBase, who activity.Actor) (Base, error) {
	b, err := LockBase(ctx, tx, which)
	if err != nil {
		return b, err
	}
	if len(b.Personas)+len(b.Portals) > 0 {
		return b, BaseNoun.InUse(which, "%d personas and %d portals answer from the pack.", len(b.Personas), len(b.Portals))
	}
	tx.Touch("knowledge_base", b.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE knowledge_base SET deleted_at = $3, updated_at = $3, revision = revision + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org, b.ID, who.At); err != nil {
		return b, err
	}
	if err := tx.Decrement(ctx, string(plan.KnowledgeBases)); err != nil {
		return b, err
	}
	if err := connection.SetUses(ctx, tx, connection.ByKnowledgeBase(which)); err != nil {
		return b, err
	}
	who.Log(tx, "knowledge.deleted", "knowledge_base", b.ID, map[string]any{"name": b.Name, "documents": b.Documents})
	return b, nil
}

// delta is what a change of a document makes of its pack's figures.
type delta struct{ documents, ready, failed, bytes, chunks, postings int64 }

// count changes a pack's figures and answers its new revision.
func count(ctx context.Context, tx *tenant.Tx, b id.KnowledgeBase, d delta) (revision int64, err error) {
	tx.Touch("knowledge_base", b)
	err = tx.QueryRow(ctx, `
		UPDATE knowledge_base SET documents = documents + $3, ready = ready + $4, failed = failed + $5, bytes = bytes + $6,
			chunks = chunks + $7, postings = postings + $8, revision = revision + 1
		WHERE org_id = $1 AND id = $2 RETURNING revision`,
		tx.Org, b, d.documents, d.ready, d.failed, d.bytes, d.chunks, d.postings).Scan(&revision)
	return revision, err
}
