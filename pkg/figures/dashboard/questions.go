package dashboard

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// topics is the table of the subjects that questions were asked in.
const topics = "topics"

// gone is what a subject is called that was deleted.
const gone = "A subject that was deleted"

// titlesOf are the titles of subjects, by their ids as they were counted. It rides subject_pkey.
func titlesOf(ctx context.Context, t *tenant.Tenants, org id.Org, rows []row) (map[string]string, error) {
	titles := map[string]string{}
	var which []id.Subject
	for _, r := range rows {
		s, err := id.ParseSubject(r.name)
		if err != nil {
			return nil, err
		}
		which, titles[r.name] = append(which, s), gone
	}
	if len(which) == 0 {
		return titles, nil
	}
	type titled struct {
		ID    id.Subject
		Title string
	}
	found, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[titled], selectTitles, org, which)
	for _, s := range found {
		titles[s.ID.String()] = s.Title
	}
	return titles, err
}

const selectTitles = `SELECT id, title FROM subject WHERE org_id = $1 AND id = ANY($2)`

// Words is the column of what people said, which needs transcripts:read.
const Words = "question"

// gapsLookedAt bounds the gaps of which those of a portal are found.
const gapsLookedAt = 200

// latestGaps is the table of the newest questions that the knowledge does not answer, whatever
// the period.
func latestGaps(ctx context.Context, t *tenant.Tenants, org id.Org, q Query) (Table, error) {
	latest := Table{
		Key: "latestGaps", Label: "The newest questions that the knowledge does not answer", Rows: [][]any{},
		Columns: []Column{{"gap", "Gap", "text"}, {"language", "Language", "text"}, {Words, "Question", "text"}, {"number", "Asked", "number"}},
	}
	found, err := knowledge.ListGaps(ctx, t, org, knowledge.GapFilter{State: knowledge.GapOpen}, id.Gap{}, gapsLookedAt)
	for _, g := range found {
		if len(latest.Rows) == mostRows {
			break
		}
		if !q.Portal.IsZero() && g.Portal != q.Portal {
			continue
		}
		var words any
		if len(g.Samples) > 0 {
			words = g.Samples[0]
		}
		latest.Rows = append(latest.Rows, []any{g.ID.String(), g.Language, words, g.Questions})
	}
	return latest, err
}

// Withhold takes from the tables what people said.
func (f *Figures) Withhold() {
	for _, t := range f.Tables {
		for at, c := range t.Columns {
			if c.Key != Words {
				continue
			}
			for _, r := range t.Rows {
				r[at] = nil
			}
		}
	}
}
