package consent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func record(t *testing.T, tenants *tenant.Tenants, org id.Org, at time.Time) consent.Consent {
	t.Helper()
	c := consent.Consent{
		ID: id.NewConsent(), Kind: consent.Likeness, State: consent.Given, Avatar: id.NewAvatar(), Statement: "synthetic",
		PolicyVersion: consent.PolicyVersion, PersonName: "Ada", SignedAt: now, RecordedAt: at, RecordedBy: "test",
	}
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		return consent.Record(ctx, tx, c)
	}))
	return c
}

func TestPages(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	var want []id.Consent
	for i := range 7 {
		c := record(t, tenants, org, now.Add(time.Duration(i/3)*time.Second))
		want = append([]id.Consent{c.ID}, want...)
	}
	record(t, tenants, other, now)
	for _, size := range []int{1, 2, 7, 50} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			var (
				got   []id.Consent
				after *consent.Position
			)
			for range want {
				page, err := consent.List(context.Background(), tenants, org, consent.Filter{}, after, size)
				require.NoError(t, err)
				for _, c := range page {
					got, after = append(got, c.ID), &consent.Position{At: c.RecordedAt, ID: c.ID}
				}
				if len(page) < size {
					break
				}
			}
			require.Equal(t, want, got)
		})
	}
}

func TestWithdraw(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	c, ctx := record(t, tenants, org, now), context.Background()
	withdraw := func(org id.Org, at time.Time) (got consent.Consent, changed bool, err error) {
		err = tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			got, changed, err = consent.Withdraw(ctx, tx, c.ID, at)
			return err
		})
		return got, changed, err
	}
	_, _, err := withdraw(other, now)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: consent.Noun})
	_, err = consent.Get(ctx, tenants, other, c.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: consent.Noun})

	got, changed, err := withdraw(org, now.Add(time.Hour))
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, consent.Withdrawn, got.State)
	got, changed, err = withdraw(org, now.Add(2*time.Hour))
	require.NoError(t, err)
	require.False(t, changed)
	require.True(t, got.WithdrawnAt.Equal(now.Add(time.Hour)), "the first moment stays")

	record(t, tenants, org, now)
	for name, tt := range map[string]struct {
		filter consent.Filter
		want   int
	}{
		"none": {consent.Filter{}, 2}, "state": {consent.Filter{State: consent.Withdrawn}, 1},
		"avatar": {consent.Filter{Avatar: c.Avatar}, 1}, "kind": {consent.Filter{Kind: "voice"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := consent.List(ctx, tenants, org, tt.filter, nil, 10)
			require.NoError(t, err)
			require.Len(t, found, tt.want)
		})
	}
}
