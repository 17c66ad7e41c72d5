package portal

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/web/page"
)

// dashboards are what links to dashboards open; it implements page.Dashboards.
type dashboards struct{ *Server }

// Shown implements page.Dashboards. It shows what the key may read now that the link was asked
// for with, and no words.
func (t dashboards) Shown(ctx context.Context, link string) (dashboard.Figures, error) {
	b, now := t.options.Backend, t.options.Backend.Options.Clock.Now().UTC()
	e, ok := t.options.Front.Embeds.Open(link, now)
	if !ok {
		return dashboard.Figures{}, page.ErrNoDashboard
	}
	key, err := b.Keys.Get(ctx, e.Org, e.By)
	if errors.Is(err, apikey.ErrUnknown) {
		return dashboard.Figures{}, page.ErrNoDashboard
	}
	if err != nil {
		return dashboard.Figures{}, err
	}
	d, err := dashboard.Find(e.Key)
	grant := key.Grant()
	if err != nil || !key.Usable(now) || !grant.Holds(scope.DashboardsRead) || !grant.Holds(scope.EmbedWrite) || d.Needs != "" && !grant.Holds(d.Needs) {
		return dashboard.Figures{}, page.ErrNoDashboard
	}
	org, _, err := b.Organizations.Get(ctx, e.Org)
	if err != nil {
		return dashboard.Figures{}, err
	}
	zone, err := time.LoadLocation(org.Timezone)
	if err != nil {
		zone = time.UTC
	}
	year, month, day := now.In(zone).AddDate(0, 0, -30).Date()
	f, err := dashboard.Read(ctx, b.Tenants, e.Org, d, dashboard.Query{Portal: e.Portal, Period: dashboard.Period{
		From: time.Date(year, month, day, 0, 0, 0, 0, zone), To: now, Granularity: dashboard.Day, Zone: zone,
	}}, now)
	f.Withhold()
	return f, err
}
