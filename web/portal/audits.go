package portal

import (
	"context"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/web/page"
)

// audits are what portals show; it implements page.Audits.
type audits struct{ *Server }

// Audit implements page.Audits.
func (a audits) Audit(ctx context.Context, site *published.Site) (shown demographics.Publication, found demographics.Audit, err error) {
	t := a.options.Backend.Tenants
	shown, err = demographics.Published(ctx, t, site.Org, site.Portal)
	if errdefs.IsNotFound(err, demographics.PublicationNoun) {
		return shown, found, page.ErrNoAudit
	}
	if err != nil {
		return shown, found, err
	}
	found, err = demographics.Read(ctx, t, site.Org, shown.Filter())
	return shown, found, err
}
