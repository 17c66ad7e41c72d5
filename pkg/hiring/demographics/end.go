package demographics

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/tenant"
)

// Wake has a role looked at from a time on, such as one that was closed or asks no more, so that what cannot be
// counted any more is deleted. It rides demographic_role_pkey.
func Wake(ctx context.Context, tx *tenant.Tx, which id.Role, at time.Time) error {
	tx.Touch("demographic_role", which)
	_, err := tx.Exec(ctx, `UPDATE demographic_role SET due_at = $3 WHERE org_id = $1 AND role_id = $2`, tx.Org, which, at)
	return err
}

// over says whether nobody of those who wait will be counted: the role asks no more, which is for good, or
// is closed, they are too few, and nobody is left of whom people may yet decide, or who is on hold. It
// rides candidate_by_role.
func over(ctx context.Context, tx *tenant.Tx, r *role.Role, waiting int) (bool, error) {
	if !r.Demographics {
		return true, nil
	}
	if r.State != role.Closed || waiting >= fewest {
		return false, nil
	}
	left, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Candidate], selectLeft, tx.Org, r.ID)
	return len(left) == 0, err
}

const selectLeft = `
	SELECT id FROM candidate WHERE org_id = $1 AND role_id = $2 AND (screened_at IS NOT NULL OR state = 'in_progress') AND (settled_at IS NULL OR on_hold)
		AND state NOT IN ('withdrawn', 'erased') AND COALESCE(decision->>'value' <> 'withdrawn', true) AND NOT sandbox LIMIT 1`

const selectOfRole = `SELECT id FROM candidate WHERE org_id = $1 AND role_id = $2 AND ($3::UUID IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`

// drop deletes what was said by candidates of a role who are not counted. It rides candidate_by_role and
// demographic_answer_pkey.
func (s *Store) drop(ctx context.Context, tx *tenant.Tx, r id.Role, secret []byte) error {
	for after, more := (id.Candidate{}), true; more; {
		list, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Candidate], selectOfRole, tx.Org, r, after, page)
		if err != nil {
			return err
		}
		of := make([]settled, len(list))
		for i, c := range list {
			of[i].ID, after = c, c
		}
		found, err := s.uncounted(ctx, tx, of, secret)
		if err != nil {
			return err
		}
		var gone []uuid.UUID
		for _, w := range found {
			if w.Answer != unknown {
				gone = append(gone, w.answer)
			}
		}
		if err := remove(ctx, tx, gone...); err != nil {
			return err
		}
		more = len(list) == page
	}
	return nil
}
