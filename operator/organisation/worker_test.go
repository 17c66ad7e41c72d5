package organisation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/store/tenant"
)

// workers notes which shard's worker runs for whom.
type workers map[string]string

func (w workers) Apply(_ context.Context, _ client.Object, shard, holder string) error {
	w[holder] = shard
	return nil
}

func (w workers) Delete(_ context.Context, _ client.Object, holder string) error {
	delete(w, holder)
	return nil
}

func TestAWorkerOfItsOwn(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	running := workers{}
	w.Workers = running
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Delivery = v1alpha1.DedicatedDelivery })
	o := w.reconciled(acme)
	w.ready(o)
	org, err := id.ParseOrg(o.Status.ID)
	require.NoError(t, err)
	require.Equal(t, workers{o.Status.ID: "a"}, running)
	dedicated := func() bool {
		own, err := delivery.Dedicated(ctx, w.Tenants, org)
		require.NoError(t, err)
		return own
	}
	require.True(t, dedicated())

	// It stays until its lane is empty: a webhook is still in it.
	hook := id.NewWebhook()
	require.NoError(t, w.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO webhook (org_id, id, url, events, include_conversation, active, api_version, secret, created_at, updated_at, lane)
			VALUES ($1, $2, 'https://example.com', '{*}', false, true, '2026-10-01', '', now(), now(), $3)`, org, hook, delivery.OrganizationLane(org))
		return err
	}))
	w.refused(w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.Delivery = v1alpha1.SharedDelivery }), v1alpha1.ReasonPending, "go back to the shard's workers")
	require.False(t, dedicated())
	require.Contains(t, running, o.Status.ID)
	require.NoError(t, w.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE webhook SET lane = NULL WHERE org_id = $1 AND id = $2`, org, hook)
		return err
	}))
	w.ready(w.reconciled(acme))
	require.Empty(t, running)

	// Given back to the API, it has the shard's workers again.
	w.ready(w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.Delivery = v1alpha1.DedicatedDelivery }))
	require.NotEmpty(t, running)
	w.change(acme, func(o *v1alpha1.Organisation) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} })
	require.False(t, dedicated())
	require.Empty(t, running)
}
