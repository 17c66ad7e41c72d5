package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

var orders = managed.Resource{Kind: "Webhook", Namespace: "acme", Name: "orders", UID: "42"}.By()

func TestWhoManagesAWebhook(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mine, declared := s.add(s.one), draft()
	declared.ManagedBy = orders
	require.True(t, s.insert(s.one, declared, webhook.NewSecret(), plan.Terms{}))
	lock := func(w id.Webhook, who managed.By) error {
		return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := webhook.LockFor(ctx, tx, w, who)
			return err
		})
	}
	require.NoError(t, lock(mine, managed.API))
	require.NoError(t, lock(declared.ID, orders))
	var refused *managed.Error
	require.ErrorAs(t, lock(declared.ID, managed.API), &refused)
	require.Equal(t, orders, refused.By)
	require.ErrorAs(t, lock(mine, orders), &refused)
	require.ErrorIs(t, lock(id.NewWebhook(), orders), errdefs.NotFound{Noun: webhook.Noun})
	require.ErrorAs(t, s.delete(s.one, declared.ID), &refused)

	found, err := webhook.FindDeclared(t.Context(), s.tenants, s.one, orders)
	require.NoError(t, err)
	require.Equal(t, declared.ID, found.ID)
	for _, org := range []id.Org{s.one, s.two} {
		other, err := webhook.FindDeclared(t.Context(), s.tenants, org, "Webhook/acme/other/43")
		require.NoError(t, err)
		require.Nil(t, other)
	}
	again := draft()
	again.ManagedBy = orders
	require.Error(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := webhook.Insert(ctx, tx, s.vault, again, webhook.NewSecret(), plan.Terms{}, nil, who)
		return err
	}), "a resource declares one")
}

func TestARotationForAReasonHappensOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w, first := draft(), webhook.NewSecret()
	w.ManagedBy = orders
	require.True(t, s.insert(s.one, w, first, plan.Terms{}))
	var secrets []webhook.Secret
	for _, r := range []struct {
		reason  string
		rotates bool
	}{{"a", true}, {"a", false}, {"b", true}} {
		require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			d, err := webhook.LockDeclared(ctx, tx, orders)
			if err != nil {
				return err
			}
			rotated, err := d.RotateFor(ctx, tx, s.vault, r.reason, time.Hour, who)
			require.Equal(t, r.rotates, rotated, r.reason)
			return err
		}))
		d, err := webhook.FindDeclared(t.Context(), s.tenants, s.one, orders)
		require.NoError(t, err)
		secret, err := webhook.OpenSecret(s.vault, d.ID, d.Sealed)
		require.NoError(t, err)
		secrets = append(secrets, secret)
	}
	require.NotEqual(t, first, secrets[0])
	require.Equal(t, secrets[0], secrets[1])
	require.NotEqual(t, secrets[1], secrets[2])
}

func TestDeclaredWebhooksRideTheirIndexes(t *testing.T) {
	t.Parallel()
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO webhook (org_id, id, url, events, include_conversation, active, api_version, secret, created_at, updated_at, managed_by)
		SELECT $1, gen_random_uuid(), '', '{*}', false, true, $2, '', now(), now(), 'Webhook/a/b/' || i FROM generate_series(1, 2000) AS g (i)`,
		org, contract.Latest)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `ANALYZE webhook`)
	require.NoError(t, err)
	for _, s := range sent.Of(t, "managed_by = $2", func() error {
		_, err := webhook.FindDeclared(t.Context(), tenants, org, "Webhook/a/b/7")
		return err
	}) {
		require.Contains(t, s.Free(t, db), "webhook_managed")
	}
	for _, s := range sent.Of(t, "UNION", func() error {
		_, err := webhook.Conditions(t.Context(), tenants, "a", time.Now())
		return err
	}) {
		for _, index := range []string{"webhook_failing", "webhook_delivered", "webhook_by_own_lane"} {
			require.Contains(t, s.Free(t, db), index)
		}
		require.NotContains(t, s.Free(t, db), "Seq Scan on webhook")
	}
}
