package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/delivery"
	"visavis.dev/pkg/id"
)

func TestLane(t *testing.T) {
	w, org := id.NewWebhook(), id.NewOrg()
	for holder, want := range map[string]int64{
		"": 0, w.String(): delivery.WebhookLane(w), org.String(): delivery.OrganizationLane(org),
	} {
		got, err := lane(holder)
		require.NoError(t, err)
		require.Equal(t, want, got, holder)
	}
	for _, holder := range []string{"orders", w.Bare(), "key_" + w.Bare()} {
		_, err := lane(holder)
		require.ErrorContains(t, err, "dedicated", holder)
	}
}
