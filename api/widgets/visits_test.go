package widgets_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func TestVisit(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	origin := "http://localhost:5173"
	answer := w.Visitor(t, own, nil, map[string]string{"Origin": origin})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	require.Equal(t, origin, answer.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, answer.Header.Values("Vary"), "Origin")
	ticket := answer.Data(t)
	shown := ticket["session"].(map[string]any)
	require.Equal(t, []any{"widget", own, "conversation", "chat", "de", 300.0, false}, []any{
		shown["source"], shown["widgetId"], shown["kind"], shown["channel"], shown["language"], shown["maxDurationS"], shown["sandbox"],
	})
	require.Empty(t, shown["collected"], "a page is shown nothing back")
	require.Equal(t, map[string]any{"maxDurationS": 300.0, "idleTimeoutS": 300.0, "activeSessions": nil, "maxConcurrentSessions": nil}, ticket["limits"])

	which, err := id.ParseSession(shown["id"].(string))
	require.NoError(t, err)
	org, admission, err := session.Admit(context.Background(), w.Tenants, which, session.Token(ticket["token"].(string)))
	require.NoError(t, err)
	require.Equal(t, w.Acme.ID, org)
	require.True(t, admission.Staff.IsZero())
	kept, err := session.Get(context.Background(), w.Tenants, w.Acme.ID, which)
	require.NoError(t, err)
	require.Equal(t, []string{origin}, kept.AllowedOrigins)

	contact := map[string]any{"name": "Kim 1", "email": "kim@example.com"}
	require.Equal(t, contact, w.CallAs(t, "getSession", which.String(), w.Acme.New, nil).Data(t)["collected"])
	without := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.SessionsRead}})
	require.Empty(t, w.CallAs(t, "getSession", which.String(), without, nil).Data(t)["collected"])

	list := func(query string) int { return len(w.Get(w.Acme.New, "/sessions?"+query).JSON(t)["data"].([]any)) }
	require.Equal(t, 1, list("widgetId="+own))
	require.Equal(t, 1, list("source=widget"))
	require.Zero(t, list("widgetId="+id.NewWidget().String()))
	apitest.RequireError(t, w.Get(w.Acme.New, "/sessions?widgetId="+which.String()), http.StatusBadRequest, "invalid_request", "query.widgetId")

	require.Equal(t, inbox.Source{
		URL: new(apitest.WidgetOrigin + "/pricing"), Referrer: new("https://search.example/"), Campaign: &inbox.Campaign{Name: new("spring")},
	}, cameOf(t, w, own, apitest.WidgetOrigin, apitest.WidgetOrigin+"/pricing?utm_campaign=spring&email=kim@example.com#here"))
	require.Equal(t, inbox.Source{}, cameOf(t, w, own, apitest.WidgetOrigin, "https://another.example/pricing"), "it is not where it is asked from")
}

// cameOf is where a visitor came from who says that they are on a page.
func cameOf(t *testing.T, w *apitest.World, widget, origin, page string) inbox.Source {
	t.Helper()
	change := map[string]any{"page": map[string]any{"url": page, "referrer": "https://search.example/?q=kim"}}
	answer := w.Visitor(t, widget, change, map[string]string{"Origin": origin})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	which, err := id.ParseSession(apitest.At(answer.Data(t), "session", "id").(string))
	require.NoError(t, err)
	kept, err := session.Get(context.Background(), w.Tenants, w.Acme.ID, which)
	require.NoError(t, err)
	return kept.Brief.Came
}

// A visitor's session is told of as one when it ends, and its words to nobody.
func TestVisitsAreTold(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	which, err := id.ParseSession(apitest.At(w.Visitor(t, own, nil, nil).Data(t), "session", "id").(string))
	require.NoError(t, err)
	w.Attach(t, w.Acme, which)
	require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: session.EndedByAPI, At: time.Now().UTC()})
		return err
	}))
	var types []string
	for _, e := range w.Get(w.Acme.New, "/events?order=asc&limit=200").JSON(t)["data"].([]any) {
		if apitest.At(e, "data") != nil && apitest.At(e, "data", "sessionId") == which.String() {
			types = append(types, apitest.At(e, "type").(string))
		}
	}
	require.Equal(t, []string{"session.started", "session.ended", "visitor.session.ended", "session.transcript_ready"}, types)
	told := w.Get(w.Acme.New, "/events?type=visitor.session.ended").JSON(t)["data"].([]any)
	require.Len(t, told, 1)
	data := apitest.At(told[0], "data").(map[string]any)
	require.Equal(t, []any{own, "chat", "de", 3.0, false, false, nil}, []any{
		data["widgetId"], data["channel"], data["language"], data["turnCount"], data["handedOff"], data["rated"], data["door"],
	})
}

// Whatever is wrong with key, origin or widget, nothing tells one from another.
func TestVisitsOfNobody(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	other := w.Widget(t, w.Globex)
	wrong := map[string]apitest.Answer{
		"no key":               w.Visitor(t, own, map[string]any{"key": ""}, nil),
		"nonsense":             w.Visitor(t, own, map[string]any{"key": "wpk_x"}, nil),
		"no such organization": w.Visitor(t, own, map[string]any{"key": "wpk_" + id.NewOrg().Bare() + "x"}, nil),
		"another widget's":     w.Visitor(t, own, map[string]any{"key": other["publicKey"]}, nil),
		"no origin":            w.Visitor(t, own, nil, map[string]string{"Origin": ""}),
		"another origin":       w.Visitor(t, own, nil, map[string]string{"Origin": "https://example.com"}),
		"no such widget":       w.Visitor(t, id.NewWidget().String(), map[string]any{"key": w.PublicKeys[strings.TrimPrefix(own, "wid_")]}, map[string]string{"Origin": apitest.WidgetOrigin}),
		"no widget":            w.Visitor(t, "x", nil, map[string]string{"Origin": apitest.WidgetOrigin}),
	}
	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": false})
	wrong["disabled"] = w.Visitor(t, own, nil, nil)
	w.CallAs(t, "deleteWidget", own, w.Acme.New, nil)
	wrong["deleted"] = w.Visitor(t, own, nil, nil)
	for name, answer := range wrong {
		apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "path.id")
		require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), name)
		require.Equal(t, wrong["nonsense"].Error(t), answer.Error(t), name)
	}
	require.Empty(t, w.Get(w.Acme.New, "/sessions").JSON(t)["data"])
}

func TestVisitsTheWidgetDoesNotOffer(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	for name, c := range map[string]struct {
		changes map[string]any
		param   string
	}{
		"another channel":      {map[string]any{"channel": "video"}, "body.channel"},
		"another language":     {map[string]any{"language": "fr"}, "body.language"},
		"no language":          {map[string]any{"language": "Klingon"}, "body.language"},
		"nothing left":         {map[string]any{"contact": nil}, "body.contact.email"},
		"required left out":    {map[string]any{"contact": map[string]any{"name": "Kim", "email": " "}}, "body.contact.email"},
		"no address":           {map[string]any{"contact": map[string]any{"email": "Kim <kim@example.com>"}}, "body.contact.email"},
		"unasked":              {map[string]any{"contact": map[string]any{"email": "kim@example.com", "phone": "1"}}, "body.contact.phone"},
		"too long a value":     {map[string]any{"metadata": map[string]any{"a": strings.Repeat("x", 501)}}, "body.metadata"},
		"what only a key says": {map[string]any{"greeting": "Hi"}, "body.greeting"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, w.Visitor(t, own, c.changes, nil), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	answer := w.Visitor(t, own, map[string]any{"contact": nil}, nil)
	require.Equal(t, apitest.WidgetOrigin, answer.Header.Get("Access-Control-Allow-Origin"), "the page can read why")

	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"leadForm": map[string]any{"fields": []any{}, "required": []any{}}, "languages": []any{}})
	plain := w.Visitor(t, own, map[string]any{"contact": nil, "language": nil, "channel": nil}, nil).Data(t)
	require.Equal(t, []any{"en", "chat"}, []any{apitest.At(plain, "session", "language"), apitest.At(plain, "session", "channel")})
}

func TestVisitsOutsideTheHours(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	tomorrow := strings.ToLower(time.Now().UTC().AddDate(0, 0, 2).Weekday().String())
	hours := map[string]any{"timezone": "UTC", "open": []any{map[string]any{"day": tomorrow, "from": "09:00", "to": "17:00"}}}
	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"hours": hours})
	e := apitest.RequireError(t, w.Visitor(t, own, nil, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, map[string]any{"reason": "closed", "hours": hours}, e["details"])
}

// The sessions of one address in a day are bounded at each widget.
func TestVisitsOfOneVisitor(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	own, second := w.Widget(t, w.Acme)["id"].(string), w.Widget(t, w.Acme)["id"].(string)
	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"caps": map[string]any{"sessionsPerVisitorPerDay": 2}})
	from := func(widget, address string) int {
		answer := w.Visitor(t, widget, nil, map[string]string{"X-Forwarded-For": address})
		if answer.Status != http.StatusCreated {
			e := apitest.RequireError(t, answer, http.StatusConflict, "conflict", "")
			require.Equal(t, "visitor_sessions", apitest.At(e, "details", "reason"))
		}
		return answer.Status
	}
	for _, c := range []struct {
		widget, address string
		status          int
	}{
		{own, "203.0.113.7", 201},
		{own, "203.0.113.7", 201},
		{own, "203.0.113.7", 409},
		{own, "203.0.113.8", 201},
		{second, "203.0.113.7", 201},
		{own, "2001:db8::1", 201},
		{own, "2001:db8::2", 201},
		{own, "2001:db8::3", 409}, // of one household
		{own, "2001:db8:0:1::1", 201},
	} {
		require.Equal(t, c.status, from(c.widget, c.address), "%v", c)
	}
	require.Len(t, w.Get(w.Acme.New, "/sessions").JSON(t)["data"], 7, "a refusal leaves no session")
	var kept []byte
	require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT string_agg(visitor, '') FROM widget_visitor WHERE org_id = $1`, tx.Org).Scan(&kept)
	}))
	require.NotContains(t, string(kept), "203.0.113")
	require.Zero(t, len(kept)%32, "nothing but hashes")
}

// A visitor's session takes what any session does.
func TestVisitsAreRefusedAsSessionsAre(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	one := int64(1)
	require.NoError(t, w.Directory.SetOverrides(context.Background(), w.Acme.ID, plan.Overrides{Limits: plan.Limits{plan.MaxConcurrentSessions: &one}}))
	require.Equal(t, http.StatusCreated, w.Visitor(t, own, nil, nil).Status)
	full := refused(t, w, own, http.StatusTooManyRequests)
	apitest.RequireError(t, full, http.StatusTooManyRequests, "concurrency_limit", "")
	require.Equal(t, apitest.WidgetOrigin, full.Header.Get("Access-Control-Allow-Origin"))

	w.Unlimit(t, w.Acme)
	require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE minute_grant SET remaining_s = 0 WHERE org_id = $1`, tx.Org)
		return err
	}))
	apitest.RequireError(t, refused(t, w, own, http.StatusPaymentRequired), http.StatusPaymentRequired, "insufficient_minutes", "")

	require.NoError(t, w.Directory.Pause(context.Background(), w.Acme.ID, "tests"))
	apitest.RequireError(t, refused(t, w, own, http.StatusForbidden), http.StatusForbidden, "account_paused", "")
}

// refused asks until visitors are refused so: what an organization may is
// remembered for a moment.
func refused(t *testing.T, w *apitest.World, own string, status int) (answer apitest.Answer) {
	t.Helper()
	require.Eventually(t, func() bool {
		answer = w.Visitor(t, own, nil, nil)
		return answer.Status == status
	}, 20*time.Second, 50*time.Millisecond)
	return answer
}

// Visitors have budgets of their own: they use up nothing of what keys may ask for, and
// those of one network or one widget nothing of others'.
func TestVisitsCountByThemselves(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) {
		o.Rates = rate.Rates{rate.Live: {PerKey: 100, PerOrganization: 4}}
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	own, second := w.Widget(t, w.Acme)["id"].(string), w.Widget(t, w.Acme)["id"].(string)
	var refusals []apitest.Answer
	answers := apitest.Within(t, func() []apitest.Answer {
		refusals = nil
		var answers []apitest.Answer
		for _, c := range []struct{ widget, address string }{
			{own, "203.0.113.1"}, {own, "203.0.113.2"}, {own, "203.0.113.255"}, // one /24 has half
			{second, "203.0.113.1"},
			{own, "2001:db8::1"}, {own, "2001:db8:0:ff::1"}, {own, "2001:db8:0:80::1"}, // one /56
			{own, "198.51.100.1"}, // and all have all of it
			{second, "198.51.100.1"},
		} {
			answers = append(answers, w.Visitor(t, c.widget, nil, map[string]string{"X-Forwarded-For": c.address}))
		}
		for range 4 {
			answers = append(answers, w.CallAs(t, "createSessionToken", "", w.Acme.New, w.SessionBody(t, w.Acme)))
		}
		return answers
	})
	statuses := make([]int, len(answers))
	for i, a := range answers {
		if statuses[i] = a.Status; a.Status != http.StatusCreated {
			refusals = append(refusals, a)
		}
	}
	require.Equal(t, []int{201, 201, 429, 201, 201, 201, 429, 429, 201, 201, 201, 201, 201}, statuses)
	for i, limit := range []string{"2", "2", "4"} {
		apitest.RequireError(t, refusals[i], http.StatusTooManyRequests, "rate_limited", "")
		require.Equal(t, limit, refusals[i].Header.Get("RateLimit-Limit"))
		require.Equal(t, apitest.WidgetOrigin, refusals[i].Header.Get("Access-Control-Allow-Origin"))
		require.NotEmpty(t, refusals[i].Header.Get("Retry-After"))
	}
}

// Whoever posts as often as they can and connects with none of it holds part of the
// visitors' places for seconds, and none of those that keys ask for.
func TestAnAnonymousVisitorBlocksNobody(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) {
		o.Rates = rate.Rates{rate.Live: {PerKey: 30, PerOrganization: 60}}
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	own := w.Widget(t, w.Acme)["id"].(string)
	w.Limit(t, plan.Limits{plan.MaxConcurrentSessions: new(int64(50))})
	count := func(n int, address func(int) string) (made int) {
		for i := range n {
			if w.Visitor(t, own, nil, map[string]string{"X-Forwarded-For": address(i)}).Status == http.StatusCreated {
				made++
			}
		}
		return made
	}
	key := func() int {
		return w.CallAs(t, "createSessionToken", "", w.Acme.New, w.SessionBody(t, w.Acme)).Status
	}
	apitest.Within(t, func() []apitest.Answer {
		endAll(t, w)
		require.LessOrEqual(t, count(50, func(int) string { return "203.0.113.7" }), 20, "one address")
		require.Equal(t, http.StatusCreated, key())
		require.LessOrEqual(t, count(60, func(i int) string { return fmt.Sprintf("203.0.113.%d", i) }), 0, "many of its block")
		require.Equal(t, http.StatusCreated, w.Visitor(t, own, nil, map[string]string{"X-Forwarded-For": "192.0.2.1"}).Status, "somebody else")
		require.LessOrEqual(t, count(60, func(i int) string { return fmt.Sprintf("198.51.%d.1", i) }), 20, "many blocks")
		for range 9 {
			require.Equal(t, http.StatusCreated, key(), "the organization's own places are its own")
		}
		return nil
	})
	_, err := session.Sweep(t.Context(), w.Tenants, shardOf(t, w, w.Acme), time.Now().Add(session.VisitorConnectWithin))
	require.NoError(t, err)
	require.Equal(t, 10.0, apitest.At(w.Get(w.Acme.New, "/me").Data(t), "limits", "activeSessions"), "what nobody connected to is free again")
}

// shardOf is the shard that an organization lives on.
func shardOf(t *testing.T, w *apitest.World, org *apitest.Org) string {
	t.Helper()
	shard, err := w.Tenants.ShardOf(t.Context(), org.ID)
	require.NoError(t, err)
	return shard
}

// endAll ends all of Acme's sessions.
func endAll(t *testing.T, w *apitest.World) {
	t.Helper()
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE session SET state = 'expired', slot = false WHERE org_id = $1`, tx.Org)
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE org_counter SET value = 0 WHERE org_id = $1 AND name = $2`, tx.Org, session.Counter)
		}
		return err
	}))
}

// A browser asks beforehand, and is told yes for what pages call alone.
func TestPreflights(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	ask := func(path, method, origin string) apitest.Answer {
		return w.Do(apitest.Request{Method: http.MethodOptions, Path: path, Header: map[string]string{
			"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "content-type",
		}})
	}
	for _, path := range []string{"/widgets/" + own + "/sessions", "/widgets/x/sessions"} {
		yes := ask(path, "POST", "https://anywhere.example")
		apitest.CheckHeaders(t, yes)
		require.Equal(t, http.StatusNoContent, yes.Status)
		require.Empty(t, yes.Raw)
		require.Equal(t, "https://anywhere.example", yes.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "POST", yes.Header.Get("Access-Control-Allow-Methods"))
		require.Equal(t, "Content-Type, X-Session-Token", yes.Header.Get("Access-Control-Allow-Headers"))
		require.Contains(t, yes.Header.Values("Vary"), "Origin")
	}
	for name, no := range map[string]apitest.Answer{
		"another method":  ask("/widgets/"+own+"/sessions", "DELETE", apitest.WidgetOrigin),
		"no method":       ask("/widgets/"+own+"/sessions", "", apitest.WidgetOrigin),
		"no origin":       ask("/widgets/"+own+"/sessions", "POST", ""),
		"with a key":      ask("/sessions/tokens", "POST", apitest.WidgetOrigin),
		"another's path":  ask("/widgets/"+own, "PATCH", apitest.WidgetOrigin),
		"the root's page": ask("/me", "GET", apitest.WidgetOrigin),
	} {
		apitest.RequireError(t, no, http.StatusMethodNotAllowed, "method_not_allowed", "")
		require.Empty(t, no.Header.Get("Access-Control-Allow-Origin"), name)
	}
	pages := slices.DeleteFunc(slices.Clone(w.Service.Operations()), func(o *route.Operation) bool { return !o.FromPages })
	require.Len(t, pages, 6)
}

// Of what is refused before anybody knows the widget, pages learn their own
// faults; of what they may not see, nothing.
func TestPagesReadWhyTheyAreRefused(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.PerAddress = 40 })
	own := w.Widget(t, w.Acme)["id"].(string)
	anywhere := map[string]string{"Origin": "https://anywhere.example"}
	wrong := w.Visitor(t, own, map[string]any{"greeting": "Hi"}, anywhere)
	apitest.RequireError(t, wrong, http.StatusBadRequest, "invalid_request", "body.greeting")
	require.Equal(t, "https://anywhere.example", wrong.Header.Get("Access-Control-Allow-Origin"))
	hidden := w.Visitor(t, own, nil, anywhere)
	apitest.RequireError(t, hidden, http.StatusNotFound, "not_found", "path.id")
	require.Empty(t, hidden.Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, hidden.Header.Get("Access-Control-Expose-Headers"))

	answers := apitest.Within(t, func() []apitest.Answer {
		var limited apitest.Answer
		for range 45 {
			if limited = w.Visitor(t, own, map[string]any{"greeting": "Hi"}, nil); limited.Status == http.StatusTooManyRequests {
				break
			}
		}
		return []apitest.Answer{
			limited,
			w.Do(apitest.Request{Method: http.MethodGet, Path: "/widgets/" + own + "/config?key=x", Header: anywhere}),
			w.Do(apitest.Request{Method: http.MethodGet, Path: "/me", Header: anywhere}),
		}
	})
	limited, config, keyed := answers[0], answers[1], answers[2]
	apitest.RequireError(t, limited, http.StatusTooManyRequests, "rate_limited", "")
	require.Equal(t, apitest.WidgetOrigin, limited.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, http.StatusTooManyRequests, config.Status)
	require.NotEmpty(t, config.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, http.StatusTooManyRequests, keyed.Status)
	require.Empty(t, keyed.Header.Get("Access-Control-Allow-Origin"))
}

// A page rates the sessions that are for it.
func TestPagesRate(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	ticket := w.Visitor(t, own, nil, nil).Data(t)
	which, err := id.ParseSession(apitest.At(ticket, "session", "id").(string))
	require.NoError(t, err)
	w.Attach(t, w.Acme, which)
	rate := func(origin, token string) apitest.Answer {
		return w.Call(t, w.Operation(t, "rateSession"), apitest.Request{
			Path: "/sessions/" + which.String() + "/rating", Body: map[string]any{"score": 4, "scale": 5},
			Header: map[string]string{"Origin": origin, "X-Session-Token": token},
		})
	}
	token := ticket["token"].(string)
	good := rate(apitest.WidgetOrigin, token)
	require.Equal(t, http.StatusOK, good.Status, "%s", good.Raw)
	require.Equal(t, apitest.WidgetOrigin, good.Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, rate("https://anywhere.example", token).Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, rate(apitest.WidgetOrigin, "nonsense").Header.Get("Access-Control-Allow-Origin"))
}
