package connection_test

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
)

func httpConfig(more ...map[string]any) connection.Config {
	tools := []any{}
	for _, m := range more {
		t := map[string]any{
			"name": "order", "description": "Finds an order.", "method": "GET", "path": "/orders/{number}",
			"parameters": map[string]any{"type": "object", "required": []any{"number"}, "properties": map[string]any{"number": map[string]any{"type": "string"}}},
		}
		maps.Copy(t, m)
		tools = append(tools, t)
	}
	return connection.Config{"baseUrl": "https://shop.example.com/api", "tools": tools}
}

func TestHTTPToolsAreChecked(t *testing.T) {
	offer, ok := connection.FindOffer(connection.HTTP, connection.HTTPAPI)
	require.True(t, ok)
	require.NoError(t, offer.Check(httpConfig(map[string]any{})))
	for path, config := range map[string]connection.Config{
		"tools":              httpConfig(),
		"tools.0.path":       httpConfig(map[string]any{"path": "/orders/{id}"}),
		"tools.0.method":     httpConfig(map[string]any{"method": "TRACE"}),
		"tools.1.name":       httpConfig(map[string]any{}, map[string]any{}),
		"tools.0.name":       httpConfig(map[string]any{"name": "an order"}),
		"tools.0.parameters": httpConfig(map[string]any{"parameters": map[string]any{"type": "object", "$ref": "file:///etc/passwd"}}),
		"tools.0.url":        httpConfig(map[string]any{"url": "https://example.com"}),
		"secretHeader":       {"baseUrl": "https://shop.example.com", "tools": httpConfig(map[string]any{})["tools"], "secretHeader": "a b"},
	} {
		var wrong *connection.ConfigError
		require.ErrorAs(t, offer.Check(config), &wrong, path)
		require.Equal(t, path, wrong.Path, wrong.Message)
	}
	for _, path := range []string{"orders", "/orders?a=1", "/orders#a", "/a b", "//evil.example.com\\x"} {
		require.Error(t, offer.Check(httpConfig(map[string]any{"path": path, "parameters": map[string]any{"type": "object"}})), path)
	}
}

// shop is a system of a customer's that says what it was asked.
func shop(t *testing.T, answer http.HandlerFunc) (connection.Opened, *egress.Guard) {
	t.Helper()
	server := httptest.NewTLSServer(answer)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	guard := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
	config := httpConfig(map[string]any{})
	config["baseUrl"] = server.URL + "/api"
	return connection.Opened{
		Connection: connection.Connection{Kind: connection.HTTP, Provider: connection.HTTPAPI, Config: config, TimeoutMs: 1000}, Secrets: []connection.Secret{"s3cret"},
	}, guard
}

func httpTool(t *testing.T, more map[string]any) *connection.HTTPTool {
	t.Helper()
	tools, err := httpConfig(more).HTTPTools()
	require.NoError(t, err)
	return &tools[0]
}

// Arguments go into the path, and what is left into the query or the body; nothing of them
// changes where a request goes.
func TestRequestsOfATool(t *testing.T) {
	open := map[string]any{"type": "object", "required": []any{"number"}}
	for name, test := range map[string]struct {
		tool      map[string]any
		arguments map[string]any
		want      string
	}{
		"in the path":    {nil, map[string]any{"number": "A 1/2?x=y#z"}, "GET /api/orders/A%201%2F2%3Fx=y%23z "},
		"in the query":   {map[string]any{"parameters": open}, map[string]any{"number": "7", "all": true, "q": "a&b"}, "GET /api/orders/7?all=true&q=a%26b "},
		"in the body":    {map[string]any{"method": "POST", "parameters": open}, map[string]any{"number": json.Number("7"), "note": "fast"}, `POST /api/orders/7 {"note":"fast"}`},
		"a deleted one":  {map[string]any{"method": "DELETE"}, map[string]any{"number": "7"}, "DELETE /api/orders/7 "},
		"out of its way": {nil, map[string]any{"number": ".."}, ""},
		"nothing":        {nil, map[string]any{"number": ""}, ""},
	} {
		var asked []*http.Request
		opened, guard := shop(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, r)
			_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		})
		got, err := opened.UseTool(t.Context(), guard, httpTool(t, test.tool), test.arguments, "key-1")
		if test.want == "" {
			require.ErrorIs(t, err, upstream.ErrRejected, name)
			require.Empty(t, asked, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, test.want, got, name)
		require.Equal(t, "Bearer s3cret", asked[0].Header.Get("Authorization"))
		require.Equal(t, !strings.HasPrefix(test.want, "GET"), asked[0].Header.Get("Idempotency-Key") == "key-1", name)
	}
}

func TestToolsThatFail(t *testing.T) {
	opened, guard := shop(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/orders/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/api/orders/moved":
			http.Redirect(w, r, "/api/orders/7", http.StatusFound)
		case "/api/orders/huge":
			_, _ = w.Write(make([]byte, 1<<20))
		case "/api/orders/slow":
			<-r.Context().Done()
		}
	})
	for number, want := range map[string]error{
		"gone": upstream.ErrRejected, "moved": upstream.ErrRejected, "huge": upstream.ErrMalformed, "slow": upstream.ErrTimeout,
	} {
		_, err := opened.UseTool(t.Context(), guard, httpTool(t, map[string]any{"timeoutMs": 300}), map[string]any{"number": number}, "k")
		require.ErrorIs(t, err, want, number)
	}
	opened.Config["secretHeader"] = "X-API-Key"
	trial, err := connection.Trier{Egress: guard, Clock: testClock{}}.Try(t.Context(), opened)
	require.NoError(t, err)
	require.True(t, trial.OK())
}

type testClock struct{}

func (testClock) Now() time.Time { return time.Now() }

func (testClock) Since(t time.Time) time.Duration { return time.Since(t) }
