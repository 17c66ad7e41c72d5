package agents_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// Whoever knows an agent's catalog finds its MCP server and its card, and those are what answers; of what is not to be asked nobody finds anything.
func TestAnAgentIsFoundByItsCatalog(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	shown := get(t, w, "getAgent", slug).Data(t)
	read := func(address string, into any) http.Header {
		t.Helper()
		at, err := url.Parse(address)
		require.NoError(t, err)
		answer := w.Do(apitest.Request{Method: http.MethodGet, Path: strings.TrimPrefix(at.Path, "/v1")})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.NoError(t, json.Unmarshal(answer.Raw, into))
		require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"))
		return answer.Header
	}
	var catalog struct {
		SpecVersion string
		Entries     []struct{ Identifier, DisplayName, Type, URL string }
	}
	base := strings.TrimSuffix(apitest.At(shown, "endpoints", "ask").(string), "/ask")
	header := read(base+"/catalog.json", &catalog)
	require.Equal(t, []string{"application/ai-catalog+json", "0.9"}, []string{header.Get("Content-Type"), catalog.SpecVersion})
	require.Len(t, catalog.Entries, 2)
	require.Equal(t, shown["name"], catalog.Entries[0].DisplayName)
	require.Regexp(t, "^urn:air:[^:]+:mcp:"+slug+"$", catalog.Entries[0].Identifier)
	require.Equal(t, apitest.At(shown, "endpoints", "card"), catalog.Entries[1].URL)

	var card struct {
		Schema                   string `json:"$schema"`
		Name, Title, Description string
		Remotes                  []struct{ Type, URL string }
	}
	header = read(catalog.Entries[0].URL, &card)
	require.Equal(t, catalog.Entries[0].Type, header.Get("Content-Type"))
	require.Contains(t, card.Schema, "server-card.schema.json")
	require.True(t, strings.HasSuffix(card.Name, "/"+slug), card.Name)
	require.LessOrEqual(t, len([]rune(card.Description)), 100)
	require.Len(t, card.Remotes, 1)
	require.Equal(t, []any{"streamable-http", apitest.At(shown, "endpoints", "mcp")}, []any{card.Remotes[0].Type, card.Remotes[0].URL})

	w.LetAgentsAsk(t, w.Acme, false)
	for _, path := range []string{"/catalog.json", "/mcp/server-card"} {
		require.Eventually(t, func() bool {
			return w.Do(apitest.Request{Method: http.MethodGet, Path: "/agents/" + slug + path}).Status == http.StatusNotFound
		}, 20*time.Second, 100*time.Millisecond, "a change is seen within two seconds")
	}
}
