package apitest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const HookURL = "https://127.0.0.1:9/hook"

// Hook makes a webhook of Acme's with these properties besides its address.
func (w *World) Hook(t *testing.T, properties map[string]any) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "createWebhook", "", w.Acme.New, HookInput(properties))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func HookInput(properties map[string]any) map[string]any {
	body := map[string]any{"url": HookURL}
	maps.Copy(body, properties)
	return body
}

// InTx runs statements in a transaction of Acme's.
func (w *World) InTx(t testing.TB, f func(ctx context.Context, tx *tenant.Tx) error) {
	t.Helper()
	require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, f))
}

// Pause pauses a webhook of Acme's as failing for three days does.
func (w *World) Pause(t *testing.T, hook any) {
	t.Helper()
	parsed, err := id.ParseWebhook(hook.(string))
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			UPDATE webhook SET active = false, paused_at = now(), failing_since = now() - INTERVAL '3 days'
			WHERE org_id = $1 AND id = $2`, tx.Org, parsed)
		return err
	})
}

func WebhookBody(n int) map[string]any {
	return map[string]any{
		"url": fmt.Sprint("https://127.0.0.1:9/hook/", n), "events": []any{"consent.recorded", "transcript.final"},
		"description": "tests", "includeConversation": true,
	}
}

// Deliver makes a webhook and a delivery to it, which it answers.
func (w *World) Deliver(t testing.TB, org *Org) map[string]any {
	t.Helper()
	o := w.Operation(t, "testWebhook")
	answer := w.Call(t, o, Request{Path: WithID(o, w.Make(t, org, "createWebhook")["id"].(string)), Key: org.New})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}
