package connections

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/notice"
)

func (a *API) registerUntold(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listConnectionUntold", Group: "Connections", Scope: scope.ConnectionsRead, Class: "read", Since: contract.V20261001,
		Method: http.MethodGet, Path: "/connections/{id}/untold", Errors: []problem.Code{problem.Gone},
		Summary: "What a learning system, a chat or a helpdesk was not told yet, or cannot be told",
		Description: "At most 100, those that changed last first; none where everything was told, and of connections of other kinds. Of kind lms the key " +
			"needs results:read too, and of the kinds chat and helpdesk inbox:read. " +
			"What is stopped is told after the next change, or where the connection is switched on or gets another config or secret, " +
			"or a grade once its person comes by the link again.",
	}, a.untold)
}

// ConnectionUntold is something that a connected system was not told.
type ConnectionUntold struct {
	Kind      string      `json:"kind" enum:"grade,result,assignment,certificate,item" doc:"What is to be told: a grade, to a platform's gradebook, to a record store that of a result, an assignment or a certificate, or to a chat or a helpdesk an item of the inbox."`
	State     string      `json:"state" enum:"waiting,stopped" doc:"waiting while it is tried; stopped where that was of no use, as errorCode says."`
	ErrorCode *string     `json:"errorCode" doc:"Why it is stopped: disabled or no_connection (the connection is switched off), platform_changed (the connection is another platform's by now), internal_error, or the code of the last call, such as rejected; null while it is tried."`
	PersonID  *id.Person  `json:"personId" doc:"Whose it is; null of an item, and of somebody who was erased."`
	SubjectID *id.Subject `json:"subjectId" doc:"What a grade is of; null of what a record store is told."`
	ObjectID  *string     `json:"objectId" doc:"Id of the result, the assignment, the certificate or the item; null of a grade."`
	ChangedAt time.Time   `json:"changedAt" doc:"When there last was something to tell, in UTC."`
}

func (a *API) untold(ctx context.Context, c *route.Call, p *Path) (route.Page[ConnectionUntold], error) {
	var page route.Page[ConnectionUntold]
	which, err := p.connection()
	if err != nil {
		return page, err
	}
	of, err := connection.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return page, err
	}
	if err := checkReads(c, of.Kind); err != nil {
		return page, err
	}
	notices, err := notice.Untold(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return page, err
	}
	for _, n := range notices {
		page.Items = append(page.Items, ConnectionUntold{Kind: "item", ObjectID: new(n.Item.String()), ChangedAt: n.ChangedAt}.because(n.Trouble))
	}
	links, err := resourcelink.Untold(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return page, err
	}
	for _, l := range links {
		page.Items = append(page.Items, ConnectionUntold{Kind: "grade", PersonID: &l.Person, SubjectID: &l.Subject, ChangedAt: l.ChangedAt}.because(l.Trouble))
	}
	records, err := statement.Untold(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return page, err
	}
	for _, r := range records {
		u := ConnectionUntold{Kind: string(r.Object.Kind), ObjectID: new(objectID(r.Object)), ChangedAt: r.ChangedAt}
		if !r.Object.Person.IsZero() {
			u.PersonID = &r.Object.Person
		}
		page.Items = append(page.Items, u.because(r.Trouble))
	}
	return page, nil
}

// checkReads says whether the key may read what systems of a kind are told.
func checkReads(c *route.Call, k connection.Kind) error {
	needed, ok := map[connection.Kind]scope.Scope{
		connection.LMS: scope.ResultsRead, connection.Chat: scope.InboxRead, connection.Helpdesk: scope.InboxRead,
	}[k]
	if ok && !c.Principal.Key.Grant().Holds(needed) {
		return problem.New(problem.Forbidden, "This key lacks the scope %s, by which what connections of kind %s are told is read.", needed, k)
	}
	return nil
}

func (u ConnectionUntold) because(trouble string) ConnectionUntold {
	u.State, u.ErrorCode, u.ChangedAt = "waiting", orNull(trouble), u.ChangedAt.UTC()
	if trouble != "" {
		u.State = "stopped"
	}
	return u
}

func objectID(o statement.Object) string {
	switch o.Kind {
	case statement.Assignment:
		return id.Assignment(o.ID).String()
	case statement.Certificate:
		return id.Certificate(o.ID).String()
	case statement.Result:
	}
	return id.Result(o.ID).String()
}
