package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/process/worker"
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

func TestTasks(t *testing.T) {
	for names, want := range map[string]worker.Tasks{
		"": worker.EveryTask(), "read": {Read: true}, "deliver jobs": {Deliver: true, Jobs: true}, "jobs read deliver": worker.EveryTask(),
	} {
		got, err := (&settings{tasks: strings.Fields(names)}).chosen()
		require.NoError(t, err)
		require.Equal(t, want, got, names)
	}
	_, err := (&settings{tasks: []string{"deliver", "cook"}}).chosen()
	require.ErrorContains(t, err, `"cook" is none of deliver, jobs, read`)
}
