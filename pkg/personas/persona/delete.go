package persona

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/tenant"
)

// Delete deletes a persona that nothing uses; what it remembers of people and its
// tests go with it. The error is errdefs.NotFound, errdefs.Gone or an errdefs.Conflict. A
// duo that is deleted says so with its id, and the conflict is the duo's: it uses its
// persona no more.
func Delete(ctx context.Context, tx *tenant.Tx, which id.Persona, duo id.Duo, who Author) (Persona, error) {
	p, err := Lock(ctx, tx, which)
	if err != nil {
		return p, err
	}
	if err := p.unused(ctx, tx, duo); err != nil {
		return p, err
	}
	if p.Kind == Standard {
		if err := avatar.TakeOff(ctx, tx, p.Avatar, avatar.PersonaWearer(p.ID)); err != nil {
			return p, err
		}
	}
	if err := p.release(ctx, tx); err != nil {
		return p, err
	}
	if err := forgetPeople(ctx, tx, p.ID); err != nil {
		return p, err
	}
	if err := dropTests(ctx, tx, p.ID); err != nil {
		return p, err
	}
	tx.Touch("persona", p.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE persona SET deleted_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, p.ID, who.At); err != nil {
		return p, err
	}
	who.Log(tx, "persona.deleted", "persona", p.ID, nil)
	return p, nil
}

// unused refuses while something needs the persona, or the duo that is deleted with it.
func (p *Persona) unused(ctx context.Context, tx *tenant.Tx, duo id.Duo) error {
	if !p.DuoID.IsZero() && p.DuoID != duo {
		inUse := Noun.InUse(p.ID, "The persona belongs to a duo and is deleted with it.")
		inUse.Details = map[string]any{"duoId": p.DuoID}
		return inUse
	}
	sessions, err := liveSessions(ctx, tx, p.ID)
	if err != nil || sessions == 0 && len(p.Portals) == 0 && len(p.Widgets) == 0 {
		return err
	}
	noun, of := Noun, fmt.Stringer(p.ID)
	if !duo.IsZero() {
		noun, of = "duo", duo
	}
	return noun.InUse(of, "The %s is used by %d portals, %d widgets and %d live sessions.", noun, len(p.Portals), len(p.Widgets), sessions)
}

// forgetPeople deletes what a persona remembers. It rides memory_pkey.
func forgetPeople(ctx context.Context, tx *tenant.Tx, p id.Persona) error {
	rows, err := tx.Query(ctx, `DELETE FROM memory WHERE org_id = $1 AND persona_id = $2 RETURNING person_id`, tx.Org, p)
	if err != nil {
		return err
	}
	people, err := pgx.CollectRows(rows, pgx.RowTo[id.Person])
	for _, person := range people {
		tx.Touch("memory", p, person)
	}
	return err
}

// dropTests deletes the tests of a persona (package rehearsal). It rides
// persona_test_by_persona.
func dropTests(ctx context.Context, tx *tenant.Tx, p id.Persona) error {
	rows, err := tx.Query(ctx, `DELETE FROM persona_test WHERE org_id = $1 AND persona_id = $2 RETURNING id`, tx.Org, p)
	if err != nil {
		return err
	}
	tests, err := pgx.CollectRows(rows, pgx.RowTo[id.PersonaTest])
	for _, test := range tests {
		tx.Touch("persona_test", test)
	}
	return err
}

const (
	// rememberedFor is how long a deleted persona is answered with 410 rather
	// than 404.
	rememberedFor = 90 * 24 * time.Hour
	// SweepBatch bounds the rows that one statement deletes.
	SweepBatch = 1000
)

// Sweep forgets personas of a shard that were deleted long ago: their versions,
// a part at a time, and then them.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	before := now.Add(-rememberedFor)
	n, err := t.SweepRows(ctx, shard, `
		DELETE FROM persona_version WHERE (org_id, persona_id, version) IN (
			SELECT v.org_id, v.persona_id, v.version FROM persona p
			JOIN org_fence f ON f.org_id = p.org_id AND f.state = 'open'
			JOIN persona_version v ON v.org_id = p.org_id AND v.persona_id = p.id
			WHERE p.deleted_at <= $1 LIMIT $2)`, before, SweepBatch)
	if err != nil || n > 0 {
		return n, err
	}
	return t.SweepRows(ctx, shard, `
		DELETE FROM persona WHERE (org_id, id) IN (
			SELECT p.org_id, p.id FROM persona p JOIN org_fence f ON f.org_id = p.org_id AND f.state = 'open'
			WHERE p.deleted_at <= $1 AND NOT EXISTS (
				SELECT 1 FROM persona_version v WHERE v.org_id = p.org_id AND v.persona_id = p.id)
			LIMIT $2)`, before, SweepBatch)
}
