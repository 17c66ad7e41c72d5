package record

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Unmet are those of some published subjects that somebody has not completed: by a completion
// that counts now or, of one that is no assessment, by what was set of it or by a conversation in
// which they spoke and that was held to its end, but for trials. It rides completion_by_person,
// assignment_person_by_person and session_by_person.
func Unmet(ctx context.Context, tx *tenant.Tx, who id.Person, of []id.Subject, now time.Time) ([]id.Subject, error) {
	if len(of) == 0 {
		return nil, nil
	}
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Subject], unmet, tx.Org, who, of, now, session.OrderlyReasons())
}

const unmet = `
	SELECT s.id FROM subject s
	WHERE s.org_id = $1 AND s.id = ANY($3) AND s.state = 'published'
		AND NOT EXISTS (SELECT 1 FROM completion k WHERE k.org_id = $1 AND k.person_id = $2 AND k.subject_id = s.id
			AND k.withdrawn_at IS NULL AND (k.valid_until IS NULL OR k.valid_until > $4))
		AND (s.kind = 'assessment'
			OR NOT EXISTS (SELECT 1 FROM assignment_person p JOIN assignment a ON a.org_id = p.org_id AND a.id = p.assignment_id
				WHERE p.org_id = $1 AND p.person_id = $2 AND p.state = 'completed' AND a.subject_id = s.id)
			AND NOT EXISTS (SELECT 1 FROM session t WHERE t.org_id = $1 AND t.person_id = $2 AND t.subject_id = s.id AND t.state = 'ended' AND NOT t.sandbox
				AND t.languages_heard <> '{}' AND (t.end_reason IS NULL OR t.end_reason = ANY($5))))
	ORDER BY s.id`
