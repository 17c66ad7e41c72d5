package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
)

// Every operation that lists, of organizations that have several of everything.
func TestLists(t *testing.T) {
	w := apitest.NewWorld(t)
	for range 3 {
		for _, org := range []*apitest.Org{w.Acme, w.Globex} {
			stock(t, w, org)
		}
	}
	t.Run("paging", func(t *testing.T) { testPaging(t, w) })
	t.Run("foreign cursors", func(t *testing.T) { testForeignCursors(t, w) })
	t.Run("filters", func(t *testing.T) { testFilters(t, w) })
	t.Run("limits", func(t *testing.T) { testLimitsOfPages(t, w) })
}

// eachList runs a subtest for every operation that lists in pages.
func eachList(t *testing.T, w *apitest.World, f func(t *testing.T, o *route.Operation)) {
	t.Helper()
	tested := 0
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if w.Documents[contract.Latest].IsPaged(o) {
			tested++
			f(t, o)
		}
	})
	require.Positive(t, tested)
}

func testPaging(t *testing.T, w *apitest.World) {
	eachList(t, w, func(t *testing.T, o *route.Operation) {
		whole := pages(t, w, o, 200)
		require.GreaterOrEqual(t, len(whole), 3)
		for _, limit := range []int{1, 7} {
			require.Equal(t, apitest.IDs(whole), apitest.IDs(pages(t, w, o, limit)))
		}
		seen := map[string]bool{}
		for _, id := range apitest.IDs(whole) {
			require.False(t, seen[id], "%s is listed twice", id)
			seen[id] = true
		}
	})
}

// pages are a list's items, page by page.
func pages(t *testing.T, w *apitest.World, o *route.Operation, limit int) (all []any) {
	t.Helper()
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for {
		items, cursor := w.Page(t, o, w.Acme.New, query)
		require.LessOrEqual(t, len(items), limit)
		all = append(all, items...)
		require.LessOrEqual(t, len(all), 10_000, "a page repeats")
		if cursor == "" {
			return all
		}
		require.Regexp(t, `^[A-Za-z0-9_-]{1,200}$`, cursor)
		query.Set("cursor", cursor)
	}
}

func testForeignCursors(t *testing.T, w *apitest.World) {
	cursors := map[string]string{}
	eachList(t, w, func(t *testing.T, o *route.Operation) {
		_, cursor := w.Page(t, o, w.Acme.New, url.Values{"limit": {"1"}})
		require.NotEmpty(t, cursor)
		_, foreign := w.Page(t, o, w.Globex.New, url.Values{"limit": {"1"}})
		require.NotEmpty(t, foreign)
		bad := map[string]url.Values{"another organization's": {"cursor": {foreign}}, "not base64": {"cursor": {"a=b"}}, "nonsense": {"cursor": {"AAAA"}}}
		if o.Auth == route.Open { // the list is everybody's
			delete(bad, "another organization's")
		}
		for other, c := range cursors {
			bad[other] = url.Values{"cursor": {c}}
		}
		for at := range cursor {
			if at%7 == 0 || at == len(cursor)-1 {
				bad["altered at "+cursor[:at]] = url.Values{"cursor": {altered(cursor, at)}}
			}
		}
		for _, p := range w.Documents[contract.Latest].Query(o) {
			if p.Name != "limit" && p.Name != "cursor" {
				bad["with "+p.Name] = url.Values{"cursor": {cursor}, p.Name: {filterValue(t, p)}}
			}
		}
		for what, query := range bad {
			answer := w.List(t, o, w.Acme.New, query)
			require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", what, answer.Raw)
			apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "query.cursor")
		}
		again, _ := w.Page(t, o, w.OldNamed, url.Values{"limit": {"2"}, "cursor": {cursor}})
		require.NotEmpty(t, again, "another key of the organization, and another limit, go on with the list")
		cursors[o.ID] = cursor
	})
}

// altered is a cursor with one character changed to another of its alphabet.
func altered(cursor string, at int) string {
	other := byte('A')
	if cursor[at] == other {
		other = 'B'
	}
	return cursor[:at] + string(other) + cursor[at+1:]
}

// filterValue is a good value of a filter.
func filterValue(t *testing.T, p apitest.QueryParameter) string {
	t.Helper()
	if values, ok := p.Schema["enum"].([]any); ok {
		return values[0].(string)
	}
	if p.Schema["format"] == "date-time" || p.Name == "from" || p.Name == "to" {
		return "2026-01-01T00:00:00Z"
	}
	if p.Schema["type"] == "boolean" {
		return "true"
	}
	require.Equal(t, "string", p.Schema["type"], "teach filterValue this parameter")
	return "av_0683mPq2v9XKf1sTn7ZQ4b"
}

func testLimitsOfPages(t *testing.T, w *apitest.World) {
	eachList(t, w, func(t *testing.T, o *route.Operation) {
		for _, limit := range []string{"0", "-1", "201", "x", "1.5", "99999999999999999999", "0x10", " 1"} {
			answer := w.List(t, o, w.Acme.New, url.Values{"limit": {limit}})
			apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "query.limit")
		}
	})
}

// A filter by an id of another kind is a bad request and one that finds nothing an empty list, in every list alike (spec,
// Webhooks, Rule 6; Events): lists are never 404. Dates do for moments.
func testFilters(t *testing.T, w *apitest.World) {
	ids, moments := 0, 0
	eachList(t, w, func(t *testing.T, o *route.Operation) {
		for _, p := range w.Documents[contract.Latest].Query(o) {
			if p.Name == "from" || p.Name == "to" {
				moments++
				require.Equal(t, http.StatusOK, w.List(t, o, w.Acme.New, url.Values{p.Name: {"2026-10-01"}}).Status, p.Name)
				for _, wrong := range []string{"2026-13-01", "2026-10-01T", "1790000000", "0000-01-01"} {
					e := apitest.RequireError(t, w.List(t, o, w.Acme.New, url.Values{p.Name: {wrong}}), http.StatusBadRequest, "invalid_request", "query."+p.Name)
					require.Contains(t, e["message"], "ISO 8601")
				}
			}
			if !strings.HasSuffix(p.Name, "Id") || slices.Contains([]string{"externalId", "targetId", "scopeId"}, p.Name) {
				continue
			}
			ids++
			for _, wrong := range []string{id.NewRequest().String(), "x"} {
				apitest.RequireError(t, w.List(t, o, w.Acme.New, url.Values{p.Name: {wrong}}), http.StatusBadRequest, "invalid_request", "query."+p.Name)
			}
			none := w.List(t, o, w.Acme.New, url.Values{p.Name: {id.NewRequest().Bare()}})
			require.Equal(t, http.StatusOK, none.Status, "%s: %s", p.Name, none.Raw)
			require.Empty(t, none.JSON(t)["data"], p.Name)
		}
	})
	require.Greater(t, ids, 30)
	require.Greater(t, moments, 6)
}

// from and to of a list are conditions on its items, and where nothing meets both the list is empty. What is told of a
// period needs one.
func TestPeriodsThatAreNone(t *testing.T) {
	w := apitest.NewWorld(t)
	lists, periods := 0, 0
	w.Each(t, func(t *testing.T, o *route.Operation) {
		d := w.Documents[contract.Latest]
		if !slices.ContainsFunc(d.Query(o), func(p apitest.QueryParameter) bool { return p.Name == "from" }) {
			return
		}
		path := w.Path(t, o, w.Acme)
		for _, to := range []string{"2026-10-01", "2026-09-30"} {
			answer := w.Call(t, o, apitest.Request{Path: path + "?from=2026-10-01&to=" + to, Key: w.Acme.New})
			if d.IsList(o) {
				lists++
				require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
				require.Empty(t, answer.JSON(t)["data"])
				continue
			}
			periods++
			e := apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "query.to")
			require.Contains(t, e["message"], "later than from")
		}
	})
	require.Greater(t, lists, 8)
	require.Greater(t, periods, 6)
}
