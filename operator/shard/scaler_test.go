package shard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

func (w *world) emptyDeployment() *appsv1.Deployment { return &appsv1.Deployment{} }

func TestScaling(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", databasetest.URL(t, database.Shard), func(s *v1alpha1.Shard) {
		s.Spec.Workers.MaxReplicas, s.Spec.Workers.TargetBacklogSeconds = 3, 10
		s.Spec.Portals.MinReplicas = 2
		s.Spec.Portals.Scaling = external
	})
	w.reconcileUntilReady(name)
	scaler := w.scaler()
	round := func(workers int32, writes int) {
		t.Helper()
		w.requests.Writes()
		require.NoError(t, scaler.Round(t.Context()))
		require.Len(t, w.requests.Writes(), writes)
		require.Equal(t, workers, *w.deployment(name + "-worker").Spec.Replicas)
		require.EqualValues(t, 1, *w.deployment(name + "-portal").Spec.Replicas, "somebody else's")
	}
	round(1, 0)

	o := directory.Organization{ID: id.NewOrg(), Slug: "one", Shard: name, Epoch: 1, CreatedAt: w.clock.Now()}
	require.NoError(t, organization.Create(t.Context(), w.rules.Directory, w.rules.Tenants, o))
	db, err := w.rules.Tenants.Shard(t.Context(), name)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO job (org_id, id, kind, state, input, progress, done, total, resource_kind, resource_id, scope, error_code, attempts,
			created_by, created_at, due_at)
		VALUES ($1, gen_random_uuid(), 'erase', 'queued', '{}', '{}', 0, -1, '', '', '', '', 0, '', $2, $2)`, o.ID, w.clock.Now().Add(-time.Minute))
	require.NoError(t, err)
	round(2, 1)
	round(3, 1)
	round(3, 0)
	_, err = db.Exec(t.Context(), `DELETE FROM job`)
	require.NoError(t, err)
	round(3, 0)
	w.clock.Step(5 * time.Minute)
	round(2, 1)
	round(2, 0)
	w.clock.Step(5 * time.Minute)
	round(1, 1)

	// The reconciler leaves their number alone.
	w.play(name)
	require.NoError(t, w.reconcile(name))
	w.requests.Writes()
	require.NoError(t, w.reconcile(name))
	require.Empty(t, w.requests.Writes())
	require.EqualValues(t, 1, w.get(name).Status.Organisations)
}
