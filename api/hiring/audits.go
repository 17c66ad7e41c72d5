package hiring

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/portal"
)

const asTable = "text/csv"

func (a *API) registerAudits(s *route.Service) {
	all := route.Operation{
		ID: "getBiasAudit", Group: group, Method: http.MethodGet, Path: "/bias-audits", Class: "search", Scope: scope.CandidatesRead, Since: contract.V20261001,
		Items: contract.BiasAuditItem, Produces: []string{asTable}, Errors: []problem.Code{problem.NotFound},
		Summary: "Selection rates and impact ratios of a year, of all roles or those on a portal",
		Description: "Counts by sex, by race or ethnicity and by both are of what candidates said of themselves by their own free will (voluntaryDemographics of a " +
			"role), in cohorts of twenty or more. Nothing in them, nor any difference of them, is about fewer than five who were selected or fewer than five who " +
			"were not: of whom that would be is counted in untold alone. Ask with Accept: text/csv for a table.",
	}
	route.HandleOrFile(s, all, a.auditAll)

	one := all
	one.ID, one.Path = "getRoleBiasAudit", "/roles/{id}/bias-audit"
	one.Summary = "Selection rates and impact ratios of a role"
	route.HandleOrFile(s, one, a.auditRole)
}

// BiasAudit is how often people of each category were selected.
type BiasAudit struct {
	From       time.Time  `json:"from" doc:"Cohorts that were counted from this time on, in UTC."`
	To         time.Time  `json:"to" doc:"And before this one, in UTC."`
	RoleID     *id.Role   `json:"roleId" nullable:"true" doc:"The role that it is of; null for more than one."`
	PortalID   *id.Portal `json:"portalId" nullable:"true" doc:"The portal whose roles it is of; null for those of all."`
	Cohorts    int64      `json:"cohorts" doc:"How many cohorts it counts."`
	Applicants int64      `json:"applicants" doc:"How many candidates were decided on, of all categories."`
	Selected   int64      `json:"selected" doc:"How many of them people first decided to go on with (advance or hire), whatever came later."`
	BySex      BiasFamily `json:"bySex" doc:"The categories of sex."`
	ByRace     BiasFamily `json:"byRace" doc:"The categories of race or ethnicity."`
	ByBoth     BiasFamily `json:"bySexAndRace" doc:"The categories of sex and race or ethnicity together."`
}

// BiasFamily is an audit by some categories.
type BiasFamily struct {
	Categories []BiasCategory `json:"categories" doc:"Those that can be told."`
	Unknown    BiasUnknown    `json:"unknown" doc:"Candidates who did not say what they are, as far as it can be told."`
	Untold     int64          `json:"untold" doc:"Candidates of whom nothing is told here, so that nothing is told of few."`
}

// BiasUnknown are candidates who did not say what they are.
type BiasUnknown struct {
	Applicants int64 `json:"applicants" doc:"How many they are."`
	Selected   int64 `json:"selected" doc:"How many of them were selected."`
}

// BiasCategory is a category.
type BiasCategory struct {
	Sex        *demographics.Sex  `json:"sex" nullable:"true" enum:"female,male" doc:"The sex; null for any."`
	Race       *demographics.Race `json:"race" nullable:"true" enum:"hispanic_or_latino,white,black_or_african_american,native_hawaiian_or_pacific_islander,asian,american_indian_or_alaska_native,two_or_more_races" doc:"The race or ethnicity, as EEO-1 reports have them; null for any."`
	Applicants int64              `json:"applicants" doc:"How many were decided on."`
	Selected   int64              `json:"selected" doc:"How many of them were selected."`
	Rate       *float64           `json:"selectionRate" doc:"selected as a part of applicants, from 0 to 1, to four digits."`
	Ratio      *float64           `json:"impactRatio" doc:"The selection rate as a part of the highest of those categories that can be told of the same cohorts, to four digits; null of others, where there is one alone, where it is left out, and where nobody was selected."`
	Flagged    bool               `json:"belowFourFifths" doc:"Whether there is a ratio that is less than four fifths."`
	LeftOut    bool               `json:"leftOut" doc:"Whether it is left out of the ratios because less than 2 % are of it."`
}

func showFamily(f demographics.Family) BiasFamily {
	shown := BiasFamily{Categories: []BiasCategory{}, Unknown: BiasUnknown{f.Unknown.Applicants, f.Unknown.Selected}, Untold: f.Untold}
	for _, l := range f.Lines {
		one := BiasCategory{Applicants: l.Applicants, Selected: l.Selected, Rate: rounded(l.Rate), Ratio: rounded(l.Ratio), Flagged: l.Flagged, LeftOut: l.LeftOut}
		if l.Sex != "" {
			one.Sex = &l.Sex
		}
		if l.Race != "" {
			one.Race = &l.Race
		}
		shown.Categories = append(shown.Categories, one)
	}
	return shown
}

// rounded is a number to four digits.
func rounded(n *float64) *float64 {
	if n == nil {
		return nil
	}
	return new(math.Round(*n*1e4) / 1e4)
}

// AuditOptions say how an audit is worked out.
type AuditOptions struct {
	LeaveOut bool `query:"leaveOutSmall" doc:"Leaves categories with less than 2 % of those who said what they are out of the ratios, as New York City allows; they are counted all the same."`
}

// RoleAuditInput says which audit of a role is meant.
type RoleAuditInput struct {
	RolePath
	AuditOptions
	Year int64 `query:"year" minimum:"2000" maximum:"2100" doc:"The year in which cohorts were counted, in UTC; all of them unless given."`
}

// AuditInput says which audit is meant.
type AuditInput struct {
	AuditOptions
	Year     int64  `query:"year" minimum:"2000" maximum:"2100" doc:"The year in which cohorts were counted, in UTC; this one unless given."`
	PortalID string `query:"portalId" maxLength:"80" doc:"Roles on this portal alone."`
}

func (a *API) auditRole(ctx context.Context, c *route.Call, in *RoleAuditInput) (answer route.Either[BiasAudit], err error) {
	which, err := in.role()
	if err != nil {
		return answer, err
	}
	r, err := role.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return answer, err
	}
	f := demographics.Filter{Role: which, From: r.CreatedAt, To: c.Now(), LeaveOut: in.LeaveOut}
	if in.Year != 0 {
		f.From, f.To = demographics.Year(in.Year)
	}
	return a.audit(ctx, c, f)
}

func (a *API) auditAll(ctx context.Context, c *route.Call, in *AuditInput) (answer route.Either[BiasAudit], err error) {
	f := demographics.Filter{LeaveOut: in.LeaveOut}
	f.From, f.To = demographics.Year(cmp.Or(in.Year, int64(c.Now().UTC().Year())))
	if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", in.PortalID); err != nil {
		return answer, err
	}
	if !f.Portal.IsZero() {
		if _, err := portal.Get(ctx, a.Tenants, c.Org(), f.Portal); err != nil {
			return answer, route.At(err, "query.portalId")
		}
	}
	return a.audit(ctx, c, f)
}

func (a *API) audit(ctx context.Context, c *route.Call, f demographics.Filter) (answer route.Either[BiasAudit], err error) {
	found, err := demographics.Read(ctx, a.Tenants, c.Org(), f)
	if err != nil {
		return answer, err
	}
	if c.Prefers() == asTable {
		answer.File = &route.Blob{
			ContentType: asTable + "; charset=utf-8", CacheControl: "private, no-store", Download: "bias-audit.csv",
			Data: func(context.Context) ([]byte, error) { return found.CSV() },
		}
		return answer, nil
	}
	answer.Data = BiasAudit{
		From: f.From.UTC(), To: f.To.UTC(), RoleID: f.Role.OrNil(), PortalID: f.Portal.OrNil(), Cohorts: found.Cohorts, Applicants: found.Applicants,
		Selected: found.Selected, BySex: showFamily(found.Sexes), ByRace: showFamily(found.Races), ByBoth: showFamily(found.Both),
	}
	return answer, nil
}
