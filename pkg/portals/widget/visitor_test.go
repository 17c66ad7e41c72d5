package widget_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestOpenAt(t *testing.T) {
	h := widget.Hours{Timezone: "Europe/Berlin", Open: []widget.Open{
		{Day: "monday", From: "09:00", To: "17:00"}, {Day: "sunday", From: "22:00", To: "24:00"},
	}}
	for at, open := range map[string]bool{
		"2026-07-06T06:59:59Z": false, // a Monday, in summer
		"2026-07-06T07:00:00Z": true,
		"2026-07-06T14:59:59Z": true,
		"2026-07-06T15:00:00Z": false,
		"2026-01-05T07:30:00Z": false, // and in winter
		"2026-01-05T08:00:00Z": true,
		"2026-07-05T21:59:59Z": true,
		"2026-07-05T22:00:00Z": false, // Monday in Berlin
		"2026-07-07T08:00:00Z": false,
	} {
		moment, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, open, h.OpenAt(moment), at)
	}
	always := widget.Hours{Timezone: "UTC"}
	require.True(t, always.OpenAt(tenanttest.Now))
}

func TestLeadForm(t *testing.T) {
	form := widget.LeadForm{Fields: []string{"name", "email", "phone"}, Required: []string{"email"}}
	kept, err := form.Normalize(widget.Contact{"name": " Kim ", "email": "kim@example.com", "phone": "", "company": " "})
	require.NoError(t, err)
	require.Equal(t, widget.Contact{"name": "Kim", "email": "kim@example.com"}, kept)
	for field, given := range map[string]widget.Contact{
		"email":   {"name": "Kim"},
		"phone":   {"email": "kim@example.com", "phone": "soon"},
		"company": {"email": "kim@example.com", "company": "Acme"},
	} {
		_, err := form.Normalize(given)
		var wrong *errdefs.Invalid
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
}

func TestMarks(t *testing.T) {
	one, two := id.NewOrg(), id.NewOrg()
	visitors := widget.NewVisitors(widget.NewVisitorSecret())
	mark := visitors.Mark(one, "203.0.113.7", tenanttest.Now)
	require.Len(t, mark, 32)
	require.Equal(t, mark, visitors.Mark(one, "203.0.113.7", tenanttest.Now.Add(11*time.Hour)))
	for what, other := range map[string]widget.Visitor{
		"another address":      visitors.Mark(one, "203.0.113.8", tenanttest.Now),
		"another organization": visitors.Mark(two, "203.0.113.7", tenanttest.Now),
		"another day":          visitors.Mark(one, "203.0.113.7", tenanttest.Now.Add(12*time.Hour)),
		"another secret":       widget.NewVisitors(widget.NewVisitorSecret()).Mark(one, "203.0.113.7", tenanttest.Now),
	} {
		require.NotEqual(t, mark, other, what)
	}
}

func TestVisitsAreCounted(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	w := widget.Widget{ID: id.NewWidget(), Definition: widget.Defaults()}
	visitors := widget.NewVisitors(widget.NewVisitorSecret())
	visit := func(org id.Org, at time.Time) error {
		return tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
			return widget.CountVisit(ctx, tx, w, visitors.Mark(org, "203.0.113.7", at), at)
		})
	}
	for range 3 {
		require.NoError(t, visit(one, tenanttest.Now), "no cap, and no count")
	}
	w.Definition.Caps.SessionsPerVisitorPerDay = new(int64(2))
	for range 2 {
		require.NoError(t, visit(one, tenanttest.Now))
	}
	require.ErrorIs(t, visit(one, tenanttest.Now), widget.ErrVisits)
	require.NoError(t, visit(two, tenanttest.Now))
	require.NoError(t, visit(one, tenanttest.Now.AddDate(0, 0, 1)))

	tomorrow := tenanttest.Now.AddDate(0, 0, 1)
	swept, err := widget.SweepVisitors(t.Context(), tenants, "a", tomorrow)
	require.NoError(t, err)
	require.Equal(t, 2, swept, "of the day before")
	require.NoError(t, visit(one, tomorrow))
	require.ErrorIs(t, visit(one, tomorrow), widget.ErrVisits, "the day's own stay")
}
