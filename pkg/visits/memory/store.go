package memory

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

const columns = `persona_id, person_id, id, items, session_id, written_at, expires_at`

func scan(row pgx.CollectableRow) (Memory, error) { return pgx.RowToStructByPos[Memory](row) }

// List is a page of what a persona remembers, by person, the newest first, after
// one of them; the zero id for the first page. of narrows it to one person. It
// rides memory_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona, of, after id.Person, limit int, now time.Time) ([]Memory, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM memory
		WHERE org_id = $1 AND persona_id = $2 AND ($3::UUID IS NULL OR person_id = $3) AND ($4::UUID IS NULL OR person_id < $4)
			AND expires_at > $5
		ORDER BY person_id DESC LIMIT $6`, org, p, of, after, now, limit)
}

// allows says whether anything may be remembered at a place. Nothing is where everybody is taken for
// a minor, also not what was remembered before that.
func allows(set setting.Values) bool {
	return set.On(setting.Memory) && !set.On(setting.ZeroRetention) && !set.On(setting.YoungLearners)
}

// remembered says whether people such as somebody are remembered at all.
func remembered(state person.State, age person.AgeBand) bool {
	return (state == person.Active || state == person.Invited) && !age.Minor()
}

// Recall is what the persona of a session remembers of its person, the newest
// first; nil where it may not. It is one trip.
func Recall(ctx context.Context, t *tenant.Tenants, org id.Org, s session.Session, now time.Time) ([]string, error) {
	if s.Person.IsZero() {
		return nil, nil
	}
	var (
		set   setting.Values
		found []Memory
		known bool
		state person.State
		age   person.AgeBand
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		setting.QueueValues(r, org, s.Place(), &set)
		r.QueryRow(&known, []any{&state, &age}, `SELECT state, age_band FROM person WHERE org_id = $1 AND id = $2`, org, s.Person)
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scan)
			return err
		}, `SELECT `+columns+` FROM memory WHERE org_id = $1 AND persona_id = $2 AND person_id = $3 AND expires_at > $4`,
			org, s.Persona, s.Person, now)
	})
	if err != nil || len(found) == 0 || !known || !allows(set) || !remembered(state, age) {
		return nil, err
	}
	lines := make([]string, len(found[0].Items))
	for i, item := range found[0].Items {
		lines[i] = item.Line()
	}
	return lines, nil
}

// Write adds what was heard in a session to what its persona remembers of its
// person, which it refreshes, and tells of it; nothing where it may
// not be remembered any more, or there is nothing to. The person does not change
// until the commit.
func Write(ctx context.Context, tx *tenant.Tx, s session.Session, heard []Item, now time.Time) error {
	may, err := may(ctx, tx, s)
	if err != nil || !may {
		return err
	}
	m := Memory{Persona: s.Persona, Person: s.Person, ID: id.NewMemory()}
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM memory WHERE org_id = $1 AND persona_id = $2 AND person_id = $3 FOR UPDATE`, tx.Org, s.Persona, s.Person)
	if err != nil {
		return err
	}
	before, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return err
	}
	if len(before) > 0 && before[0].ExpiresAt.After(now) {
		m = before[0]
	}
	if m.Items = Merge(m.Items, heard); len(m.Items) == 0 {
		return nil
	}
	m.Session, m.WrittenAt, m.ExpiresAt = s.ID, now, now.Add(Kept)
	event.Emit(tx, m.draft(s))
	return m.save(ctx, tx)
}

// may says whether what was said in a session may be remembered now.
func may(ctx context.Context, tx *tenant.Tx, s session.Session) (bool, error) {
	var (
		b       pgx.Batch
		set     setting.Values
		state   person.State
		age     person.AgeBand
		persona bool
	)
	setting.QueueAt(tx, &b, s.Place(), &set)
	b.Queue(`SELECT state, age_band FROM person WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, s.Person).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&state, &age); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	b.Queue(`SELECT deleted_at IS NULL FROM persona WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, s.Persona).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&persona); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	err := tx.SendBatch(ctx, &b).Close()
	return persona && allows(set) && remembered(state, age), err
}

func (m Memory) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("memory", m.Persona, m.Person)
	_, err := tx.Exec(ctx, `
		INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org_id, persona_id, person_id) DO UPDATE SET id = excluded.id, items = excluded.items, session_id = excluded.session_id,
			written_at = excluded.written_at, expires_at = excluded.expires_at`,
		tx.Org, m.Persona, m.Person, m.ID, m.Items, m.Session, m.WrittenAt, m.ExpiresAt)
	return err
}

// draft is memory.written, which tells how much is remembered and never what.
func (m Memory) draft(s session.Session) event.Draft {
	fields := map[string]any{
		"memoryId": m.ID.String(), "personId": m.Person.String(), "sessionId": s.ID.String(), "itemCount": len(m.Items),
		"writtenAt": m.WrittenAt.UTC(), "expiresAt": m.ExpiresAt.UTC(),
	}
	if !s.Membership.IsZero() {
		fields["membershipId"] = s.Membership.String()
	}
	if !s.Portal.IsZero() {
		fields["portalId"] = s.Portal.String()
	}
	if !s.Subject.IsZero() {
		fields["subjectId"] = s.Subject.String()
	}
	return event.Draft{Type: event.MemoryWritten, At: m.WrittenAt, Fields: fields, Session: s.ID, Subject: s.Subject}
}
