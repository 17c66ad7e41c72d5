package apitest

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/route"
	"visavis.dev/pkg/store/apikey"
)

func (w *World) List(t *testing.T, o *route.Operation, key apikey.Secret, query url.Values) Answer {
	t.Helper()
	org := w.Acme
	if key == w.Globex.New {
		org = w.Globex
	}
	return w.Call(t, o, Request{Path: w.Path(t, o, org) + "?" + query.Encode(), Key: key})
}

// Page is a good page's items and its cursor, empty on the last.
func (w *World) Page(t *testing.T, o *route.Operation, key apikey.Secret, query url.Values) (items []any, cursor string) {
	t.Helper()
	answer := w.List(t, o, key, query)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	body, within := answer.JSON(t), "data"
	if one, ok := body["data"].(map[string]any); ok { // a transcript pages through its turns
		body, within = one, "turns"
	}
	cursor, _ = body["nextCursor"].(string)
	return body[within].([]any), cursor
}

func IDs(items []any) []string {
	found := make([]string, len(items))
	for i, item := range items {
		fields := item.(map[string]any)
		id, ok := fields["id"].(string)
		if !ok { // a version has a number, a setting its key, a part of an assignment both, what is mastered its subject, an agent its slug, a call its moment
			id = fmt.Sprint(fields["version"], fields["key"], fields["assignmentId"], fields["personId"], fields["subjectId"], fields["slug"], fields["at"])
		}
		found[i] = id
	}
	return found
}
