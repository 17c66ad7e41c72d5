package identity_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/store/tenant"
)

// GET /usage names every threshold, with those of this month that were reached.
func TestUsageShowsItsThresholds(t *testing.T) {
	w := apitest.NewWorld(t)
	thresholds := func() []any { return w.Get(w.Acme.New, "/usage").Data(t)["thresholds"].([]any) }
	want := []any{}
	for _, kind := range []string{"held", "cap"} {
		for _, percent := range []float64{20, 10, 0} {
			want = append(want, map[string]any{"percent": percent, "kind": kind, "reachedAt": nil})
		}
	}
	require.Equal(t, want, thresholds())

	now := time.Now().UTC().Truncate(time.Microsecond)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO usage_threshold (org_id, month, kind, percent, reached_at)
			VALUES ($1, $2, 'held', 20, $4), ($1, $2, 'cap', 0, $4), ($1, $3, 'held', 10, $4)`,
			w.Acme.ID, month, month.AddDate(0, -1, 0), now)
		return err
	}))
	reached := thresholds()
	for i, threshold := range want {
		if i == 0 || i == 5 {
			threshold.(map[string]any)["reachedAt"] = reached[i].(map[string]any)["reachedAt"]
			at, err := time.Parse(time.RFC3339Nano, reached[i].(map[string]any)["reachedAt"].(string))
			require.NoError(t, err)
			require.WithinDuration(t, now, at, time.Second)
		}
		require.Equal(t, threshold, reached[i])
	}
}
