package session

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/tenant"
)

// Detail is what is told of a session beside its own row.
type Detail struct {
	// Staff are the team members who came in.
	Staff []Colleague
	// Words says that words of it are kept, and Recorded that its recording can be heard.
	Words, Recorded bool
}

// Details reads what is told beside sessions, by session. It rides
// session_staff_pkey, turn_pkey and recording_pkey.
func Details(ctx context.Context, t *tenant.Tenants, org id.Org, sessions []id.Session) (map[id.Session]Detail, error) {
	found := map[id.Session]Detail{}
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		clear(found)
		queueStaff(r, org, sessions, found)
		r.Query(func(rows pgx.Rows) error {
			var s id.Session
			_, err := pgx.ForEachRow(rows, []any{&s}, func() error {
				d := found[s]
				d.Words = true
				found[s] = d
				return nil
			})
			return err
		}, `
			SELECT s.id FROM session s WHERE s.org_id = $1 AND s.id = ANY($2)
				AND EXISTS (SELECT 1 FROM turn t WHERE t.org_id = s.org_id AND t.session_id = s.id AND NOT t.redacted)`, org, sessions)
		recording.QueueReady(r, org, sessions, func(s id.Session) {
			d := found[s]
			d.Recorded = true
			found[s] = d
		})
	})
	return found, err
}

func queueStaff(r *tenant.Reads, org id.Org, sessions []id.Session, found map[id.Session]Detail) {
	r.Query(func(rows pgx.Rows) error {
		var (
			s id.Session
			c Colleague
		)
		_, err := pgx.ForEachRow(rows, []any{&s, &c.ID, &c.Name, &c.Mode, &c.JoinedAt, &c.LeftAt, &c.Most, &c.Called}, func() error {
			d := found[s]
			d.Staff = append(d.Staff, c)
			found[s] = d
			return nil
		})
		return err
	}, `
		SELECT session_id, `+colleagueColumns+` FROM session_staff
		WHERE org_id = $1 AND session_id = ANY($2) AND joined_at IS NOT NULL ORDER BY session_id, id`, org, sessions)
}
