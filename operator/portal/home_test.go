package portal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"visavis.dev/operator/apis/v1alpha1"
	rows "visavis.dev/pkg/portals/portal"
)

// In a cluster made anew on the databases of a lost one, the same manifest has another
// uid: it goes on with what was there, and deletes that when it goes.
func TestWhatAResourceOfTheNameLeft(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", nil)
	o := w.reconciled(museum)
	made := w.row(o)
	o.Finalizers = nil
	require.NoError(t, w.objects.Update(ctx, o))
	require.NoError(t, w.objects.Delete(ctx, o))

	o = w.reconciled(w.apply("acme", "museum", func(o *v1alpha1.Portal) { o.UID = "another" }))
	w.ready(o)
	require.Equal(t, made.ID.String(), o.Status.ID)
	require.Equal(t, made.Slug, w.row(o).Slug)
	require.Contains(t, string(w.row(o).ManagedBy), "/another")
	// Another namespace's resource of the name is another portal's.
	require.NotEqual(t, made.ID.String(), w.reconciled(w.apply("other", "museum", nil)).Status.ID)

	require.NoError(t, w.objects.Delete(ctx, w.get(museum)))
	require.NoError(t, w.look(museum))
	p, err := rows.Get(ctx, w.Tenants, w.acme, made.ID)
	require.NoError(t, err)
	require.Equal(t, rows.Archived, p.State)
}

// A portal is not left behind in an organization that another one replaced.
func TestAnotherOrganisationOfTheName(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", nil)
	w.ready(w.reconciled(museum))
	var organisation v1alpha1.Organisation
	require.NoError(t, w.objects.Get(ctx, types.NamespacedName{Namespace: "acme", Name: "acme"}, &organisation))
	organisation.Status.ID = w.other.String()
	require.NoError(t, w.objects.Status().Update(ctx, &organisation))
	o := w.reconciled(museum)
	w.refused(o, v1alpha1.ReasonInvalid, "Delete it and make it again")
	require.Equal(t, w.acme.String(), o.Status.OrganisationID)
}
