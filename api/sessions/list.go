package sessions

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/session"
)

// Query filters and pages the sessions.
type Query struct {
	route.Paging
	State      string       `query:"state" maxLength:"80" doc:"One or more of created, live, ended, failed, expired, separated by commas."`
	Kind       string       `query:"kind" maxLength:"120" doc:"One or more of conversation, practice, assessment, escalation, case, test, separated by commas."`
	Source     string       `query:"source" maxLength:"80" doc:"One or more of api, portal, widget, embed, agent, console, separated by commas."`
	PersonaID  string       `query:"personaId" maxLength:"80" doc:"Only sessions with this persona."`
	PortalID   string       `query:"portalId" maxLength:"80" doc:"Only sessions in this portal."`
	SubjectID  string       `query:"subjectId" maxLength:"80" doc:"Only sessions about this subject."`
	PersonID   string       `query:"personId" maxLength:"80" doc:"Only sessions of this person."`
	WidgetID   string       `query:"widgetId" maxLength:"80" doc:"Only sessions that began in this widget."`
	ExternalID string       `query:"externalId" maxLength:"200" doc:"Only sessions with this id of your own system."`
	Language   string       `query:"language" maxLength:"40" doc:"A code or a name."`
	From       route.Moment `query:"from" doc:"Sessions created at or after this moment: an ISO date, midnight in UTC, or a date-time."`
	To         route.Moment `query:"to" doc:"Sessions created before this moment: an ISO date, midnight in UTC, or a date-time."`
	Order      string       `query:"order" enum:"desc,asc" default:"desc" doc:"desc for the newest first, asc for the oldest."`
}

// kinds are those that can be listed: job interviews are never read as sessions.
var (
	kinds   = []string{"conversation", session.Practice, "assessment", "escalation", "case", "test"}
	sources = []string{"api", "portal", "widget", "embed", "agent", "console"}
	states  = []session.State{session.Created, session.Live, session.Ended, session.Failed, session.Expired}
)

func (q Query) filter() (session.Filter, error) {
	f := session.Filter{Kinds: kinds, From: q.From.Time, To: q.To.Time, Ascending: q.Order == "asc"}
	var err error
	if f.Persona, err = route.QueryID(id.ParsePersona, "personaId", q.PersonaID); err != nil {
		return f, err
	}
	if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID); err != nil {
		return f, err
	}
	if f.Person, err = route.QueryID(id.ParsePerson, "personId", q.PersonID); err != nil {
		return f, err
	}
	if f.Subject, err = route.QueryID(id.ParseSubject, "subjectId", q.SubjectID); err != nil {
		return f, err
	}
	if f.Widget, err = route.QueryID(id.ParseWidget, "widgetId", q.WidgetID); err != nil {
		return f, err
	}
	if f.States, err = route.Several("state", q.State, states); err != nil {
		return f, err
	}
	if f.Sources, err = route.Several("source", q.Source, sources); err != nil {
		return f, err
	}
	if q.Kind != "" {
		if f.Kinds, err = route.Several("kind", q.Kind, kinds); err != nil {
			return f, err
		}
	}
	if q.ExternalID != "" {
		f.ExternalID = &q.ExternalID
	}
	if q.Language != "" {
		l, ok := language.Lookup(q.Language)
		if !ok {
			return f, problem.Invalid("query.language", "There is no language %q; GET /languages lists them.", q.Language)
		}
		f.Language = l.Code
	}
	return f, nil
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Session], error) {
	none := route.Page[Session]{}
	after, err := route.After[id.Session](c, q.Paging)
	if err != nil {
		return none, err
	}
	if after == nil {
		after = &id.Session{}
	}
	filter, err := q.filter()
	if err != nil {
		return none, err
	}
	found, err := session.List(ctx, a.Tenants, c.Org(), filter, *after, q.Limit+1)
	if err != nil {
		return none, err
	}
	page, err := route.Paged(c, q.Paging, found, func(s session.Session) id.Session { return s.ID })
	if err != nil {
		return none, err
	}
	ids := make([]id.Session, len(page.Items))
	for i, s := range page.Items {
		ids[i] = s.ID
	}
	details, err := session.Details(ctx, a.Tenants, c.Org(), ids)
	return route.Map(page, func(s session.Session) Session { return show(c, s, details[s.ID]) }), err
}
