package knowledge

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// Questions is the source of knowledge.gap: the questions in their words, as
// far as they may leave and are still kept.
func Questions(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, words bool) (event.Detail, error) {
		var told struct {
			Gap id.Gap `json:"gapId"`
		}
		if err := json.Unmarshal(e.Structure, &told); err != nil {
			return event.Detail{}, err
		}
		var (
			there     bool
			gap       id.Gap
			questions []string
		)
		err := t.Read(ctx, e.Org, func(r *tenant.Reads) {
			r.QueryRow(&there, []any{&gap}, `SELECT id FROM knowledge_gap WHERE org_id = $1 AND id = $2`, e.Org, told.Gap)
			r.Query(func(rows pgx.Rows) (err error) {
				questions, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err
			}, `
				SELECT text FROM knowledge_question
				WHERE org_id = $1 AND gap_id = $2 AND NOT withheld AND $3 ORDER BY id`, e.Org, told.Gap, words)
		})
		switch {
		case err != nil:
			return event.Detail{}, err
		case !there:
			return event.Detail{Standing: event.Gone}, nil
		case len(questions) == 0:
			return event.Detail{}, nil
		}
		return event.Detail{Fields: map[string]any{"questions": questions}}, nil
	}
}
