package apitest

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// CloneVoice makes an own voice, which is training.
func (w *World) CloneVoice(t testing.TB, org *Org) string {
	t.Helper()
	o := w.Operation(t, "createVoice")
	answer := w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: w.Body(t, o)})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	return answer.Data(t)["id"].(string)
}

// TrainedVoice is an own voice that was made.
func (w *World) TrainedVoice(t testing.TB, org *Org) string {
	t.Helper()
	which := w.CloneVoice(t, org)
	parsed, err := id.ParseVoice(which)
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE voice SET status = 'ready' WHERE org_id = $1 AND id = $2`, tx.Org, parsed)
		return err
	}))
	return which
}
