package reference_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/openapi"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/web/reference"
)

func newReference() *reference.Reference {
	var versions []string
	for _, v := range contract.Versions() {
		versions = append(versions, string(v))
	}
	return reference.New(versions, func(v string) ([]byte, error) { return openapi.Document(contract.Version(v)) }, slog.New(slog.DiscardHandler))
}

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// document is what the tests look at of one.
type document struct {
	Tags  []struct{ Name string }
	Paths map[string]map[string]struct {
		OperationID string
		Tags        []string
	}
	Webhooks map[string]any
}

func read(t *testing.T, v contract.Version) document {
	t.Helper()
	raw, err := openapi.Document(v)
	require.NoError(t, err)
	var d document
	require.NoError(t, json.Unmarshal(raw, &d))
	return d
}

// Every operation and event of each contract stands on a page, in the
// navigation, with its samples, and is found.
func TestPagesShowEverything(t *testing.T) {
	h := newReference()
	for _, v := range contract.Versions() {
		d, base := read(t, v), "/docs/"+string(v)
		require.NotEmpty(t, d.Paths)
		index := get(t, h, base+"/search.json").Body.String()
		overview := get(t, h, base).Body.String()
		pages := map[string]string{}
		for _, tag := range d.Tags {
			pages[tag.Name] = get(t, h, base+"/"+strings.ToLower(tag.Name)).Body.String()
			require.Contains(t, pages[tag.Name], "<h1>"+tag.Name+"</h1>")
		}
		for path, methods := range d.Paths {
			for method, o := range methods {
				link := base + "/" + strings.ToLower(o.Tags[0]) + "#" + o.OperationID
				require.Contains(t, pages[o.Tags[0]], `id="`+o.OperationID+`"`)
				require.Contains(t, overview, `href="`+link+`"`)
				require.Contains(t, index, `"title":"`+strings.ToUpper(method)+" "+path+`"`)
				require.Contains(t, index, `"url":"`+link+`"`)
			}
		}
		events := get(t, h, base+"/event-types").Body.String()
		for name := range d.Webhooks {
			require.Contains(t, events, `id="`+name+`"`)
			require.Contains(t, index, `"title":"`+name+`"`)
		}
	}
}

// What a page refers to is there: links within it, pages beside it, and assets.
func TestLinksLeadSomewhere(t *testing.T) {
	h := newReference()
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	v := string(contract.Latest)
	for _, slug := range []string{"", "/personas", "/portals", "/event-types"} {
		page := get(t, h, "/docs/"+v+slug).Body.String()
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case path == "":
				require.Contains(t, page, `id="`+anchor+`"`)
			case strings.HasPrefix(path, "/openapi/"):
			default:
				found := get(t, h, path)
				require.Equal(t, http.StatusOK, found.Code, m[1])
				require.True(t, anchor == "" || strings.Contains(found.Body.String(), `id="`+anchor+`"`), m[1])
			}
		}
	}
}

// The samples are programs: Go's parser takes the Go ones, the shell those of curl.
func TestSamplesParse(t *testing.T) {
	h := newReference()
	sample := regexp.MustCompile(`(?s)<pre tabindex="0" data-language="(\w+)" aria-label="\w+">(.*?)</pre>`)
	var shell strings.Builder
	for _, tag := range read(t, contract.Latest).Tags {
		page := get(t, h, "/docs/"+string(contract.Latest)+"/"+strings.ToLower(tag.Name)).Body.String()
		samples := sample.FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, samples)
		for _, m := range samples {
			code := html.UnescapeString(m[2])
			switch m[1] {
			case "go":
				_, err := parser.ParseFile(token.NewFileSet(), "sample.go", code, parser.AllErrors)
				require.NoError(t, err, code)
			case "curl":
				shell.WriteString(code + "\n")
			case "python":
				require.NotRegexp(t, `: (true|false|null)\b`, code)
			}
		}
	}
	parse := exec.Command("sh", "-n")
	parse.Stdin = strings.NewReader(shell.String())
	out, err := parse.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestServing(t *testing.T) {
	h := newReference()
	page := get(t, h, "/docs/"+string(contract.Latest)+"/webhooks")
	require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	policy := page.Header().Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	require.NotRegexp(t, `(?:src|href)="(?:https?:)?//`, page.Body.String(), "nothing comes from elsewhere")
	for _, path := range []string{"/docs/2020-01-01", "/docs/2026-10-01/nothing", "/docs/assets/page.html", "/docs/assets/none.js", "/docs/assets/../reference.go"} {
		require.Equal(t, http.StatusNotFound, get(t, h, path).Code, path)
	}
	r := httptest.NewRequest(http.MethodGet, "/docs/2026-10-01/portals", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	packed := httptest.NewRecorder()
	h.ServeHTTP(packed, r)
	require.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
	require.Less(t, packed.Body.Len(), 64<<10, "it loads fast")
	r.Header.Set("If-None-Match", packed.Header().Get("ETag"))
	again := httptest.NewRecorder()
	h.ServeHTTP(again, r)
	require.Equal(t, http.StatusNotModified, again.Code)
}

// A page that cannot be written is told to the caller and to whoever runs the service.
func TestAPageThatCannotBeWritten(t *testing.T) {
	var log strings.Builder
	pages := reference.New([]string{"2026-10-01"}, func(string) ([]byte, error) { return nil, errors.New("no document") },
		slog.New(slog.NewTextHandler(&log, nil)))
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, reference.Prefix+"2026-10-01", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Contains(t, log.String(), "no document")
	require.Contains(t, log.String(), "path=/docs/2026-10-01")
}
