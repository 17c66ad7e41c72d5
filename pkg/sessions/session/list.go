package session

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Filter narrows a list; zero fields do not.
type Filter struct {
	States     []State
	Kinds      []string
	Sources    []string
	Persona    id.Persona
	Portal     id.Portal
	Subject    id.Subject
	Person     id.Person
	Widget     id.Widget
	ExternalID *string
	Language   string
	From, To   time.Time
	Ascending  bool
}

// List is a page of the sessions, newest first unless Ascending, after one of
// them; the zero id for the first page. It rides session_pkey, or, where that is
// asked for, session_by_external, session_by_person, session_by_persona,
// session_by_portal, or session_active for sessions that are not over.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Session, limit int) ([]Session, error) {
	sql, args := f.statement(org, after, limit)
	return tenant.All(ctx, t, org, scan, sql, args...)
}

// statement chooses the statement that rides the narrowest index.
func (f Filter) statement(org id.Org, after id.Session, limit int) (sql string, args []any) {
	least, most := f.window(after)
	args = []any{org, least, most, f.States, f.Kinds, f.Sources, f.Subject, f.Language, moment(f.From), moment(f.To), f.Widget, limit, f.Portal, f.Persona}
	sql = `
		SELECT ` + columns + ` FROM session
		WHERE org_id = $1 AND id >= $2 AND id <= $3
			AND ($4::TEXT[] IS NULL OR state = ANY($4)) AND ($5::TEXT[] IS NULL OR kind = ANY($5))
			AND ($6::TEXT[] IS NULL OR source = ANY($6)) AND ($7::UUID IS NULL OR subject_id = $7)
			AND ($8::TEXT = '' OR language = $8)
			AND ($9::TIMESTAMPTZ IS NULL OR created_at >= $9) AND ($10::TIMESTAMPTZ IS NULL OR created_at < $10)
			AND ($11::UUID IS NULL OR widget_id = $11) AND ($13::UUID IS NULL OR portal_id = $13)
			AND ($14::UUID IS NULL OR persona_id = $14)`
	const last = ` LIMIT $12`
	order := ` ORDER BY id DESC` + last
	if f.Ascending {
		order = ` ORDER BY id` + last
	}
	over := func(s State) bool { return s.Over() }
	switch {
	case f.ExternalID != nil:
		return sql + ` AND external_id = $15 AND ($16::UUID IS NULL OR person_id = $16)` + order, append(args, *f.ExternalID, f.Person)
	case !f.Person.IsZero():
		return sql + ` AND person_id = $15` + order, append(args, f.Person)
	case !f.Persona.IsZero():
		return sql + ` AND persona_id = $15` + order, append(args, f.Persona)
	case !f.Portal.IsZero():
		return sql + ` AND portal_id = $15` + order, append(args, f.Portal)
	case f.States != nil && !slices.ContainsFunc(f.States, over):
		return sql + ` AND state IN ('created', 'live')` + order, args
	}
	return sql + order, args
}

// slack is how far a session's id may be from the moment it was created, by the
// clocks of two machines.
const slack = time.Hour

// window are the ids that a page can have, both included.
func (f Filter) window(after id.Session) (least, most uuid.UUID) {
	most = uuid.Max
	if !f.From.IsZero() {
		least = uuid.UUID(id.FirstSession(f.From.Add(-slack)))
	}
	if !f.To.IsZero() {
		most = uuid.UUID(id.FirstSession(f.To.Add(slack)))
	}
	switch {
	case after.IsZero():
	case f.Ascending:
		least = greatest(least, uuid.UUID(after.Next()))
	default:
		most = smallest(most, before(after))
	}
	return least, most
}

func greatest(a, b uuid.UUID) uuid.UUID { return slices.MaxFunc([]uuid.UUID{a, b}, compare) }
func smallest(a, b uuid.UUID) uuid.UUID { return slices.MinFunc([]uuid.UUID{a, b}, compare) }
func compare(a, b uuid.UUID) int        { return bytes.Compare(a[:], b[:]) }

// before is the id right before one.
func before(s id.Session) uuid.UUID {
	u := uuid.UUID(s)
	for at := len(u) - 1; at >= 0; at-- {
		u[at]--
		if u[at] != 0xff {
			break
		}
	}
	return u
}

// moment is a time of a filter; nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
