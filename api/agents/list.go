package agents

import (
	"context"
	"slices"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/visits/agent"
)

// Query narrows the list of agents.
type Query struct {
	route.Paging
	Q        string `query:"q" maxLength:"200" doc:"Beginnings of words of what an agent and its organization are called and of what it is about; all of them, in any order."`
	Language string `query:"language" maxLength:"40" doc:"Those that answer in a language, by code or name."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Agent], error) {
	c.AllowOrigin("*")
	page, err := route.Listed(c, q.Paging, func(after agent.Position, limit int) ([]agent.Listed, error) {
		f := agent.Filter{Query: q.Q}
		if q.Language != "" {
			l, ok := language.Lookup(q.Language)
			if !ok {
				return nil, problem.Invalid("query.language", "GET /languages lists the languages.")
			}
			f.Language = l.Code
		}
		return a.Catalogue.List(ctx, f, after, limit)
	}, func(l agent.Listed) agent.Position { return l.Position }, func(l agent.Listed) shownOrNot {
		return shownOrNot{show(c, l.Agent), l.Hidden}
	})
	page.Items = slices.DeleteFunc(page.Items, func(s shownOrNot) bool { return s.hidden })
	return route.Map(page, func(s shownOrNot) Agent { return s.Agent }), err
}

type shownOrNot struct {
	Agent
	hidden bool
}
