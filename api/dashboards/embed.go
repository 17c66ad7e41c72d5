package dashboards

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/web/page"
)

// EmbedInput is the request for a link.
type EmbedInput struct{ Body DashboardEmbed }

// DashboardEmbed says what the page shows, and how long.
type DashboardEmbed struct {
	Key        string `json:"key" enum:"overview,conversations,questions,learning,inbox,hiring,usage,delivery" doc:"The dashboard."`
	PortalID   string `json:"portalId,omitempty" maxLength:"80" nullable:"true" doc:"Only what happened on this portal; null for the organization."`
	ExpiresInS *int64 `json:"expiresInS,omitempty" minimum:"60" maximum:"86400" doc:"How long the link opens the page, in seconds; 3600 unless given."`
}

// DashboardLink opens a page.
type DashboardLink struct {
	URL       string    `json:"url" doc:"The page, for whoever has the address."`
	ExpiresAt time.Time `json:"expiresAt" doc:"When it stops opening, in UTC."`
}

// defaultEmbed is how long a link opens a page.
const defaultEmbed = time.Hour

func (a *API) embed(ctx context.Context, c *route.Call, in *EmbedInput) (DashboardLink, error) {
	b := &in.Body
	d, err := find(c, b.Key)
	if err != nil {
		return DashboardLink{}, route.At(err, "body.key")
	}
	lasts := defaultEmbed
	if b.ExpiresInS != nil {
		lasts = time.Duration(*b.ExpiresInS) * time.Second
	}
	e := dashboard.Embed{Org: c.Org(), Key: d.Key, By: c.Principal.Key.ID, Until: c.Now().Add(lasts).Truncate(time.Second)}
	if b.PortalID != "" {
		if e.Portal, err = id.ParsePortal(b.PortalID); err != nil {
			return DashboardLink{}, problem.Missing("portal").WithParam("body.portalId")
		}
		if !d.ByPortal {
			return DashboardLink{}, problem.Invalid("body.portalId", "This dashboard is of the whole organization.")
		}
		if _, err := portal.Get(ctx, a.Tenants, c.Org(), e.Portal); err != nil {
			return DashboardLink{}, route.At(err, "body.portalId")
		}
	}
	return route.Commit(ctx, c, func(_ context.Context, tx *tenant.Tx) (DashboardLink, error) {
		c.Actor().Log(tx, "dashboard.link_created", "dashboard", e.Key, map[string]any{"expiresAt": e.Until})
		return DashboardLink{page.DashboardURL(a.PortalURL, a.Embeds.Sign(e)), e.Until}, nil
	})
}
