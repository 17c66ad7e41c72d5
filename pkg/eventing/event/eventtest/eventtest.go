// Package eventtest reads event logs in tests.
package eventtest

import (
	"context"
	"testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// most is more than any test has.
const most = 10_000

// Log is an organization's event log, oldest first: the events of some types, or all where
// none is named.
func Log(t testing.TB, tenants *tenant.Tenants, org id.Org, types ...event.Type) []event.Event {
	t.Helper()
	found, err := event.List(context.Background(), tenants, org, event.Filter{Types: types, Ascending: true}, event.Position{}, most)
	if err != nil {
		t.Fatalf("read the event log: %v", err)
	}
	return found
}
