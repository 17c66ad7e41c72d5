package widget_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestOrigins(t *testing.T) {
	for text, origin := range map[string]string{
		"https://example.com":      "https://example.com",
		"HTTPS://Example.COM:443/": "https://example.com",
		"https://example.com:8443": "https://example.com:8443",
		"https://*.example.com":    "https://*.example.com",
		"https://bücher.example":   "https://xn--bcher-kva.example",
		"http://localhost":         "http://localhost",
		"http://localhost:3000":    "http://localhost:3000",
		"https://localhost":        "https://localhost",
		"http://example.com":       "",
		"example.com":              "",
		"https://com":              "",
		"https://*.com":            "",
		"https://*":                "",
		"https://a.*.example.com":  "",
		"https://10.0.0.1":         "",
		"https://[::1]":            "",
		"https://user@example.com": "",
		"https://example.com/path": "",
		"https://example.com?q":    "",
		"https://example.com#f":    "",
		"http://*.localhost":       "",
		"javascript://example.com": "",
		"":                         "",
		"null":                     "",
	} {
		got, ok := widget.ParseOrigin(text)
		require.Equal(t, origin, got, text)
		require.Equal(t, origin != "", ok, text)
		if ok {
			again, _ := widget.ParseOrigin(got)
			require.Equal(t, got, again, "normalized")
		}
	}
}

func TestAllows(t *testing.T) {
	d := widget.Definition{AllowedOrigins: []string{"https://example.com", "https://*.example.org", "http://localhost"}}
	for origin, allowed := range map[string]bool{
		"https://example.com": true, "https://www.example.com": false, "http://example.com": false, "https://example.com:8443": false,
		"https://a.example.org": true, "https://a.b.example.org": true, "https://example.org": false, "https://.example.org": false,
		"https://evilexample.org": false, "https://example.org.evil.com": false, "https://evil.com/.example.org": false,
		"https://evil.com#.example.org": false, "https://evil.com?.example.org": false, "https://evil.com\\.example.org": false,
		"https://user@a.example.org": false, "https://a.example.org:8443": false, "http://a.example.org": false,
		"http://localhost": true, "http://localhost:5173": true, "http://localhost.evil.com": false, "": false, "null": false,
	} {
		require.Equal(t, allowed, d.Allows(origin), origin)
	}
	require.False(t, (&widget.Definition{}).Allows("https://example.com"), "nowhere unless said")
}

func FuzzParseOrigin(f *testing.F) {
	for _, seed := range []string{"https://example.com", "https://*.example.com", "http://localhost:1", "https://[::1%25a]", "https://\xff", "https://a.b:99999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		origin, ok := widget.ParseOrigin(text)
		if !ok {
			require.Empty(t, origin)
			return
		}
		again, ok := widget.ParseOrigin(origin)
		require.True(t, ok, origin)
		require.Equal(t, origin, again)
	})
}

func TestHours(t *testing.T) {
	d := widget.Defaults()
	d.Hours.Open = []widget.Open{{Day: "tuesday", From: "09:00", To: "24:00"}, {Day: "monday", From: "13:00", To: "17:00"}, {Day: "monday", From: "09:00", To: "13:00"}}
	normalized, err := d.Normalize(widget.EU)
	require.NoError(t, err)
	require.Equal(t, []widget.Open{{Day: "monday", From: "09:00", To: "13:00"}, {Day: "monday", From: "13:00", To: "17:00"}, {Day: "tuesday", From: "09:00", To: "24:00"}}, normalized.Hours.Open)
	require.Equal(t, "tuesday", d.Hours.Open[0].Day, "what was sent is left alone")
	d.Hours.Open = append(d.Hours.Open, widget.Open{Day: "monday", From: "12:59", To: "14:00"})
	var field *errdefs.Invalid
	_, err = d.Normalize(widget.EU)
	require.ErrorAs(t, err, &field)
	require.Equal(t, "hours.open", field.Field)
	for _, zone := range []string{"", "Local", "../etc/passwd", "Mars/Base"} {
		d := widget.Defaults()
		d.Hours.Timezone = zone
		_, err = d.Normalize(widget.EU)
		require.ErrorAs(t, err, &field, zone)
		require.Equal(t, "hours.timezone", field.Field)
	}
}

func TestNoticeByRegion(t *testing.T) {
	d := widget.Defaults()
	d.AINotice = false
	_, err := d.Normalize("us")
	require.NoError(t, err)
	_, err = d.Normalize(widget.EU)
	require.Error(t, err)
}

func TestPublicKeys(t *testing.T) {
	org := id.NewOrg()
	key := widget.NewPublicKey(org)
	require.Regexp(t, `^wpk_[0-9A-Za-z]{40,}$`, string(key))
	require.NotEqual(t, key, widget.NewPublicKey(org))
	of, ok := key.Org()
	require.True(t, ok)
	require.Equal(t, org, of)
	for _, bad := range []widget.PublicKey{"", "wpk_", key[:26], "wpk_" + widget.PublicKey(make([]byte, 40)), key[4:]} {
		_, ok := bad.Org()
		require.False(t, ok, string(bad))
	}
}

func TestStore(t *testing.T) {
	tenants, sent, one, two := tenanttest.NewTraced(t)
	ctx, who := context.Background(), widget.Author{Actor: activity.Actor{By: "key_1", At: tenanttest.Now}, Region: widget.EU}
	w := widget.Widget{ID: id.NewWidget(), Name: "Site", Persona: id.NewPersona(), Enabled: true, Definition: widget.Defaults(), PublicKey: widget.NewPublicKey(one)}
	w.Definition.AllowedOrigins = []string{"https://example.com"}
	require.NoError(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error {
		v, err := voice.Find(ctx, tx, id.NamedVoice("nora"))
		require.NoError(t, err)
		_, err = persona.Insert(ctx, tx, avatar.NewLibrary(), persona.Persona{
			ID: w.Persona, Name: "Mira", Kind: persona.Standard, Avatar: id.NamedAvatar("amara"), Voice: id.NamedVoice("nora"), Definition: persona.Defaults(v),
		}, persona.Author{By: "key_1", At: tenanttest.Now})
		require.NoError(t, err)
		_, err = widget.Insert(ctx, tx, w, who)
		return err
	}))
	_, err := widget.Get(ctx, tenants, two, w.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: widget.Noun})
	org, seen, err := widget.Visit(ctx, tenants, w.ID, w.PublicKey, "https://example.com")
	require.NoError(t, err)
	require.Equal(t, one, org)
	notedAt := func(now time.Time) time.Time {
		require.NoError(t, widget.Seen(ctx, tenants, org, seen, now))
		_, seen, err = widget.Visit(ctx, tenants, w.ID, w.PublicKey, "https://example.com")
		require.NoError(t, err)
		return seen.LastSeenAt.UTC()
	}
	require.Equal(t, tenanttest.Now, notedAt(tenanttest.Now))
	require.Equal(t, tenanttest.Now, notedAt(tenanttest.Now.Add(59*time.Minute)), "to the hour")
	require.Equal(t, tenanttest.Now.Add(61*time.Minute), notedAt(tenanttest.Now.Add(61*time.Minute)))

	db, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for _, s := range sent.Of(t, "FROM widget", func() error {
		found, err := widget.List(ctx, tenants, one, w.Persona, id.Widget{}, 10)
		require.Len(t, found, 1)
		return err
	}) {
		plan := s.Forced(t, db)
		require.Regexp(t, `widget_pkey|widget_by_persona`, plan)
		require.NotContains(t, plan, "Seq Scan", plan)
	}
	require.NoError(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error { return widget.Delete(ctx, tx, w.ID, who) }))
	_, err = widget.Get(ctx, tenants, one, w.ID)
	require.ErrorIs(t, err, errdefs.Gone{Noun: widget.Noun})
	swept, err := widget.Sweep(ctx, tenants, "a", tenanttest.Now.Add(91*24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, swept)
}
