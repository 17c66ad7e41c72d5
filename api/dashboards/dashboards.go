// Package dashboards declares the operations on an organization's figures (spec, Dashboards).
package dashboards

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	// Embeds sign the links of pages, which are below PortalURL.
	Embeds    dashboard.Embeds
	PortalURL string
}

const (
	group   = "Dashboards"
	asTable = "text/csv"
)

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: group, Method: http.MethodGet, Class: "search", Scope: scope.DashboardsRead, Feature: "dashboards", Since: contract.V20261001}

	list := read
	list.ID, list.Path, list.Class = "listDashboards", "/dashboards", "read"
	list.Summary = "The dashboards that the key may read"
	route.List(s, list, a.list)

	get := read
	get.ID, get.Path, get.Produces = "getDashboard", "/dashboards/{id}", []string{asTable}
	get.Summary = "The figures of a period, as JSON or as a table"
	get.Errors = []problem.Code{problem.NotFound}
	get.Description = "The key needs the scope of the dashboard's records too: sessions:read for overview and conversations, knowledge:read for questions, " +
		"results:read for learning, inbox:read for inbox, candidates:read for hiring, usage:read for usage and webhooks:manage for delivery. " +
		"What was asked in words is shown to a key that holds transcripts:read. Ask with Accept: text/csv for a table. " +
		"Figures about people are counted in groups of six or more; a value is null where no such group is complete in the period."
	route.HandleOrFile(s, get, a.get)

	embed := read
	embed.ID, embed.Method, embed.Path, embed.Class, embed.Scope = "createDashboardEmbedToken", http.MethodPost, "/dashboards/embed-tokens", "write", scope.EmbedWrite
	embed.AndScope, embed.Status, embed.Idempotent, embed.ShowsSecret = scope.DashboardsRead, http.StatusCreated, true, true
	embed.Errors = []problem.Code{problem.NotFound}
	embed.Summary = "A link to a page that shows a dashboard, for a while"
	embed.Description = "Whoever has the link reads the dashboard, as far as this key may: it opens nothing any more once the key is revoked. The page needs no script."
	route.Handle(s, embed, a.embed)
}

// may says whether the key may read a dashboard.
func may(c *route.Call, d dashboard.Definition) bool {
	return d.Needs == "" || c.Principal.Key.Grant().Holds(d.Needs)
}

// DashboardName is a dashboard without its figures.
type DashboardName struct {
	Key      dashboard.Key `json:"key" enum:"overview,conversations,questions,learning,inbox,hiring,usage,delivery" doc:"Its name in requests."`
	Label    string        `json:"label" doc:"Its name for people, in English."`
	Scope    scope.Scope   `json:"scope" doc:"What the key needs beside dashboards:read."`
	ByPortal bool          `json:"byPortal" doc:"Whether it can be asked for of one portal."`
	ByUnit   bool          `json:"byUnit" doc:"Whether it can be asked for of one unit."`
	Tiles    []TileName    `json:"tiles" doc:"Its figures."`
}

// TileName is a figure without its value.
type TileName struct {
	Key   string `json:"key" doc:"Its name."`
	Label string `json:"label" doc:"What it counts, in English."`
	Unit  string `json:"unit" enum:"count,percent,minutes,seconds,milliseconds" doc:"What its value is in."`
}

// ListQuery pages the dashboards.
type ListQuery struct{ route.Paging }

func (a *API) list(_ context.Context, c *route.Call, q *ListQuery) (route.Page[DashboardName], error) {
	return route.Listed(c, q.Paging, func(after dashboard.Key, limit int) ([]dashboard.Definition, error) {
		readable := slices.DeleteFunc(dashboard.Definitions(), func(d dashboard.Definition) bool { return !may(c, d) })
		first := 1 + slices.IndexFunc(readable, func(d dashboard.Definition) bool { return d.Key == after })
		return readable[first:min(len(readable), first+limit)], nil
	}, func(d dashboard.Definition) dashboard.Key { return d.Key }, func(d dashboard.Definition) DashboardName {
		one := DashboardName{Key: d.Key, Label: d.Label, Scope: d.Needs, ByPortal: d.ByPortal, ByUnit: d.ByUnit, Tiles: []TileName{}}
		for _, t := range d.Tiles() {
			one.Tiles = append(one.Tiles, TileName{t.Key, t.Label, t.Unit})
		}
		return one
	})
}

// Input says which figures are meant.
type Input struct {
	ID          string       `path:"id" maxLength:"40" doc:"The dashboard: overview, conversations, questions, learning, inbox, hiring, usage or delivery."`
	From        route.Moment `query:"from" doc:"Where the period begins, moved down to a quarter of an hour; the beginning of the day thirty days before its end unless given: an ISO date, midnight in UTC, or a date-time."`
	To          route.Moment `query:"to" doc:"Where the period ends, moved up to a quarter of an hour; now unless given: an ISO date, midnight in UTC, or a date-time."`
	PortalID    string       `query:"portalId" maxLength:"80" doc:"Only what happened on this portal."`
	UnitID      string       `query:"unitId" maxLength:"80" doc:"Only the members of this unit itself; overview and learning alone."`
	Granularity string       `query:"granularity" enum:"hour,day,week,month" default:"day" doc:"How long the parts of the period are. It is at most 31 days long by hour, 100 by day and 400 by week and month."`
	Compare     string       `query:"compare" enum:"previous" doc:"previous adds the figures of the period of the same length before."`
	Timezone    string       `query:"timezone" maxLength:"60" doc:"Whose clock and calendar the parts go by, such as Asia/Kathmandu; the organization's unless given."`
}

func (a *API) get(ctx context.Context, c *route.Call, in *Input) (route.Either[Dashboard], error) {
	var answer route.Either[Dashboard]
	d, err := find(c, in.ID)
	if err != nil {
		return answer, err
	}
	q, err := a.query(ctx, c, in)
	if err != nil {
		return answer, err
	}
	f, err := dashboard.Read(ctx, a.Tenants, c.Org(), d, q, c.Now())
	if invalid, ok := errors.AsType[*errdefs.Invalid](err); ok {
		return answer, problem.Invalid("query."+invalid.Field, "%s", invalid.Message)
	}
	if err != nil {
		return answer, err
	}
	if !c.Principal.Key.Grant().Holds(scope.TranscriptsRead) {
		f.Withhold()
	}
	if c.Prefers() == asTable {
		answer.File = &route.Blob{
			ContentType: asTable + "; charset=utf-8", CacheControl: "private, no-store", Download: "dashboard-" + in.ID + ".csv",
			Data: func(context.Context) ([]byte, error) { return f.CSV() },
		}
		return answer, nil
	}
	answer.Data = show(f, c.Now())
	return answer, nil
}

// find finds a dashboard that the key may read.
func find(c *route.Call, key string) (dashboard.Definition, error) {
	d, err := dashboard.Find(dashboard.Key(key))
	if err == nil && !may(c, d) {
		err = problem.New(problem.Forbidden, "This key lacks the scope %s.", d.Needs)
	}
	return d, err
}

func (a *API) query(ctx context.Context, c *route.Call, in *Input) (q dashboard.Query, err error) {
	name := in.Timezone
	if name == "" {
		name = c.Principal.Org.Timezone
	}
	q.Compare, q.Granularity = in.Compare == "previous", dashboard.Granularity(in.Granularity)
	if q.Zone, err = time.LoadLocation(name); err != nil || name == "Local" {
		return q, problem.Invalid("query.timezone", "timezone is not the name of a time zone, such as Europe/Berlin.")
	}
	if q.To = in.To.Time; q.To.IsZero() {
		q.To = c.Now()
	}
	if q.From = in.From.Time; q.From.IsZero() {
		year, month, day := q.To.In(q.Zone).AddDate(0, 0, -30).Date()
		q.From = time.Date(year, month, day, 0, 0, 0, 0, q.Zone)
	}
	if q.Portal, err = route.QueryID(id.ParsePortal, "portalId", in.PortalID); err != nil {
		return q, err
	}
	if q.Unit, err = route.QueryID(id.ParseUnit, "unitId", in.UnitID); err != nil {
		return q, err
	}
	return q, a.place(ctx, c, &q)
}

// place finds the portal and the unit that are asked for.
func (a *API) place(ctx context.Context, c *route.Call, q *dashboard.Query) error {
	if !q.Portal.IsZero() {
		if _, err := portal.Get(ctx, a.Tenants, c.Org(), q.Portal); err != nil {
			return route.At(err, "query.portalId")
		}
	}
	if q.Unit.IsZero() {
		return nil
	}
	u, err := unit.Get(ctx, a.Tenants, c.Org(), q.Unit)
	switch {
	case err != nil:
		return route.At(err, "query.unitId")
	case !q.Portal.IsZero() && u.Portal != q.Portal:
		return problem.Invalid("query.unitId", "The unit is of another portal.")
	}
	q.Portal = u.Portal
	return nil
}
