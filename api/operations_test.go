package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// The tests here run over every declared operation, so the next one is covered
// the moment it is declared.

func TestOperations(t *testing.T) {
	w := apitest.NewWorld(t)
	t.Run("without a key", func(t *testing.T) { testWithoutAValidKey(t, w) })
	t.Run("without the scope", func(t *testing.T) { testWithoutTheScope(t, w) })
	t.Run("foreign ids", func(t *testing.T) { testForeignIDs(t, w) })
	t.Run("bare ids", func(t *testing.T) { testBareIDs(t, w) })
	t.Run("other methods", func(t *testing.T) { testOtherMethods(t, w) })
	t.Run("unknown paths", func(t *testing.T) { testUnknownPaths(t, w) })
	t.Run("versions", func(t *testing.T) { testVersions(t, w) })
}

func testWithoutAValidKey(t *testing.T, w *apitest.World) {
	secret := string(apikey.NewSecret(apikey.Live))
	last := map[bool]string{true: "1", false: "0"}[strings.HasSuffix(secret, "0")]
	headers := map[string]string{
		"none":            "",
		"malformed":       "Bearer nonsense",
		"unknown":         "Bearer " + secret,
		"broken checksum": "Bearer " + string(w.Acme.New[:len(w.Acme.New)-6]) + strings.Repeat("0", 6),
		"wrong last":      "Bearer " + secret[:len(secret)-1] + last,
		"basic":           "Basic " + string(w.Acme.New),
		"no scheme":       string(w.Acme.New),
		"two":             "Bearer " + string(w.Acme.New) + " " + string(w.Acme.New),
	}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		path, body := w.Path(t, o, w.Acme), w.Body(t, o)
		for name, header := range headers {
			r := apitest.Request{Path: path, Body: body}
			if header != "" {
				r.Header = map[string]string{"Authorization": header}
			}
			answer := w.Call(t, o, r)
			if o.Auth != route.WithKey {
				require.NotEqual(t, http.StatusUnauthorized, answer.Status, name)
				continue
			}
			apitest.RequireError(t, answer, http.StatusUnauthorized, "unauthorized", "header.Authorization")
			require.Equal(t, "Bearer", answer.Header.Get("WWW-Authenticate"), name)
		}
	})
}

func testWithoutTheScope(t *testing.T, w *apitest.World) {
	closedToOld := []scope.Scope{scope.ConsentsRead, scope.ConsentsWrite, scope.PeopleRead, scope.PeopleWrite}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		path, body := w.Path(t, o, w.Acme), w.Body(t, o)
		if o.Scope == "" {
			if o.Auth == route.WithKey {
				none := w.Key(w.Acme, scope.Grant{Contract: contract.Latest})
				if strings.HasPrefix(apitest.Kind(t, o), "/jobs/{id}") {
					// It takes the scope of what the job works on.
					apitest.RequireError(t, w.Call(t, o, apitest.Request{Path: path, Body: body, Key: none}), http.StatusNotFound, "not_found", "path.id")
					return
				}
				if o.ID == "createExport" { // it takes the scope that reads the records
					apitest.RequireError(t, w.Call(t, o, apitest.Request{Path: path, Body: body, Key: none}), http.StatusForbidden, "forbidden", "")
					return
				}
				require.Less(t, w.Call(t, o, apitest.Request{Path: path, Body: body, Key: none}).Status, 300)
			}
			return
		}
		require.True(t, scope.Known(o.Scope))
		if o.AndScope != "" {
			require.True(t, scope.Known(o.AndScope))
			half := slices.DeleteFunc(scope.All(), func(s scope.Scope) bool { return s == o.AndScope })
			answer := w.Call(t, o, apitest.Request{Path: path, Body: body, Key: w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: half})})
			require.Contains(t, apitest.RequireError(t, answer, http.StatusForbidden, "forbidden", "")["message"], string(o.AndScope))
		}
		others := slices.DeleteFunc(scope.All(), func(s scope.Scope) bool { return s == o.Scope })
		keys := []apikey.Secret{w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: others})}
		if slices.Contains(closedToOld, o.Scope) {
			keys = append(keys, w.Acme.Old) // full access of that age, and the scope by name
		}
		for _, key := range keys {
			answer := w.Call(t, o, apitest.Request{Path: path, Body: body, Key: key})
			if o.Auth == route.MayHaveKey {
				require.Equal(t, http.StatusNotFound, answer.Status, "such a key is none")
				continue
			}
			require.Contains(t, apitest.RequireError(t, answer, http.StatusForbidden, "forbidden", "")["message"], string(o.Scope))
		}
	})
}

// An id that names nothing of the caller's is not found, whyever that is.
func testForeignIDs(t *testing.T, w *apitest.World) {
	garbage := []string{
		"x", "av_", "_", "-1", "%20", "%00", "%ff", "a%2Fb", "%2E%2E", ".", "..", "%27%20OR%201=1", strings.Repeat("a", 22),
		strings.Repeat("z", 22), strings.Repeat("x", 5000), "%F0%9F%98%80", "av_av_" + strings.Repeat("0", 22),
	}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		own := apitest.Kind(t, o)
		if own == "" || own == apitest.SettingPath || o.Auth == route.Open { // what is open to all asks in another way whose it is
			return
		}
		body := w.Body(t, o)
		refused := func(path string) apitest.Answer {
			answer := w.Call(t, o, apitest.Request{Path: path, Body: body, Key: w.Acme.New})
			require.Equal(t, http.StatusNotFound, answer.Status, "%s: %s", path, answer.Raw)
			require.Equal(t, "not_found", answer.Error(t)["code"])
			return answer
		}
		foreign := w.Path(t, o, w.Globex)
		unknown := refused(apitest.WithID(o, id.NewRequest().Bare()))
		require.Equal(t, "path.id", unknown.Error(t)["param"])
		if o.ID == "getDashboard" {
			return // dashboards are everybody's, by names
		}
		require.Equal(t, unknown.Error(t), refused(foreign).Error(t), "nothing tells another's id from none")
		others := 0
		for k, make := range apitest.Kinds { // some of them, others each time
			if noun(k) == noun(own) { // names the same kind of thing
				continue
			}
			if others++; others > 8 {
				break
			}
			if _, ok := w.Made[k+w.Acme.ID.String()]; !ok {
				w.Made[k+w.Acme.ID.String()] = make(t, w, w.Acme)
			}
			refused(apitest.WithID(o, w.Made[k+w.Acme.ID.String()]))
		}
		refused(apitest.WithID(o, id.NewOrg().String()))
		for _, text := range garbage {
			refused(apitest.WithID(o, text))
		}
		// It is still there for its own, whose body names its own things.
		if of := w.PeopleBody(t, o, w.Globex); of != nil {
			body = of
		}
		answer := w.Call(t, o, apitest.Request{Path: foreign, Body: body, Key: w.Globex.New})
		require.Less(t, answer.Status, 300, "%s", answer.Raw)
		delete(w.Made, own+w.Globex.ID.String())
	})
}

func testBareIDs(t *testing.T, w *apitest.World) {
	w.Each(t, func(t *testing.T, o *route.Operation) {
		k := apitest.Kind(t, o)
		if k == "" || k == apitest.SettingPath {
			return
		}
		_, bare, ok := strings.Cut(apitest.Kinds[k](t, w, w.Acme), "_")
		if !ok { // a name is no id
			return
		}
		answer := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, bare), Body: w.Body(t, o), Key: w.Acme.New})
		require.Less(t, answer.Status, 300, "%s", answer.Raw)
	})
}

func testOtherMethods(t *testing.T, w *apitest.World) {
	methods := map[string][]string{}
	for _, o := range w.Service.Operations() {
		methods[o.Path] = append(methods[o.Path], o.Method)
		if o.Method == http.MethodGet {
			methods[o.Path] = append(methods[o.Path], http.MethodHead)
		}
	}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		path := w.Path(t, o, w.Acme)
		for _, method := range []string{http.MethodPut, http.MethodOptions, http.MethodTrace, "PURGE"} {
			if slices.Contains(methods[o.Path], method) {
				continue
			}
			for _, key := range []apikey.Secret{"", w.Acme.New, w.Acme.Old} {
				answer := w.Do(apitest.Request{Method: method, Path: path, Key: key})
				apitest.CheckHeaders(t, answer)
				apitest.CheckEnvelope(t, answer, false)
				apitest.RequireError(t, answer, http.StatusMethodNotAllowed, "method_not_allowed", "")
				require.Subset(t, strings.Split(answer.Header.Get("Allow"), ", "), methods[o.Path])
				require.NotContains(t, answer.Header.Get("Allow"), method)
			}
		}
		if o.Method != http.MethodGet {
			return
		}
		get := w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New})
		head := w.Do(w.Visit(apitest.Request{Method: http.MethodHead, Path: path, Key: w.Acme.New}))
		apitest.CheckHeaders(t, head)
		require.Equal(t, get.Status, head.Status)
		require.Empty(t, head.Raw)
		require.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"))
	})
}

func testUnknownPaths(t *testing.T, w *apitest.World) {
	for _, path := range []string{
		"/nothing", "/avatars/", "/avatars/a/b/c/d", "/Avatars", "//avatars", "/./avatars", "/avatars/../me", "/" + url.PathEscape("ä"),
		"/%00", "/%ff", "/certificates//badge", "/agents//mcp",
	} {
		for _, key := range []apikey.Secret{"", "nonsense", w.Acme.New, w.Acme.Old} {
			answer := w.Do(apitest.Request{Method: http.MethodGet, Path: path, Key: key})
			apitest.CheckHeaders(t, answer)
			apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "")
			if key == w.Acme.Old {
				require.Equal(t, string(contract.V20260708), answer.Header.Get(contract.Header))
			}
		}
	}
	apitest.RequireError(t, w.Do(apitest.Request{Method: "PURGE", Path: "/nothing", Key: w.Acme.New}), http.StatusNotFound, "not_found", "")
	base := strings.TrimSuffix(w.URL, route.BasePath)
	for _, path := range []string{"/", "/docs", "/docs/2026-07-08", "/openapi/2026-10-01.json", "/favicon.ico"} {
		apitest.CheckHeaders(t, w.Do(apitest.Request{Base: base, Method: http.MethodGet, Path: path}))
	}
}
