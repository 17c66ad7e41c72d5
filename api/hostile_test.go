package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/store/apikey"
)

// hostile are values put in every place of every body. Which of them are
// wrong there the document says.
func hostile() []any {
	return []any{
		nil, true, 1.5, -1, json.Number("1e400"), json.Number("-99999999999999999999"), "", "no-such-value", "\x00", "a\x00b",
		strings.Repeat("x", 2000), "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "2026-02-30T00:00:00Z", "data:,", "data:image/png;base64,!",
		"https://[::1", "http://example.com/", json.RawMessage(`"\ud800"`), "\u202e\ufeff", []any{},
		[]any{nil}, []any{[]any{}}, map[string]any{}, map[string]any{"noSuchProperty": 1}, map[string]any{"a\x00": "b"},
	}
}

// clean checks that an input was refused as it should be, and not with a fault.
func clean(t *testing.T, a apitest.Answer, param string) {
	t.Helper()
	require.Contains(t, []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, a.Status, "%s", a.Raw)
	at, _ := a.Error(t)["param"].(string)
	require.True(t, strings.HasPrefix(at, param), "param %q, not %s: %s", at, param, a.Raw)
}

// Whatever is sent is answered cleanly, and what was taken can be read again.
func TestHostileInput(t *testing.T) {
	w := apitest.NewWorld(t)
	t.Run("bodies", func(t *testing.T) { testHostileBodies(t, w) })
	t.Run("no bodies", func(t *testing.T) { testBodiesThatAreNoInput(t, w) })
	t.Run("names", func(t *testing.T) { testNamesOfProperties(t, w) })
	t.Run("null", func(t *testing.T) { testNullInChanges(t, w) })
	t.Run("queries", func(t *testing.T) { testHostileQueries(t, w) })
}

// otherwise are properties that say in another way what a good body says already,
// or that are good once.
var otherwise = map[string][]string{
	"createSessionToken": {"mediaConnectionId"}, "updateSubject": {"state"}, "runPersonaTests": {"testIds"}, "createPersonaTest": {"gapId"},
	"offerInterview": {"scheduleId", "bookingKind", "from", "to"}, "updateInterview": {"startsAt"}, "createInboxItem": {"booking"}, "updateInboxItem": {"booking"},
	"applySetupPlan": {"personaId"}, "createPortal": {"personaId", "slug"}, "putPortalPersona": {"personaId", "duoId", "face", "voice"},
	"createReport": {"subjectId", "assignmentId", "unitId", "portalId"},
}

func testHostileBodies(t *testing.T, w *apitest.World) {
	w.Each(t, func(t *testing.T, o *route.Operation) {
		d := w.Documents[contract.Latest]
		if !d.HasBody(o) {
			return
		}
		path := freshPath(t, w, o, w.Acme)
		if o.ID == "updateSession" {
			w.CarryOut(t)
		}
		var good map[string]any
		raw, err := json.Marshal(w.Body(t, o))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &good))
		require.True(t, d.Valid(t, o, good))
		properties := bodyProperties(d, o)
		for name := range properties {
			// A version is good for one change alone, a session ends once, a persona is of one organization.
			if name != "baseVersion" && name != "supersedes" && (o.ID != "updateWidget" || name != "personaId") && !slices.Contains(otherwise[o.ID], name) {
				require.Contains(t, good, name, "good bodies hold every property")
			}
		}
		for _, place := range places(good, nil) {
			for _, value := range hostile() {
				body := replaced(good, place, value)
				answer := w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New, Body: body})
				require.Less(t, answer.Status, http.StatusInternalServerError, "%v = %.80v: %s", place, value, answer.Raw)
				// A property that may be absent may also be null.
				if value != nil && !d.Valid(t, o, body) {
					require.GreaterOrEqual(t, answer.Status, 400, "%v = %.80v: %s", place, value, answer.Raw)
					clean(t, answer, "body")
				}
				if text, ok := value.(string); ok && strings.Contains(text, "\x00") {
					clean(t, answer, param(place))
				}
			}
		}
		last := apitest.Request{Path: path, Key: w.Acme.New, Body: good}
		if _, ok := apitest.Once[o.ID]; ok || o.ID == "replyToInboxItem" || o.ID == "explainDecision" { // nobody is mailed more often in an hour
			last.Path = freshPath(t, w, o, w.Acme)
		}
		if o.ID == "createPerson" || o.ID == "createInvites" { // others were added meanwhile, with parts of it
			last.Body = w.Body(t, o)
		}
		require.Less(t, w.Call(t, o, last).Status, 300, "the good body was good")
		readPages(t, w, func(other *route.Operation) bool { return other.Group == o.Group })
	})
	t.Run("pages", func(t *testing.T) { readPages(t, w, func(*route.Operation) bool { return true }) })
}

// A property that is there twice, or by a name in other letters, would be checked in one place and taken from
// another: both are refused, at the top and within.
func testNamesOfProperties(t *testing.T, w *apitest.World) {
	within := 0
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if !w.Documents[contract.Latest].HasBody(o) {
			return
		}
		path := freshPath(t, w, o, w.Acme)
		good, err := json.Marshal(w.Body(t, o))
		require.NoError(t, err)
		var properties map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(good, &properties))
		refuse := func(body, param string) {
			t.Helper()
			answer := w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New, Body: []byte(body)})
			require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", body, answer.Raw)
			require.Contains(t, string(answer.Raw), `"`+param+`"`) // among others, perhaps
		}
		for name, value := range properties {
			for _, again := range []string{name, strings.ToUpper(name)} {
				refuse(fmt.Sprintf(`%s,%q:%s}`, good[:len(good)-1], again, value), "body."+again)
			}
			var inner map[string]json.RawMessage
			if json.Unmarshal(value, &inner) != nil {
				continue
			}
			for key, of := range inner {
				within++
				twice := fmt.Sprintf(`{%q:%s,%q:%s}`, key, of, key, of)
				rest := maps.Clone(properties)
				rest[name] = json.RawMessage(twice)
				var text []string
				for n, v := range rest {
					text = append(text, fmt.Sprintf("%q:%s", n, v))
				}
				refuse("{"+strings.Join(text, ",")+"}", "body."+name+"."+key)
			}
		}
	})
	require.Greater(t, within, 50)
}

// readPages checks that what was stored can still be read.
func readPages(t *testing.T, w *apitest.World, which func(*route.Operation) bool) {
	t.Helper()
	for _, o := range w.Service.Operations() {
		if w.Documents[contract.Latest].IsPaged(o) && which(o) {
			_, _ = w.Page(t, o, w.Acme.New, url.Values{"limit": {"200"}})
		}
	}
}

// Where null is no value, a change to it is refused.
func testNullInChanges(t *testing.T, w *apitest.World) {
	tested := 0
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if _, acts := apitest.Once[o.ID]; o.Method != http.MethodPatch || acts || o.ID == "rescoreResult" || o.ID == "updateInterview" {
			return // what is done once, or says what to do, leaves nothing alone
		}
		d, path := w.Documents[contract.Latest], freshPath(t, w, o, w.Acme)
		w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New, Body: w.Body(t, o)}).Data(t)
		for name := range bodyProperties(d, o) {
			body := map[string]any{name: nil}
			answer := w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New, Body: body})
			if !d.Valid(t, o, body) {
				apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "body."+name)
				tested++
				continue
			}
			require.Equal(t, http.StatusOK, answer.Status, "%s: %s", name, answer.Raw)
			if o.ID == "updateSubjectContent" && (name == "baseVersion" || name == "changeNote") {
				continue // which are of a version, and stay with it
			}
			after := answer.Data(t)
			require.Nil(t, after[name])
			tested++
		}
	})
	require.Positive(t, tested)
}

func bodyProperties(d *apitest.Document, o *route.Operation) map[string]any {
	ref, _ := d.At(apitest.Entry(o, "requestBody", "content", "application/json", "schema", "$ref")...).(string)
	properties, _ := d.At(append(strings.Split(strings.TrimPrefix(ref, "#/"), "/"), "properties")...).(map[string]any)
	return properties
}

// places lists every place in a body: properties and the first items of lists.
func places(v any, at []any) [][]any {
	var found [][]any
	add := func(step, v any) {
		place := append(slices.Clone(at), step)
		found = append(append(found, place), places(v, place)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			add(name, item)
		}
	case []any:
		if len(v) > 0 {
			add(0, v[0])
		}
	}
	return found
}

// param is how an error names a place.
func param(place []any) string {
	text := "body"
	for _, step := range place {
		if name, ok := step.(string); ok {
			text += "." + name
		} else {
			text += fmt.Sprintf("[%d]", step)
		}
	}
	return text
}

// replaced is a body with another value in one place.
func replaced(v any, place []any, value any) any {
	if len(place) == 0 {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		copied := map[string]any{}
		maps.Copy(copied, v)
		copied[place[0].(string)] = replaced(v[place[0].(string)], place[1:], value)
		return copied
	case []any:
		copied := slices.Clone(v)
		copied[place[0].(int)] = replaced(v[place[0].(int)], place[1:], value)
		return copied
	}
	return v
}

// refusal is the status of what an operation takes for no input.
func refusal(o *route.Operation, text string) int {
	if o.MaxBody > 0 && int64(len(text)) > o.MaxBody {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

func testBodiesThatAreNoInput(t *testing.T, w *apitest.World) {
	raw := map[string]string{
		"empty object's half": "{", "no JSON": "hello", "two": "{}{}", "comma": `{"a":1,}`, "list": "[]", "string": `"x"`,
		"number": "1e999999", "bool": "true", "unknown property": `{"noSuchProperty":1}`, "invalid UTF-8": "{\"name\":\"\xff\"}",
		"raw NUL": "{\"name\":\"\x00\"}", "NUL in a name": `{"a\u0000":1}`, "byte order mark": "\ufeff{}", "UTF-16": "\xff\xfe{\x00}\x00",
		"deep list": strings.Repeat("[", 100_000), "deep object": strings.Repeat(`{"name":`, 100_000),
		"deep and closed": `{"name":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
	}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		switch o.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
		default:
			return
		}
		path := freshPath(t, w, o, w.Acme)
		send := func(key apikey.Secret, body any, contentType string) apitest.Answer {
			return w.Call(t, o, apitest.Request{Path: path, Key: key, Body: body, Header: map[string]string{"Content-Type": contentType}})
		}
		hasBody := w.Documents[contract.Latest].HasBody(o)
		for what, text := range raw {
			answer := send(w.Acme.New, []byte(text), "application/json")
			require.Less(t, answer.Status, http.StatusInternalServerError, "%s: %s", what, answer.Raw)
			if hasBody {
				require.Equal(t, refusal(o, text), answer.Status, "%s: %s", what, answer.Raw)
				clean(t, answer, "body")
			}
		}
		good := w.Body(t, o)
		if good == nil {
			good = map[string]any{}
		}
		for _, contentType := range []string{
			"text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/json; charset=utf-16",
			"application/xml", "nonsense", "application/json, text/plain",
		} {
			if o.Upload != nil && strings.HasPrefix(contentType, "multipart/") {
				apitest.RequireError(t, send(w.Acme.New, good, contentType), http.StatusBadRequest, "invalid_request", "body")
				continue
			}
			apitest.RequireError(t, send(w.Acme.New, good, contentType), http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Type")
		}
		bound := o.MaxBody
		if bound == 0 {
			bound = 1 << 20
		}
		older := "invalid_request"
		if o.Auth == route.Open { // a key says nothing of the contract
			older = "too_large"
		}
		for key, code := range map[apikey.Secret]string{w.Acme.New: "too_large", w.OldNamed: older} {
			over := bytes.Repeat([]byte(" "), int(bound)+1)
			apitest.RequireError(t, send(key, over, "application/json"), http.StatusRequestEntityTooLarge, code, "body")
			apitest.RequireError(t, send(key, io.Reader(bytes.NewReader(over)), "application/json"), http.StatusRequestEntityTooLarge, code, "body")
		}
	})
}

func testHostileQueries(t *testing.T, w *apitest.World) {
	wrong := func(schema map[string]any) []string {
		switch {
		case schema["type"] == "integer":
			return []string{"x", "1.5", "1e3", "99999999999999999999", "true"}
		case schema["enum"] != nil:
			return []string{"no-such-value"}
		case schema["format"] == "date-time":
			return []string{"x", "2026-13-01T00:00:00Z", "2026-01-01"}
		case schema["pattern"] != nil:
			return []string{"!", strings.Repeat("a", 201)}
		case schema["maxLength"] != nil:
			most, err := schema["maxLength"].(json.Number).Int64()
			require.NoError(t, err)
			return []string{strings.Repeat("x", int(most)+1)}
		}
		return nil
	}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		path := w.Path(t, o, w.Acme)
		ask := func(query string) apitest.Answer {
			answer := w.Call(t, o, apitest.Request{Path: path + "?" + query, Body: w.Body(t, o), Key: w.Acme.New})
			require.Less(t, answer.Status, http.StatusInternalServerError, "%s: %s", query, answer.Raw)
			return answer
		}
		if o.ID == "getHealth" { // probes are answered whatever they send
			return
		}
		for _, name := range []string{"noSuchParameter", "Limit", "limit[]", "%22"} {
			plain, err := url.QueryUnescape(name)
			require.NoError(t, err)
			clean(t, ask(name+"=1"), "query."+plain)
		}
		for _, query := range []string{"%00=1", "%ff=1", "%zz=1", "%"} {
			clean(t, ask(query), "query")
		}
		for _, p := range w.Documents[contract.Latest].Query(o) {
			for _, value := range wrong(p.Schema) {
				clean(t, ask(p.Name+"="+url.QueryEscape(value)), "query."+p.Name)
			}
			for _, query := range []string{"=%00", "=a%00b", "=%ff", "=%zz"} {
				clean(t, ask(p.Name+query), "query")
			}
			clean(t, ask(p.Name+"=1&"+p.Name+"=2"), "query."+p.Name)
			for _, text := range []string{"", "%27%3B--", "0001-01-01T00:00:00%2B23:59", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59", "9999-12-31", "%F0%9F%98%80"} {
				ask(p.Name + "=" + text)
			}
		}
	})
}
