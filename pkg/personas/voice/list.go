package voice

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Filter narrows a list; empty fields do not.
type Filter struct {
	Kind   Kind
	Gender string
}

// Position is where a page ended: at a studio voice, or at an own one.
type Position struct {
	Studio bool      `json:"s,omitempty"`
	At     time.Time `json:"t,omitzero"`
	ID     id.Voice  `json:"i"`
}

// PositionOf is the position of a voice.
func PositionOf(v Voice) Position {
	if v.Kind == Builtin {
		return Position{Studio: true, ID: v.ID}
	}
	return Position{At: v.CreatedAt, ID: v.ID}
}

// List is a page of voices, the studio's first, then the organization's own,
// oldest first (spec, Voices).
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after *Position, limit int) ([]Voice, error) {
	var page []Voice
	if after == nil || after.Studio {
		page = f.studioAfter(after)
		after = &Position{}
	}
	wanted := limit - len(page)
	if f.Kind == Builtin {
		wanted = 0
	}
	page = page[:min(len(page), limit)]
	own, uses, err := readPage(ctx, t, org, f, *after, max(wanted, 0))
	for i := range page {
		page[i].Uses = uses[page[i].ID]
	}
	return append(page, own...), err
}

// studioAfter is the studio voices that match and come after a position.
func (f Filter) studioAfter(after *Position) []Voice {
	var page []Voice
	reached := after == nil
	for _, v := range studio {
		if reached && (f.Kind == "" || f.Kind == Builtin) && (f.Gender == "" || f.Gender == v.Gender) {
			page = append(page, v)
		}
		reached = reached || v.ID == after.ID
	}
	return page
}

// readPage reads own voices, and who uses which voice. The former rides
// voice_by_age, the latter voice_use_pkey.
func readPage(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after Position, limit int) (own []Voice, uses map[id.Voice]Uses, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		uses = map[id.Voice]Uses{}
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var (
					v id.Voice
					u Uses
				)
				if err := rows.Scan(&v, &u.Personas, &u.Duos); err != nil {
					return err
				}
				uses[v] = u
			}
			return rows.Err()
		}, `
			SELECT voice_id, count(*) FILTER (WHERE user_kind = 'persona'), count(*) FILTER (WHERE user_kind = 'duo')
			FROM voice_use WHERE org_id = $1 GROUP BY voice_id`, org)
		if limit == 0 {
			return
		}
		r.Query(func(rows pgx.Rows) (err error) {
			own, err = pgx.CollectRows(rows, scanOwn)
			return err
		}, `SELECT `+ownColumns+ownTables+`
			WHERE v.org_id = $1 AND (v.created_at, v.id) > ($2, $3) AND v.deleted_at IS NULL AND ($4 = '' OR v.gender = $4)
			ORDER BY v.created_at, v.id LIMIT $5`, org, after.At, after.ID, f.Gender, limit)
	})
	return own, uses, err
}
