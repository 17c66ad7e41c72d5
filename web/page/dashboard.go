package page

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"visavis.dev/pkg/figures/dashboard"
)

// dashboardPrefix is under what dashboards are, on every host. A slug has no "~".
const dashboardPrefix = SlugPrefix + "~dashboard/"

// Dashboards finds what links to dashboards open.
type Dashboards interface {
	// Shown are the figures that a link opens, of the last thirty days. The error is
	// ErrNoDashboard where it opens nothing, any more.
	Shown(ctx context.Context, link string) (dashboard.Figures, error)
}

// ErrNoDashboard says that a link opens no dashboard.
var ErrNoDashboard = errors.New("the link opens no dashboard")

// DashboardURL is the page of a dashboard below where the pages are, for whoever has the link.
// It needs no script, so the link is in the address.
func DashboardURL(pages, link string) string { return pages + dashboardPrefix + link }

// longestLink bounds what is looked at of a link.
const longestLink = 400

// dashboard serves the page of a dashboard. Any page may frame it: it holds no cookie, and
// whoever frames it has the link.
func (h *Handler) dashboard(w http.ResponseWriter, r *http.Request, link string) {
	v := nobodys(h, w, r)
	v.framed = true
	if err := v.taking(reading, func() error { return v.dashboardPage(link) }); err != nil {
		h.refuse(v, err)
	}
}

func (v *view) dashboardPage(link string) error {
	if len(link) > longestLink {
		return refused(http.StatusNotFound, "dashboard.unknown")
	}
	f, err := v.h.Dashboards.Shown(v.r.Context(), link)
	if errors.Is(err, ErrNoDashboard) {
		err = refused(http.StatusNotFound, "dashboard.unknown")
	}
	if err != nil {
		return err
	}
	v.w.Header().Set("Referrer-Policy", "no-referrer") // the address is what opens it
	s := v.sheet("dashboard.title")
	s.Body = v.drawn(f)
	return v.show(http.StatusOK, "dashboard", s)
}

// dashboardBody is a dashboard as its page shows it.
type dashboardBody struct {
	Label, From, To, Zone, Fresh string
	Tiles                        []dashboardTile
	Tables                       []dashboard.Table
}

// dashboardTile is a figure with its chart.
type dashboardTile struct {
	Label, Value string
	// Bars are the parts of the period; empty where there are none to compare.
	Bars  []bar
	Width int
}

// bar is a part of the period as a rectangle of a chart that is chartHeight high.
type bar struct {
	X, Y, Height int
	Title        string
}

const (
	chartHeight = 60
	barWidth    = 8
)

func (v *view) drawn(f dashboard.Figures) dashboardBody {
	zone := f.Period.Zone
	day := func(t time.Time) string { return t.In(zone).Format("2006-01-02") }
	b := dashboardBody{
		Label: f.Definition.Label, From: day(f.Period.From), To: day(f.Period.To.Add(-time.Nanosecond)), Zone: zone.String(),
		Fresh: f.FreshTo.In(zone).Format("2006-01-02 15:04"), Tables: f.Tables,
	}
	for _, t := range f.Tiles {
		shown := dashboardTile{Label: t.Label, Value: v.figure(t.Value, t.Unit)}
		for _, s := range f.Series {
			if s.Key == t.Key {
				shown.Bars, shown.Width = v.bars(s, t.Unit, day), barWidth*len(s.Points)
			}
		}
		b.Tiles = append(b.Tiles, shown)
	}
	return b
}

// bars draw a series. A part of which nothing is known has none.
func (v *view) bars(s dashboard.Series, unit string, day func(time.Time) string) (drawn []bar) {
	highest := 0.0
	for _, p := range s.Points {
		if p.Value != nil {
			highest = max(highest, *p.Value)
		}
	}
	for i, p := range s.Points {
		if p.Value == nil || highest == 0 {
			continue
		}
		height := int(math.Round(max(0, *p.Value) / highest * chartHeight))
		drawn = append(drawn, bar{X: i * barWidth, Y: chartHeight - height, Height: height, Title: day(p.At) + ": " + v.figure(p.Value, unit)})
	}
	return drawn
}

// units are how figures are written that are no counts.
var units = map[string]string{"percent": " %", "minutes": " min", "seconds": " s", "milliseconds": " ms"}

func (v *view) figure(value *float64, unit string) string {
	if value == nil {
		return v.Say("dashboard.none")
	}
	return strconv.FormatFloat(*value, 'f', -1, 64) + units[unit]
}
