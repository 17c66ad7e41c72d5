package memory

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Forget has a persona forget a person, or everybody for the zero id, and answers
// how many it remembered.
func Forget(ctx context.Context, tx *tenant.Tx, p id.Persona, of id.Person, who activity.Actor) (int, error) {
	n, err := forgetOf(ctx, tx, p, of)
	if err != nil || n == 0 {
		return n, err
	}
	changes := map[string]any{"count": n}
	if !of.IsZero() {
		changes["personId"] = of
	}
	who.Log(tx, "memory.deleted", "persona", p, changes)
	return n, nil
}

// forgetOf rides memory_pkey.
func forgetOf(ctx context.Context, tx *tenant.Tx, p id.Persona, of id.Person) (int, error) {
	return forget(ctx, tx, `
		DELETE FROM memory WHERE org_id = $1 AND persona_id = $2 AND ($3::UUID IS NULL OR person_id = $3)
		RETURNING persona_id, person_id`, tx.Org, p, of)
}

// ForgetPerson has every persona forget a person, who may be erased. It rides
// memory_by_person.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (int, error) {
	return forget(ctx, tx, `DELETE FROM memory WHERE org_id = $1 AND person_id = $2 RETURNING persona_id, person_id`, tx.Org, of)
}

// ForgetSession has the persona of a session forget what it remembers of its
// person from there. What it remembers from others stays, as do what it was told
// again later and, where the words of a session are only not kept any longer, what
// was remembered of them: a memory has a time of its own. It rides memory_pkey.
func ForgetSession(ctx context.Context, tx *tenant.Tx, s session.Session) error {
	if s.Person.IsZero() {
		return nil
	}
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM memory WHERE org_id = $1 AND persona_id = $2 AND person_id = $3 FOR UPDATE`, tx.Org, s.Persona, s.Person)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil || len(found) == 0 {
		return err
	}
	m := found[0]
	left := slices.DeleteFunc(slices.Clone(m.Items), func(i Item) bool { return i.Session == s.ID })
	switch {
	case len(left) == len(m.Items):
		return nil
	case len(left) == 0:
		_, err = forgetOf(ctx, tx, s.Persona, s.Person)
		return err
	}
	m.Items = left
	return m.save(ctx, tx)
}

func forget(ctx context.Context, tx *tenant.Tx, sql string, args ...any) (int, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	type key struct {
		Persona id.Persona
		Person  id.Person
	}
	gone, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	for _, k := range gone {
		tx.Touch("memory", k.Persona, k.Person)
	}
	return len(gone), err
}

// SweepBatch bounds the rows that one run deletes.
const SweepBatch = 1000

// Sweep deletes memories of a shard that expired.
// It rides memory_by_expiry.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM memory WHERE (org_id, persona_id, person_id) IN (
			SELECT m.org_id, m.persona_id, m.person_id FROM memory m JOIN org_fence f ON f.org_id = m.org_id AND f.state = 'open'
			WHERE m.expires_at <= $1 ORDER BY m.expires_at LIMIT $2)`, now, SweepBatch)
}
