package knowledge_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

func TestAPackNamesWhatMakesItsVectors(t *testing.T) {
	w := apitest.NewWorld(t)
	connect := func(org *apitest.Org, kind string) string {
		t.Helper()
		made := w.CallAs(t, "createConnection", "", org.New, map[string]any{
			"name": "Service", "kind": kind, "provider": "openai_compatible", "config": map[string]any{"baseUrl": "https://example.com/v1", "model": "m"},
		})
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
		require.Equal(t, "builtin", made.Data(t)["fallback"])
		return made.Data(t)["id"].(string)
	}
	by := connect(w.Acme, "embedding")
	made := w.CallAs(t, "createKnowledgeBase", "", w.Acme.New, map[string]any{"name": "Pack", "embeddingConnectionId": by})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	base := made.Data(t)["id"].(string)
	shown := w.CallAs(t, "getKnowledgeBase", base, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{by, 0.0, nil}, []any{shown["embeddingConnectionId"], shown["embeddedChunkCount"], shown["embeddingError"]})
	used := w.CallAs(t, "getConnection", by, w.Acme.New, nil).Data(t)["usedBy"].(map[string]any)
	require.Equal(t, []any{base}, used["knowledgeBaseIds"])
	e := apitest.RequireError(t, w.CallAs(t, "deleteConnection", by, w.Acme.New, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, "in_use", e["details"].(map[string]any)["reason"])

	change := func(value any) apitest.Answer {
		return w.CallAs(t, "updateKnowledgeBase", base, w.Acme.New, map[string]any{"embeddingConnectionId": value})
	}
	apitest.RequireError(t, change("con_x"), http.StatusBadRequest, "invalid_request", "body.embeddingConnectionId")
	apitest.RequireError(t, change(connect(w.Acme, "model")), http.StatusBadRequest, "invalid_request", "body.embeddingConnectionId")
	apitest.RequireError(t, change(connect(w.Globex, "embedding")), http.StatusNotFound, "not_found", "body.embeddingConnectionId")
	full := w.CallAs(t, "createConnection", "", w.Acme.New, map[string]any{
		"name": "Short vectors", "kind": "embedding", "provider": "openai_compatible", "secret": "sk-1",
		"config": map[string]any{"baseUrl": "https://api.openai.com/v1", "model": "m", "dimensions": 512, "queryPrefix": "query: ", "passagePrefix": "passage: "},
	})
	require.Equal(t, http.StatusCreated, full.Status, "%s", full.Raw)
	again := connect(w.Acme, "embedding")
	require.Equal(t, again, change(again).Data(t)["embeddingConnectionId"])
	require.Nil(t, change(nil).Data(t)["embeddingConnectionId"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteConnection", by, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, change(again).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteKnowledgeBase", base, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteConnection", again, w.Acme.New, nil).Status, "the pack uses it no more")
}

func TestFallbacksThatCannotBe(t *testing.T) {
	w := apitest.NewWorld(t)
	body := map[string]any{
		"name": "System", "kind": "embedding", "provider": "openai_compatible", "config": map[string]any{"baseUrl": "https://example.com/v1", "model": "m"},
		"fallback": "fail",
	}
	apitest.RequireError(t, w.CallAs(t, "createConnection", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", "body.fallback")
	body["kind"], body["fallback"] = "recognition", "builtin"
	apitest.RequireError(t, w.CallAs(t, "createConnection", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", "body.fallback")
	delete(body, "fallback")
	made := w.CallAs(t, "createConnection", "", w.Acme.New, body).Data(t)
	require.Equal(t, "fail", made["fallback"])
	changed := w.CallAs(t, "updateConnection", made["id"].(string), w.Acme.New, map[string]any{"fallback": "builtin"})
	apitest.RequireError(t, changed, http.StatusBadRequest, "invalid_request", "body.fallback")
}
