package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

func webhookBody(n int) map[string]any {
	return map[string]any{
		"url": fmt.Sprint("https://127.0.0.1:9/hook/", n), "events": []any{"consent.recorded", "transcript.final"},
		"description": "tests", "includeConversation": true,
	}
}

// deliver makes a webhook and a delivery to it, which it answers.
func (w *world) deliver(t testing.TB, org *apitest.Org) map[string]any {
	t.Helper()
	o := w.operation(t, "testWebhook")
	answer := w.call(t, o, apitest.Request{Path: withID(o, w.make(t, org, "createWebhook")["id"].(string)), Key: org.New})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}
