package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/bench/quiet"
	"visavis.dev/operator/operatortest"
)

// Webhooks that are applied at once are brought about without a burst, with three writes
// each: the finalizer, the Secret, the status. Looking at all of them again writes
// nothing.
func TestTheOperatorIsQuiet(t *testing.T) {
	const webhooks, perSecond = 100, 20
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	figures, err := quiet.Measure(ctx, quiet.Options{
		Config: operatortest.Config(t), Namespace: operatortest.Namespace(t), Webhooks: webhooks, PerSecond: perSecond,
		Rules: w.rules(), Org: w.org,
	})
	require.NoError(t, err)
	require.LessOrEqual(t, figures.Made.Busiest(time.Second), perSecond)
	require.Equal(t, 3*webhooks, figures.Made.Writes())
	require.Zero(t, figures.Again.Writes())
	require.Less(t, figures.Again.Requests(), 30, "a list and a watch of each kind")
	require.LessOrEqual(t, figures.Again.Busiest(time.Second), perSecond)
}
