package page_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/web/page"
)

// diary has one appointment.
type diary struct {
	shown   page.Appointment
	changed []string
	err     error
}

func (d *diary) Appointment(_ context.Context, token string) (page.Appointment, error) {
	if token != "t1" {
		return page.Appointment{}, mailer.ErrNoAppointment
	}
	return d.shown, nil
}

func (d *diary) Choose(_ context.Context, _ string, at time.Time) error {
	d.changed = append(d.changed, at.Format(time.RFC3339))
	return d.err
}

func (d *diary) Cancel(context.Context, string) error {
	d.changed = append(d.changed, "cancelled")
	return d.err
}

// Only a form of the page itself changes an appointment: whoever follows the link changes nothing.
func TestBookingPage(t *testing.T) {
	b := setup(t)
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	known := &diary{shown: page.Appointment{
		Title: "A tour <b>", Location: "Pier & 1", State: "confirmed", StartsAt: at, EndsAt: at.Add(time.Hour), Zone: zone, Language: "de",
		Offered: []time.Time{at.Add(2 * time.Hour)}, Open: true,
	}}
	b.handler.Appointments = known
	const here = "https://portal.example.com/booking/t1"
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, request(method, here+"?do=cancel&time="+url.QueryEscape(at.Format(time.RFC3339))))
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	}
	require.Empty(t, known.changed)
	text := b.get(here).Body.String()
	for _, want := range []string{"A tour &lt;b&gt;", "Pier &amp; 1", "2026-12-01 10:00 CET", "2026-12-01 12:00 CET", "Ihr Termin ist gebucht.", `<html lang="de"`, "Den Termin absagen"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "<script")
	require.Contains(t, b.get(here+"?lang=ar").Body.String(), `<html lang="ar" dir="rtl"`)
	require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com/booking/t2").Code)
	require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com/booking/"+strings.Repeat("x", 500)).Code)

	post := func(form url.Values, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, here+"?lang=fr", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for _, h := range header {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		return w
	}
	require.Equal(t, http.StatusForbidden, post(url.Values{"do": {"cancel"}}, "Sec-Fetch-Site: cross-site").Code)
	require.Equal(t, http.StatusBadRequest, post(url.Values{}).Code)
	require.Equal(t, http.StatusBadRequest, post(url.Values{"do": {"choose"}, "time": {"ten"}}).Code)
	require.Empty(t, known.changed)
	done := post(url.Values{"do": {"choose"}, "time": {at.Add(2 * time.Hour).Format(time.RFC3339)}})
	require.Equal(t, []any{http.StatusSeeOther, "/booking/t1?lang=fr"}, []any{done.Code, done.Header().Get("Location")})
	require.Equal(t, http.StatusSeeOther, post(url.Values{"do": {"cancel"}}).Code)
	require.Equal(t, []string{"2026-12-01T11:00:00Z", "cancelled"}, known.changed)
	known.err = page.ErrUnfit
	late := post(url.Values{"do": {"cancel"}})
	require.Equal(t, http.StatusConflict, late.Code)
	require.Contains(t, late.Body.String(), "Ce n&#39;est plus possible.")

	var log strings.Builder
	b.handler.Log = slog.New(slog.NewTextHandler(&log, nil))
	known.err = errors.New("down")
	require.Equal(t, http.StatusInternalServerError, post(url.Values{"do": {"cancel"}}).Code)
	require.Contains(t, log.String(), "path=/booking/ ", "without the token")
	require.NotContains(t, log.String(), "t1")
}
