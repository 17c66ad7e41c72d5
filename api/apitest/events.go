package apitest

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// Emit records events of Acme's.
func (w *World) Emit(t testing.TB, drafts ...event.Draft) []event.Recorded {
	t.Helper()
	var recorded []event.Recorded
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) (err error) {
		for i := range drafts {
			drafts[i].At = time.Now()
		}
		recorded, err = event.Record(ctx, tx, drafts...)
		return err
	})
	return recorded
}

// Events is a page of Acme's log.
func (w *World) Events(t *testing.T, key apikey.Secret, query string) []any {
	t.Helper()
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	items, _ := w.Page(t, w.Operation(t, "listEvents"), key, values)
	return items
}

func Types(events []any) []string {
	found := make([]string, len(events))
	for i, e := range events {
		found[i] = e.(map[string]any)["type"].(string)
	}
	return found
}
