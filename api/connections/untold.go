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
)

func (a *API) registerUntold(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listConnectionUntold", Group: "Connections", Scope: scope.ConnectionsRead, AndScope: scope.ResultsRead, Class: "read", Since: contract.V20261001,
		Method: http.MethodGet, Path: "/connections/{id}/untold", Errors: []problem.Code{problem.Gone},
		Summary: "What a learning system was not told yet, or cannot be told",
		Description: "At most 100, those that changed last first; none where everything was told, and of connections of other kinds. " +
			"What is stopped is told after the next change, or where the connection is switched on or gets another config or secret, " +
			"or a grade once its person comes by the link again.",
	}, a.untold)
}

// ConnectionUntold is something that a learning system was not told.
type ConnectionUntold struct {
	Kind      string      `json:"kind" enum:"grade,result,assignment,certificate" doc:"What is to be told: a grade, to a platform's gradebook, or to a record store that of a result, an assignment or a certificate."`
	State     string      `json:"state" enum:"waiting,stopped" doc:"waiting while it is tried; stopped where that was of no use, as errorCode says."`
	ErrorCode *string     `json:"errorCode" doc:"Why it is stopped: disabled (the connection is switched off), platform_changed (the connection is another platform's by now), internal_error, or the code of the last call, such as rejected; null while it is tried."`
	PersonID  *id.Person  `json:"personId" doc:"Whose it is; null of somebody who was erased."`
	SubjectID *id.Subject `json:"subjectId" doc:"What a grade is of; null of what a record store is told."`
	ObjectID  *string     `json:"objectId" doc:"Id of the result, the assignment or the certificate; null of a grade."`
	ChangedAt time.Time   `json:"changedAt" doc:"When there last was something to tell, in UTC."`
}

func (a *API) untold(ctx context.Context, c *route.Call, p *Path) (route.Page[ConnectionUntold], error) {
	var page route.Page[ConnectionUntold]
	which, err := p.connection()
	if err != nil {
		return page, err
	}
	if _, err := connection.Get(ctx, a.Tenants, c.Org(), which); err != nil {
		return page, err
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
