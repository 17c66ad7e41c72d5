package apitest

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/route"
	"visavis.dev/pkg/visits/agent"
)

func init() {
	Kinds["/agents/{id}"] = func(t testing.TB, w *World, org *Org) string {
		made := w.Agent(t, org)
		w.ListAgents(t)
		return made
	}
}

// ListAgents makes the list of agents follow the portals, as workers do.
func (w *World) ListAgents(t testing.TB) {
	t.Helper()
	c := agent.Catalogue{
		Options:   agent.Options{Tenants: w.Tenants, Minds: w.Minds, Clock: w.Options.Clock, Organization: w.Organizations.Get, PortalURL: w.Backend.Options.PageURL()},
		Directory: w.Directory, Plans: w.Plans,
	}
	for _, shard := range []string{"shard-1", "shard-2"} {
		_, err := c.Refresh(context.Background(), shard)
		require.NoError(t, err)
	}
}

// Agent is the slug of a portal that AI assistants may ask, about a museum.
func (w *World) Agent(t testing.TB, org *Org) string {
	t.Helper()
	portal := w.Entrance(t, org)
	base := w.Make(t, org, "createKnowledgeBase")["id"].(string)
	w.AddDocument(t, org, base)
	w.ReadDocuments(t)
	change := w.CallAs(t, "updatePortal", portal, org.New, map[string]any{"knowledgeBaseIds": []any{base}})
	require.Equal(t, http.StatusOK, change.Status, "%s", change.Raw)
	published := w.CallAs(t, "publishPortal", portal, org.New, map[string]any{})
	require.Equal(t, http.StatusOK, published.Status, "%s", published.Raw)
	w.LetAgentsAsk(t, org, true)
	return w.CallAs(t, "getPortal", portal, org.New, nil).Data(t)["slug"].(string)
}

// question is a good body with every property of a question that follows another.
func (w *World) question(t testing.TB, o *route.Operation) map[string]any {
	t.Helper()
	const kept = "/agents/{id}"
	if w.Made[kept+w.Acme.ID.String()] == "" {
		w.Made[kept+w.Acme.ID.String()] = w.Agent(t, w.Acme)
	}
	first := map[string]any{"question": "When does the museum open?", "language": "en"}
	answer := w.Call(t, o, Request{Path: WithID(o, w.Made[kept+w.Acme.ID.String()]), Body: first})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return map[string]any{"question": "And when does it close?", "language": "en", "conversationId": answer.Data(t)["conversationId"]}
}

// LetAgentsAsk sets whether AI assistants may ask an organization's portals.
func (w *World) LetAgentsAsk(t testing.TB, org *Org, may bool) {
	t.Helper()
	answer := w.CallAs(t, "updateSetting", "agents.enabled", org.New, map[string]any{"value": may})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
}
