package apitest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/figures/export"
)

// Export writes every export that was asked for.
func (w *World) Export(t testing.TB) {
	t.Helper()
	w.runJobs(t, (&export.Exporter{Tenants: w.Tenants, Files: w.Files}).Background().Works)
}

// Count counts what is in Acme's event log for the dashboards.
func (w *World) Count(t testing.TB) {
	t.Helper()
	for {
		n, err := dashboard.Advance(context.Background(), w.Tenants, w.Acme.ID)
		require.NoError(t, err)
		if n < dashboard.StepEvents {
			return
		}
	}
}
