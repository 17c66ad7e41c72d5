package agents_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/operations/move"
)

// listed are the slugs of the list, in its order.
func listed(t *testing.T, w *apitest.World, query url.Values) []string {
	t.Helper()
	items, cursor := w.Page(t, w.Operation(t, "listAgents"), "", query)
	require.Empty(t, cursor)
	slugs := []string{}
	for _, item := range items {
		slugs = append(slugs, apitest.At(item, "slug").(string))
	}
	return slugs
}

func TestTheListOfAgents(t *testing.T) {
	w := apitest.NewWorld(t)
	one, other := w.Agent(t, w.Acme), w.Agent(t, w.Globex)
	require.Empty(t, listed(t, w, nil), "before a worker came by")
	w.ListAgents(t)
	both := slices.Sorted(slices.Values([]string{one, other}))
	require.Equal(t, both, listed(t, w, nil))

	items, _ := w.Page(t, w.Operation(t, "listAgents"), "", nil)
	at := slices.Index(both, one)
	require.Equal(t, get(t, w, "getAgent", one).Data(t), items[at], "the list shows what the agent shows")

	for name, c := range map[string]struct {
		query url.Values
		want  []string
	}{
		"a name":             {url.Values{"q": {"harb"}}, both},
		"an organization":    {url.Values{"q": {"acm"}}, []string{one}},
		"words in any order": {url.Values{"q": {"ACME  harbour"}}, []string{one}},
		"a topic":            {url.Values{"q": {"globex hours"}}, []string{other}},
		"not all words":      {url.Values{"q": {"acme nothing"}}, []string{}},
		"no words":           {url.Values{"q": {"%%"}}, []string{}},
		"a language":         {url.Values{"language": {"German"}}, both},
		"another language":   {url.Values{"language": {"fr"}}, []string{}},
		"language and words": {url.Values{"language": {"de"}, "q": {"glob"}}, []string{other}},
		"no word of ours":    {url.Values{"q": {"language:de"}}, []string{}},
	} {
		require.Equal(t, c.want, listed(t, w, c.query), name)
	}
	answer := w.List(t, w.Operation(t, "listAgents"), "", url.Values{"language": {"Klingon"}})
	apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "query.language")
}

// What the list has follows the portals: what changes, what is switched off, what is gone.
func TestTheListFollows(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) {
		o.PlansText = bytes.Replace(o.PlansText, []byte("knowledge, portals, webhooks"), []byte("knowledge, webhooks"), 1) // of the starter's
	})
	slug := w.Agent(t, w.Acme)
	of := portalOf(t, w, w.Acme, slug)
	is := func(what string, want ...string) {
		t.Helper()
		w.ListAgents(t)
		require.Equal(t, append([]string{}, want...), listed(t, w, nil), what)
	}
	is("at first", slug)
	is("again", slug)
	change(t, w, "setVisitorsDoor", of, map[string]any{"open": true, "requires": []any{"age_check"}})
	is("a door that asks for an age")
	is("a door that asks for an age, seen before")
	change(t, w, "setVisitorsDoor", of, map[string]any{"open": true})
	is("an open door", slug)
	change(t, w, "updatePortal", of, map[string]any{"slug": "pier-eleven", "name": "Lighthouse"})
	change(t, w, "publishPortal", of, map[string]any{})
	slug = "pier-eleven"
	is("another slug", slug)
	require.Equal(t, []string{slug}, listed(t, w, url.Values{"q": {"lighthouse"}}))
	require.Empty(t, listed(t, w, url.Values{"q": {"harbour"}}), "what it was called")

	w.LetAgentsAsk(t, w.Acme, false)
	is("switched off")
	w.LetAgentsAsk(t, w.Acme, true)
	is("switched on", slug)

	require.NoError(t, w.Directory.Pause(context.Background(), w.Acme.ID, "tests"))
	require.Empty(t, listed(t, w, nil), "paused: at once")
	require.NoError(t, w.Directory.Resume(context.Background(), w.Acme.ID))
	require.Equal(t, []string{slug}, listed(t, w, nil))
	require.NoError(t, w.Directory.SetPlan(context.Background(), w.Acme.ID, "starter"))
	require.Empty(t, listed(t, w, nil), "a plan without portals: at once")
	require.NoError(t, w.Directory.SetPlan(context.Background(), w.Acme.ID, "business"))

	require.NoError(t, move.Begin(t.Context(), w.Directory, w.Tenants, w.Acme.ID, "shard-2", "test"))
	_, err := move.New(move.Options{Directory: w.Directory, Tenants: w.Tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Keep: time.Hour}).Advance(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{slug}, listed(t, w, nil), "moved")
	is("moved, and what it left is still there", slug)
	w.LetAgentsAsk(t, w.Acme, false)
	is("switched off where it lives now")
	w.LetAgentsAsk(t, w.Acme, true)
	is("switched on where it lives now", slug)

	require.NoError(t, w.Directory.Condemn(context.Background(), w.Acme.ID, managed.API))
	require.Empty(t, listed(t, w, nil), "removed: at once")
	is("removed")
	require.NoError(t, w.Directory.Remove(context.Background(), w.Acme.ID))
	is("gone")
	var left int
	require.NoError(t, w.Directory.DB.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM agent WHERE org_id = $1) + (SELECT count(*) FROM agent_term WHERE org_id = $1)`, w.Acme.ID).Scan(&left))
	require.Zero(t, left)
}
