package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/store/apikey"
)

// Every operation that lists, of organizations that have several of everything.
func TestLists(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		for _, org := range []*apitest.Org{w.Acme, w.Globex} {
			w.stock(t, org)
		}
	}
	t.Run("paging", func(t *testing.T) { testPaging(t, w) })
	t.Run("foreign cursors", func(t *testing.T) { testForeignCursors(t, w) })
	t.Run("limits", func(t *testing.T) { testLimitsOfPages(t, w) })
}

// eachList runs a subtest for every operation that lists in pages.
func (w *world) eachList(t *testing.T, f func(t *testing.T, o *route.Operation)) {
	t.Helper()
	tested := 0
	w.each(t, func(t *testing.T, o *route.Operation) {
		if w.documents[contract.Latest].isPaged(o) {
			tested++
			f(t, o)
		}
	})
	require.Positive(t, tested)
}

func (w *world) list(t *testing.T, o *route.Operation, key apikey.Secret, query url.Values) apitest.Answer {
	t.Helper()
	org := w.Acme
	if key == w.Globex.New {
		org = w.Globex
	}
	return w.call(t, o, apitest.Request{Path: w.path(t, o, org) + "?" + query.Encode(), Key: key})
}

// page is a good page's items and its cursor, empty on the last.
func (w *world) page(t *testing.T, o *route.Operation, key apikey.Secret, query url.Values) (items []any, cursor string) {
	t.Helper()
	answer := w.list(t, o, key, query)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	body, within := answer.JSON(t), "data"
	if one, ok := body["data"].(map[string]any); ok { // a transcript pages through its turns
		body, within = one, "turns"
	}
	cursor, _ = body["nextCursor"].(string)
	return body[within].([]any), cursor
}

func testPaging(t *testing.T, w *world) {
	w.eachList(t, func(t *testing.T, o *route.Operation) {
		whole := w.pages(t, o, 200)
		require.GreaterOrEqual(t, len(whole), 3)
		for _, limit := range []int{1, 7} {
			require.Equal(t, ids(whole), ids(w.pages(t, o, limit)))
		}
		seen := map[string]bool{}
		for _, id := range ids(whole) {
			require.False(t, seen[id], "%s is listed twice", id)
			seen[id] = true
		}
	})
}

// pages are a list's items, page by page.
func (w *world) pages(t *testing.T, o *route.Operation, limit int) (all []any) {
	t.Helper()
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for {
		items, cursor := w.page(t, o, w.Acme.New, query)
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

func ids(items []any) []string {
	found := make([]string, len(items))
	for i, item := range items {
		fields := item.(map[string]any)
		id, ok := fields["id"].(string)
		if !ok { // a version has a number, and a setting its key
			id = fmt.Sprint(fields["version"], fields["key"])
		}
		found[i] = id
	}
	return found
}

func testForeignCursors(t *testing.T, w *world) {
	cursors := map[string]string{}
	w.eachList(t, func(t *testing.T, o *route.Operation) {
		_, cursor := w.page(t, o, w.Acme.New, url.Values{"limit": {"1"}})
		require.NotEmpty(t, cursor)
		_, foreign := w.page(t, o, w.Globex.New, url.Values{"limit": {"1"}})
		require.NotEmpty(t, foreign)
		bad := map[string]url.Values{"another organization's": {"cursor": {foreign}}, "not base64": {"cursor": {"a=b"}}, "nonsense": {"cursor": {"AAAA"}}}
		for other, c := range cursors {
			bad[other] = url.Values{"cursor": {c}}
		}
		for at := range cursor {
			if at%7 == 0 || at == len(cursor)-1 {
				bad["altered at "+cursor[:at]] = url.Values{"cursor": {altered(cursor, at)}}
			}
		}
		for _, p := range w.documents[contract.Latest].query(o) {
			if p.name != "limit" && p.name != "cursor" {
				bad["with "+p.name] = url.Values{"cursor": {cursor}, p.name: {filterValue(t, p)}}
			}
		}
		for what, query := range bad {
			answer := w.list(t, o, w.Acme.New, query)
			require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", what, answer.Raw)
			requireError(t, answer, http.StatusBadRequest, "invalid_request", "query.cursor")
		}
		again, _ := w.page(t, o, w.OldNamed, url.Values{"limit": {"2"}, "cursor": {cursor}})
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
func filterValue(t *testing.T, p queryParameter) string {
	t.Helper()
	if values, ok := p.schema["enum"].([]any); ok {
		return values[0].(string)
	}
	if p.schema["format"] == "date-time" {
		return "2026-01-01T00:00:00Z"
	}
	require.Equal(t, "string", p.schema["type"], "teach filterValue this parameter")
	return "av_0683mPq2v9XKf1sTn7ZQ4b"
}

func testLimitsOfPages(t *testing.T, w *world) {
	w.eachList(t, func(t *testing.T, o *route.Operation) {
		for _, limit := range []string{"0", "-1", "201", "x", "1.5", "99999999999999999999", "0x10", " 1"} {
			answer := w.list(t, o, w.Acme.New, url.Values{"limit": {limit}})
			requireError(t, answer, http.StatusBadRequest, "invalid_request", "query.limit")
		}
	})
}
