package apitest

import (
	"context"
	"testing"
	"time"

	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

func (w *World) ZeroRetention(t *testing.T, on bool) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.ZeroRetention, on, "test", time.Now())
	})
}
