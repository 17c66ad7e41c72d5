package people_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/people"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/person"
)

// A file is looked through at once, and its people are added by a job whose
// refused lines are a file again.
func TestImportPeople(t *testing.T) {
	w := apitest.NewWorld(t)
	portal := w.Campus(t, w.Acme)
	file := fmt.Sprintf("\xEF\xBB\xBFname;email;portalId;role\r\n\"Ünal; Ada\";ada@example.com;%s;learner\r\n=1+1;ada@;%[1]s;learner\r\n", portal)
	o := w.Operation(t, "importPeople")
	send := func(contents string, fields ...apitest.Part) apitest.Answer {
		t.Helper()
		return w.Call(t, o, apitest.Form(t, o.Path, w.Acme.New, append(fields, apitest.Part{Field: "file", Name: "people.csv", ContentType: "text/csv", Text: contents})...))
	}
	trial := send(file, apitest.Part{Field: "dryRun", Text: "true"})
	require.Equal(t, http.StatusAccepted, trial.Status, "%s", trial.Raw)
	real := send(file)
	require.Equal(t, http.StatusAccepted, real.Status, "%s", real.Raw)
	job := real.Data(t)
	require.Equal(t, []any{"people_import", "queued"}, []any{job["kind"], job["state"]})
	apitest.RequireError(t, w.CallAs(t, "downloadJob", job["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	w.RunImports(t)

	want := map[string]any{"added": 1.0, "found": 0.0, "places": 1.0, "refused": 1.0}
	require.Equal(t, want, apitest.At(w.CallAs(t, "getJob", trial.Data(t)["id"].(string), w.Acme.New, nil).Data(t), "result", "counts"))
	done := w.CallAs(t, "getJob", job["id"].(string), w.Acme.New, nil).Data(t)
	require.Equal(t, "succeeded", done["state"])
	result := done["result"].(map[string]any)
	require.Equal(t, want, result["counts"])
	require.Equal(t, []any{map[string]any{"line": 3.0, "column": "email", "message": "email is no e-mail address."}}, result["refused"])
	found := w.Get(w.Acme.New, "/people?q="+url.QueryEscape("unal AD")).JSON(t)["data"].([]any)
	require.Len(t, found, 1)
	require.Equal(t, "Ünal; Ada", found[0].(map[string]any)["name"])
	require.Empty(t, w.Get(w.Acme.New, "/people?q=nal").JSON(t)["data"])
	require.Empty(t, w.Get(w.Acme.New, "/people?q=--").JSON(t)["data"])

	answer := w.CallAs(t, "downloadJob", job["id"].(string), w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, "text/csv", answer.Header.Get("Content-Type"))
	require.Equal(t, "attachment; filename="+result["file"].(string), answer.Header.Get("Content-Disposition"))
	require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(answer.Raw), "\xEF\xBB\xBF")))
	reader.Comma = ';'
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"name", "email", "portalId", "role", "problem"}, {"'=1+1", "ada@", portal, "learner", "Line 3: email is no e-mail address."},
	}, rows)
	known := apitest.Request{Path: "/jobs/" + job["id"].(string) + "/download", Key: w.Acme.New, Header: map[string]string{"If-None-Match": answer.Header.Get("ETag")}}
	require.Equal(t, http.StatusNotModified, w.Call(t, w.Operation(t, "downloadJob"), known).Status)

	// Whoever sees the job without managing people does not see who is in the file.
	viewer := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.PortalsRead}})
	require.Equal(t, http.StatusOK, w.CallAs(t, "getJob", job["id"].(string), viewer, nil).Status)
	apitest.RequireError(t, w.CallAs(t, "downloadJob", job["id"].(string), viewer, nil), http.StatusForbidden, "forbidden", "")
	other := apitest.Kinds["/jobs/{id}"](t, w, w.Acme)
	w.CallAs(t, "cancelJob", other, w.Acme.New, nil)
	apitest.RequireError(t, w.CallAs(t, "downloadJob", other, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")

	for name, test := range map[string]struct {
		answer apitest.Answer
		param  string
	}{
		"not UTF-8":              {send("name;portalId;role\nJ\xF6rg;p;learner\n"), "body.file"},
		"no such column":         {send("name;portalId;role;shoe\nKim;p;learner;9\n"), "body.file"},
		"neither":                {w.CallAs(t, "importPeople", "", w.Acme.New, map[string]any{}), "body.csv"},
		"an empty text":          {w.CallAs(t, "importPeople", "", w.Acme.New, map[string]any{"csv": ""}), "body.csv"},
		"a flag that is no flag": {send(file, apitest.Part{Field: "dryRun", Text: "yes"}), "body.dryRun"},
		"an unknown field":       {send(file, apitest.Part{Field: "csv", Text: file}), "body"},
	} {
		require.NotEmpty(t, apitest.RequireError(t, test.answer, http.StatusBadRequest, "invalid_request", test.param)["message"], name)
	}
}

// A person of a file is held to the bounds of one that is sent alone.
func TestBoundsOfAPerson(t *testing.T) {
	checked := 0
	for field := range reflect.TypeFor[people.PersonInput]().Fields() {
		longest := field.Tag.Get("maxLength")
		if longest == "" {
			continue
		}
		checked++
		require.Equal(t, longest, fmt.Sprint(person.Longest[field.Tag.Get("json")[:strings.IndexByte(field.Tag.Get("json")+",", ',')]]), field.Name)
	}
	require.Len(t, person.Longest, checked)
}
