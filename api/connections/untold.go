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
	"visavis.dev/pkg/personas/connection"
)

func (a *API) registerUntold(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listConnectionUntold", Group: "Connections", Scope: scope.ConnectionsRead, AndScope: scope.ResultsRead, Class: "read", Since: contract.V20261001,
		Method: http.MethodGet, Path: "/connections/{id}/untold", Errors: []problem.Code{problem.Gone},
		Summary: "What a learning system was not told yet, or cannot be told",
		Description: "The last 100 that changed, newest first; none where everything was told, and of connections of other kinds. " +
			"What is stopped is told after the next change, or of a grade once its person comes by the link again.",
	}, a.untold)
}

// ConnectionUntold is something that a learning system was not told.
type ConnectionUntold struct {
	Kind      string     `json:"kind" enum:"grade" doc:"What is to be told: a grade, to a platform's gradebook."`
	State     string     `json:"state" enum:"waiting,stopped" doc:"waiting while it is tried; stopped where that was of no use, as errorCode says."`
	ErrorCode *string    `json:"errorCode" doc:"Why it is stopped: disabled (the connection is switched off), platform_changed (the connection is another platform's by now), internal_error, or the code of the last call, such as rejected; null while it is tried."`
	PersonID  id.Person  `json:"personId" doc:"Whose it is."`
	SubjectID id.Subject `json:"subjectId" doc:"What it is of."`
	ChangedAt time.Time  `json:"changedAt" doc:"When there last was something to tell, in UTC."`
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
		u := ConnectionUntold{
			Kind: "grade", State: "waiting", ErrorCode: orNull(l.Trouble), PersonID: l.Person, SubjectID: l.Subject, ChangedAt: l.ChangedAt.UTC(),
		}
		if l.Trouble != "" {
			u.State = "stopped"
		}
		page.Items = append(page.Items, u)
	}
	return page, nil
}
