package activity_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func record(t *testing.T, tenants *tenant.Tenants, org id.Org, entries ...activity.Entry) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		for _, e := range entries {
			activity.Record(tx, e)
		}
		return nil
	}))
}

func targets(entries []activity.Entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.TargetID
	}
	return names
}

func TestPages(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	var want []string
	for i := range 11 {
		// Three at a time have the same moment.
		e := activity.Entry{At: now.Add(time.Duration(i/3) * time.Second), Action: "thing.made", TargetID: fmt.Sprint(i)}
		record(t, tenants, org, e)
		want = append([]string{e.TargetID}, want...)
	}
	record(t, tenants, other, activity.Entry{At: now, TargetID: "not to be seen"})
	for _, size := range []int{1, 2, 4, 11, 50} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			var (
				got   []string
				after *activity.Position
			)
			for range want {
				page, err := activity.List(context.Background(), tenants, org, activity.Filter{}, after, size)
				require.NoError(t, err)
				got = append(got, targets(page)...)
				if len(page) < size {
					break
				}
				last := page[len(page)-1]
				after = &activity.Position{At: last.At, ID: last.ID}
			}
			require.Equal(t, want, got)
		})
	}
}

func TestFilter(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	record(t, tenants, org,
		activity.Entry{At: now, Actor: "a", Action: "key.created", TargetKind: "key", TargetID: "1", Changes: map[string]any{"name": "x"}, Address: "192.0.2.1"},
		activity.Entry{At: now.Add(time.Second), Action: "key.revoked", TargetID: "1"},
		activity.Entry{At: now.Add(2 * time.Second), Action: "key.created", TargetID: "2"},
		activity.Entry{At: now.Add(-time.Second), Action: "portal.created", TargetID: "portal_3"})
	tests := map[string]struct {
		filter activity.Filter
		want   []string
	}{
		"none":   {activity.Filter{}, []string{"2", "1", "1", "portal_3"}},
		"action": {activity.Filter{Action: "key.created"}, []string{"2", "1"}},
		"target": {activity.Filter{TargetID: "1"}, []string{"1", "1"}},
		"bare":   {activity.Filter{TargetID: "3"}, []string{"portal_3"}},
		"from":   {activity.Filter{From: now.Add(time.Second)}, []string{"2", "1"}},
		"to":     {activity.Filter{To: now.Add(2 * time.Second)}, []string{"1", "1", "portal_3"}},
		"both":   {activity.Filter{From: now.Add(time.Second), To: now.Add(2 * time.Second)}, []string{"1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			entries, err := activity.List(context.Background(), tenants, org, tt.filter, nil, 10)
			require.NoError(t, err)
			require.Equal(t, tt.want, targets(entries))
		})
	}
	entries, err := activity.List(context.Background(), tenants, org, activity.Filter{From: now, To: now.Add(time.Second)}, nil, 10)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	e := entries[0]
	require.False(t, e.ID.IsZero())
	require.True(t, e.At.Equal(now))
	require.Equal(t, "a", e.Actor)
	require.Equal(t, "192.0.2.1", e.Address)
	require.Equal(t, map[string]any{"name": "x"}, e.Changes)
}
