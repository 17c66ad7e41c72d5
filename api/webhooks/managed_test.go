package webhooks_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/tenant"
)

// A webhook that a resource declares is changed there, and used here as ever.
func TestADeclaredWebhook(t *testing.T) {
	w := apitest.NewWorld(t)
	hook := w.Hook(t, nil)["id"].(string)
	require.Equal(t, "api", w.Get(w.Acme.New, "/webhooks/"+hook).Data(t)["managedBy"])
	which, err := id.ParseWebhook(hook)
	require.NoError(t, err)
	by := managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders", UID: "4f1c"}.By()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE webhook SET managed_by = $3 WHERE org_id = $1 AND id = $2`, tx.Org, which, by)
		return err
	})
	before := w.Get(w.Acme.New, "/webhooks/"+hook).Data(t)
	require.Equal(t, "Webhook acme/orders", before["managedBy"])

	refused := func(r apitest.Answer) {
		t.Helper()
		e := apitest.RequireError(t, r, http.StatusConflict, "conflict", "path.id")
		require.Equal(t, "managed", apitest.At(e, "details", "reason"))
		require.Equal(t, "Webhook acme/orders", apitest.At(e, "details", "managedBy"))
		require.Contains(t, e["message"], "Webhook acme/orders")
	}
	for _, operation := range []string{"updateWebhook", "deleteWebhook", "rotateWebhookSecret"} {
		refused(w.CallAs(t, operation, hook, w.Acme.New, w.Body(t, w.Operation(t, operation))))
	}
	refused(w.CallAs(t, "deleteWebhook", hook, w.Acme.Old, nil))
	require.Equal(t, before, w.Get(w.Acme.New, "/webhooks/"+hook).Data(t), "nothing changed")

	for _, operation := range []string{"testWebhook", "recoverWebhook"} {
		r := w.CallAs(t, operation, hook, w.Acme.New, w.Body(t, w.Operation(t, operation)))
		require.Equal(t, http.StatusAccepted, r.Status, operation)
	}
}
