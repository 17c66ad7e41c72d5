package session

import (
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// TurnPlaces are turns of sessions, by their indexes.
type TurnPlaces struct {
	sessions []id.Session
	indexes  []int64
}

// Add adds a turn.
func (p *TurnPlaces) Add(s id.Session, index int64) {
	p.sessions, p.indexes = append(p.sessions, s), append(p.indexes, index)
}

// QueueHeard reads what was heard of turns, of those whose words are kept. It rides turn_pkey.
func QueueHeard(r *tenant.Reads, org id.Org, of TurnPlaces, heard func(s id.Session, index int64, text string)) {
	if len(of.sessions) == 0 {
		return
	}
	r.Query(func(rows pgx.Rows) error {
		var (
			s     id.Session
			index int64
			t     Turn
		)
		_, err := pgx.ForEachRow(rows, []any{&s, &index, &t.Text, &t.Spoken, &t.Interrupted}, func() error {
			heard(s, index, t.Heard())
			return nil
		})
		return err
	}, `
		SELECT t.session_id, t.ordinal, t.text, t.spoken, t.interrupted
		FROM unnest($2::UUID[], $3::BIGINT[]) AS p (session_id, ordinal)
			JOIN turn t ON t.org_id = $1 AND t.session_id = p.session_id AND t.ordinal = p.ordinal
		WHERE NOT t.redacted`, org, of.sessions, of.indexes)
}

// QueueReadable says of which sessions the words may be read by whoever may read transcripts:
// not of a young learner's, a candidate's, or one that was flagged. It rides session_pkey.
// With each comes what it was about; nil where that is not kept.
func QueueReadable(r *tenant.Reads, org id.Org, of []id.Session, readable func(s id.Session, summary *string)) {
	r.Query(func(rows pgx.Rows) error {
		var (
			s       id.Session
			summary *string
		)
		_, err := pgx.ForEachRow(rows, []any{&s, &summary}, func() error {
			readable(s, summary)
			return nil
		})
		return err
	}, `SELECT id, summary FROM session WHERE org_id = $1 AND id = ANY($2) AND withheld IS NULL AND NOT flagged`, org, of)
}
