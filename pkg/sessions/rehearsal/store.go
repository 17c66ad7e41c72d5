package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

const columns = `id, persona_id, name, question, language, expect, enabled, last_run, created_at, updated_at, gap_id`

func scan(row pgx.CollectableRow) (Test, error) { return pgx.RowToStructByPos[Test](row) }

// Create enters a test of a persona, and answers it as it is kept. The error can be errdefs.NotFound,
// errdefs.Gone, an errdefs.Conflict where the persona has MaxTests, or an errdefs.Invalid
// for a document or a gap that is not there, or a question in a visitor's words.
func Create(ctx context.Context, tx *tenant.Tx, t Test, who activity.Actor) (Test, error) {
	if _, err := persona.Lock(ctx, tx, t.Persona); err != nil {
		return t, err
	}
	var had int
	// It rides persona_test_by_persona.
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM persona_test WHERE org_id = $1 AND persona_id = $2`, tx.Org, t.Persona).Scan(&had); err != nil {
		return t, err
	}
	if had >= MaxTests {
		return t, &errdefs.Conflict{
			Noun: persona.Noun, ID: t.Persona.String(), Reason: "full", Message: fmt.Sprintf("A persona has at most %d tests. Delete one first.", MaxTests),
		}
	}
	if err := t.ofGap(ctx, tx); err != nil {
		return t, err
	}
	if err := t.Expect.checkDocuments(ctx, tx, nil); err != nil {
		return t, err
	}
	tx.Touch("persona_test", t.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO persona_test (org_id, id, persona_id, name, question, language, expect, enabled, created_at, updated_at, gap_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
		tx.Org, t.ID, t.Persona, t.Name, t.Question, t.Language, t.Expect, t.Enabled, t.CreatedAt, t.Gap)
	if err != nil {
		return t, err
	}
	t.log(tx, "persona_test.created", who)
	return t, nil
}

func (t *Test) log(tx *tenant.Tx, action string, who activity.Actor) {
	who.Log(tx, action, "persona_test", t.ID, map[string]any{"name": t.Name, "personaId": t.Persona})
}

// Update makes of a test that Lock found what after says. A document that it
// expected before may be gone. The error can be an errdefs.Invalid.
func Update(ctx context.Context, tx *tenant.Tx, before, after Test, who activity.Actor) error {
	if after.Question != before.Question {
		if err := after.ofGap(ctx, tx); err != nil {
			return err
		}
	}
	if err := after.Expect.checkDocuments(ctx, tx, before.Expect.DocumentIDs); err != nil {
		return err
	}
	tx.Touch("persona_test", after.ID)
	_, err := tx.Exec(ctx, `
		UPDATE persona_test SET name = $3, question = $4, language = $5, expect = $6, enabled = $7, updated_at = $8
		WHERE org_id = $1 AND id = $2`,
		tx.Org, after.ID, after.Name, after.Question, after.Language, after.Expect, after.Enabled, after.UpdatedAt)
	if err != nil {
		return err
	}
	after.log(tx, "persona_test.updated", who)
	return nil
}

// Delete deletes a test. The error is errdefs.NotFound.
func Delete(ctx context.Context, tx *tenant.Tx, which id.PersonaTest, who activity.Actor) error {
	tx.Touch("persona_test", which)
	t, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `DELETE FROM persona_test WHERE org_id = $1 AND id = $2 RETURNING `+columns, tx.Org, which)
	if err != nil {
		return err
	}
	t.log(tx, "persona_test.deleted", who)
	return nil
}

// Get finds a test. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.PersonaTest) (Test, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(which), `SELECT `+columns+` FROM persona_test WHERE org_id = $1 AND id = $2`, org, which)
}

// Lock finds a test that a transaction will change. The error is errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, which id.PersonaTest) (Test, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `SELECT `+columns+` FROM persona_test WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which)
}

// List is a page of a persona's tests, newest first, after one of them; the zero id
// for the first page. It rides persona_test_by_persona.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona, after id.PersonaTest, limit int) ([]Test, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM persona_test
		WHERE org_id = $1 AND persona_id = $2 AND ($3::UUID IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`, org, p, after, limit)
}

// Copy gives a persona the tests of another, as if they had never been run.
func Copy(ctx context.Context, tx *tenant.Tx, from, to id.Persona, at time.Time) error {
	tests, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM persona_test WHERE org_id = $1 AND persona_id = $2 ORDER BY id`, tx.Org, from)
	if err != nil || len(tests) == 0 {
		return err
	}
	old, made := make([]id.PersonaTest, len(tests)), make([]id.PersonaTest, len(tests))
	for i, t := range tests {
		old[i], made[i] = t.ID, id.NewPersonaTest()
		tx.Touch("persona_test", made[i])
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO persona_test (org_id, id, persona_id, name, question, language, expect, enabled, created_at, updated_at)
		SELECT t.org_id, pair.made, $2, t.name, t.question, t.language, t.expect, t.enabled, $3, $3
		FROM unnest($4::UUID[], $5::UUID[]) AS pair (old, made) JOIN persona_test t ON t.org_id = $1 AND t.id = pair.old`,
		tx.Org, to, at, old, made)
	return err
}

// checkDocuments refuses documents that the organization does not have, but for
// those that were expected before. The error is an errdefs.Invalid.
func (e *Expectation) checkDocuments(ctx context.Context, tx *tenant.Tx, before []id.Document) error {
	gone, err := e.deleted(ctx, tx)
	for i, d := range e.DocumentIDs {
		if err == nil && slices.Contains(gone, d) && !slices.Contains(before, d) {
			return &errdefs.Invalid{Field: fmt.Sprintf("expect.documentIds[%d]", i), Message: "is not a document of this organization"}
		}
	}
	return err
}

// deleted are the expected documents that are not there. It rides
// knowledge_document_pkey.
func (e *Expectation) deleted(ctx context.Context, tx *tenant.Tx) ([]id.Document, error) {
	if len(e.DocumentIDs) == 0 {
		return []id.Document{}, nil
	}
	there, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Document], `
		SELECT id FROM knowledge_document WHERE org_id = $1 AND id = ANY($2) AND deleted_at IS NULL`, tx.Org, e.DocumentIDs)
	return slices.DeleteFunc(slices.Clone(e.DocumentIDs), func(d id.Document) bool { return slices.Contains(there, d) }), err
}
