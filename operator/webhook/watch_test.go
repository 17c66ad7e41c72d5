package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/operator/apis/v1alpha1"
)

// Only resources whose status is behind are looked at, whatever there is.
func TestWhoseDeliveriesChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, name := range []string{"orders", "invoices", "visits"} {
		s.apply(name)
	}
	rules := s.rules()
	rules.Client = s.client
	asked := s.clock.Now()
	changed := func() (names []string) {
		t.Helper()
		found, err := rules.Look(t.Context(), asked)
		require.NoError(t, err)
		for _, o := range found {
			names = append(names, o.GetName())
			s.look(o.GetName())
		}
		return names
	}
	orders := s.row(s.get("orders")).ID
	require.Empty(t, changed())
	s.exec(`UPDATE webhook SET delivered_at = $2 WHERE id = $1`, orders, s.clock.Now())
	require.Equal(t, []string{"orders"}, changed())
	require.Empty(t, changed(), "it is told")
	s.exec(`UPDATE webhook SET failing_since = $2 WHERE id = $1`, orders, s.clock.Now())
	require.Empty(t, changed(), "a retry may mend it")
	s.clock.Step(3 * time.Minute)
	require.Equal(t, []string{"orders"}, changed())
	require.Empty(t, changed())
	s.exec(`UPDATE webhook SET active = false, paused_at = $2 WHERE id = $1`, orders, s.clock.Now())
	require.Equal(t, []string{"orders"}, changed())
	s.exec(`UPDATE webhook SET active = true, paused_at = NULL, failing_since = NULL WHERE id = $1`, orders)
	require.Equal(t, []string{"orders"}, changed())
	require.Empty(t, changed())

	// A worker of its own begins to deliver, and does not any more.
	require.NoError(t, s.directory.SetPlan(t.Context(), s.org, "enterprise"))
	visits := s.apply("visits", func(o *v1alpha1.Webhook) { o.Spec.Delivery = v1alpha1.DedicatedDelivery })
	require.Empty(t, changed())
	s.exec(`UPDATE webhook SET lane = own_lane WHERE id = $1`, s.row(visits).ID)
	require.Equal(t, []string{"visits"}, changed())
	require.Empty(t, changed())
	s.exec(`UPDATE webhook SET lane = NULL WHERE id = $1`, s.row(visits).ID)
	require.Equal(t, []string{"visits"}, changed())
	require.Empty(t, changed())
}
