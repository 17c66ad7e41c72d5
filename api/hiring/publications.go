package hiring

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerPublications(s *route.Service) {
	publish := route.Operation{
		ID: "setPortalBiasAudit", Group: group, Method: http.MethodPut, Path: "/portals/{id}/bias-audit", Class: "write", Scope: scope.PortalsPublish,
		Items: contract.BiasAuditItem, AndScope: scope.CandidatesRead, Since: contract.V20261001, Errors: []problem.Code{problem.Gone},
		Summary: "Show the bias audit of a year to everybody on a portal, or none any more",
		Description: "It is that of GET /bias-audits with this portal, as it is when somebody looks, on the page /bias-audit of the portal once the portal is published. " +
			"Another year takes its place.",
	}
	route.Handle(s, publish, a.publishAudit)
}

// PublicationInput is the request to show an audit.
type PublicationInput struct {
	ID   string `path:"id" doc:"The portal's id, with or without portal_."`
	Body PublicationWish
}

// PublicationWish is which audit is to be shown.
type PublicationWish struct {
	Published bool  `json:"published" doc:"Whether one is shown."`
	Year      int64 `json:"year,omitempty" minimum:"2000" maximum:"2100" doc:"The year in which its cohorts were counted, in UTC; required where one is shown."`
	LeaveOut  bool  `json:"leaveOutSmall,omitempty" doc:"Leaves categories with less than 2 % of those who said what they are out of the ratios."`
}

// BiasPublication is the audit that a portal shows.
type BiasPublication struct {
	PortalID    id.Portal  `json:"portalId" doc:"The portal."`
	Published   bool       `json:"published" doc:"Whether an audit is shown."`
	Year        *int64     `json:"year" doc:"The year in which its cohorts were counted; null where none is shown."`
	LeaveOut    bool       `json:"leaveOutSmall" doc:"Whether categories of less than 2 % are left out of the ratios."`
	URL         *string    `json:"url" format:"uri" doc:"The page; null where none is shown."`
	PublishedAt *time.Time `json:"publishedAt" doc:"Since when it is shown, in UTC; null where none is."`
}

func (a *API) publishAudit(ctx context.Context, c *route.Call, in *PublicationInput) (BiasPublication, error) {
	which, err := route.Lookup(id.ParsePortal, in.ID, "portal")
	if err != nil {
		return BiasPublication{}, err
	}
	if in.Body.Published && in.Body.Year == 0 {
		return BiasPublication{}, problem.Invalid("body.year", "Say of which year the audit is that is to be shown.")
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (BiasPublication, error) {
		p, err := portal.Lock(ctx, tx, which)
		if err != nil {
			return BiasPublication{}, err
		}
		shown := BiasPublication{PortalID: which}
		if !in.Body.Published {
			err := demographics.Unpublish(ctx, tx, which, c.Actor())
			if errdefs.IsNotFound(err, demographics.PublicationNoun) {
				err = nil // it is as wished
			}
			return shown, err
		}
		made, err := demographics.Publish(ctx, tx, demographics.Publication{Portal: which, Year: in.Body.Year, LeaveOut: in.Body.LeaveOut}, c.Actor())
		url := a.PortalURL + "/p/" + p.Slug + demographics.Page
		if p.Host != "" && p.HostProvenAt != nil {
			url = "https://" + p.Host + demographics.Page
		}
		at := made.At.UTC()
		shown.Published, shown.Year, shown.LeaveOut, shown.URL, shown.PublishedAt = true, &made.Year, made.LeaveOut, &url, &at
		return shown, err
	})
}
