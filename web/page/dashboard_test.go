package page_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/web/page"
)

// board has one dashboard, which a link opens.
type board struct{ of dashboard.Figures }

func (p *board) Shown(_ context.Context, link string) (dashboard.Figures, error) {
	if link != "the-link" {
		return dashboard.Figures{}, page.ErrNoDashboard
	}
	return p.of, nil
}

// failing cannot find its dashboards.
type failing struct{}

func (failing) Shown(context.Context, string) (dashboard.Figures, error) {
	return dashboard.Figures{}, errors.New("the database is away")
}

// The link opens the dashboard, so the log has none.
func TestNoLogHasALink(t *testing.T) {
	b := setup(t)
	var log bytes.Buffer
	b.handler.Log, b.handler.Dashboards = slog.New(slog.NewTextHandler(&log, nil)), failing{}
	require.Equal(t, http.StatusInternalServerError, b.get(page.DashboardURL("https://portal.example.com", "the-link")).Code)
	require.Contains(t, log.String(), "~dashboard/")
	require.NotContains(t, log.String(), "the-link")
}

// The page needs no script: what it shows is in it.
func TestDashboardPage(t *testing.T) {
	b := setup(t)
	const pages = "https://portal.example.com"
	address := page.DashboardURL(pages, "the-link")
	require.Equal(t, http.StatusNotFound, b.get(address).Code, "there are no dashboards here")

	d, err := dashboard.Find(dashboard.Inbox)
	require.NoError(t, err)
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	b.handler.Dashboards = &board{dashboard.Figures{
		Definition: d, Period: dashboard.Period{From: at, To: at.AddDate(0, 0, 2), Zone: time.UTC, Granularity: dashboard.Day}, FreshTo: at.AddDate(0, 0, 2),
		Tiles:  []dashboard.Tile{{Key: "leads", Label: "Leads", Unit: "count", Value: new(12.0)}, {Key: "x", Label: "Of few", Unit: "percent"}},
		Series: []dashboard.Series{{Key: "leads", Points: []dashboard.Point{{At: at, Value: new(3.0)}, {At: at.AddDate(0, 0, 1), Value: new(9.0)}}}},
		Tables: []dashboard.Table{{Label: "Subjects", Columns: []dashboard.Column{{Label: "Subject"}}, Rows: [][]any{{"<b>Rooms</b>"}}}},
	}}
	w := b.get(address)
	require.Equal(t, http.StatusOK, w.Code)
	body := w.Body.String()
	require.Contains(t, body, "<bdi>12</bdi>")
	require.Contains(t, body, "<bdi>–</bdi>", "nothing is said of few")
	require.Contains(t, body, `height="20"`)
	require.Contains(t, body, "2026-11-24: 9")
	require.Contains(t, body, "&lt;b&gt;Rooms&lt;/b&gt;")
	require.NotContains(t, body, "<script")
	require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"))
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors *")
	require.Contains(t, b.get(address, "Accept-Language: de").Body.String(), "Gezählt ist alles")

	for _, wrong := range []string{"another", "", "the-link/x", strings.Repeat("x", 5000)} {
		require.Equal(t, http.StatusNotFound, b.get(page.DashboardURL(pages, wrong)).Code, wrong)
	}
	require.Equal(t, http.StatusMethodNotAllowed, b.post(address, nil).Code)
}
