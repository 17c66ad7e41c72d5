package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

func connectionBody(n int) map[string]any {
	return map[string]any{
		"name":   fmt.Sprint("connection ", n),
		"config": map[string]any{"baseUrl": "https://127.0.0.1:9/v1", "model": fmt.Sprint("m", n), "tokensParameter": "max_tokens", "omitTemperature": true},
		"secret": fmt.Sprint("sk-tests-of-every-operation-", n), "limits": map[string]any{"timeoutMs": 1000 + n}, "fallback": "fail",
	}
}

// connect gives an organization a service that clones voices, as if it had been
// tested.
func (w *world) connect(t testing.TB, org *apitest.Org) {
	t.Helper()
	offer, ok := connection.FindOffer(connection.Speech, connection.ElevenLabs)
	require.True(t, ok)
	c := connection.New(offer, "voices", connection.Config{"baseUrl": "https://127.0.0.1:9"}, "xi-tests", time.Now().UTC())
	c.State, c.Fallback, c.TimeoutMs = connection.Active, connection.FallbackFail, 1000
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.Vault, c, "xi-tests", activity.Actor{By: "test", At: c.CreatedAt}.Unlogged())
	}))
}
