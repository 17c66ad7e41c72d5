package organisation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
)

// lose takes a resource and its finalizer away, as a cluster that is lost does.
func (w *world) lose(o *v1alpha1.Organisation) {
	w.t.Helper()
	o.Finalizers = nil
	require.NoError(w.t, w.objects.Update(context.Background(), o))
	require.NoError(w.t, w.objects.Delete(context.Background(), o))
}

// In a cluster made anew on the databases of a lost one, the same manifest has another
// uid: it goes on with what was there, and a Secret that was kept has the same key.
func TestAClusterMadeAnew(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.reconciled(acme)
	row, secret := w.row(o), w.secret(o)
	w.lose(o)
	secret.OwnerReferences = nil
	require.NoError(t, w.objects.Update(ctx, secret))

	again := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.UID = "another" })
	o = w.reconciled(again)
	w.ready(o)
	require.Equal(t, row.ID.String(), o.Status.ID)
	require.Contains(t, string(w.row(o).ManagedBy), "/another")
	require.Equal(t, secret.Data["key"], w.secret(o).Data["key"])
	require.Len(t, w.secret(o).OwnerReferences, 1)
	_, err := w.opens(secret.Data["key"])
	require.NoError(t, err)
	require.Equal(t, 1, w.valid(row.ID))

	// Another name is another's.
	w.refused(w.reconciled(w.apply("other", "main", nil)), v1alpha1.ReasonConflict, "acme")
}

// A directory that was restored without an organization gets it back where its data are.
func TestADirectoryThatForgot(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.reconciled(acme)
	org := w.row(o).ID
	require.NoError(t, w.Directory.AddShard(ctx, "0", databasetest.URL(t, database.Shard)))
	_, err := w.Directory.DB.Exec(ctx, `
		WITH secrets AS (DELETE FROM api_key_secret), keys AS (DELETE FROM api_key) DELETE FROM organization WHERE id = $1`, org)
	require.NoError(t, err)
	o = w.reconciled(acme)
	w.ready(o)
	require.Equal(t, org.String(), o.Status.ID)
	require.Equal(t, "a", w.row(o).Shard)
}

// A deletion that has begun is not stopped by another policy: parts are gone.
func TestAnOrphanOfADeletion(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.reconciled(acme)
	row := w.row(o)
	require.NoError(t, w.Directory.Condemn(ctx, row.ID, row.ManagedBy))
	o.Spec.DeletionPolicy = v1alpha1.OrphanPolicy
	require.NoError(t, w.objects.Update(ctx, o))
	require.NoError(t, w.objects.Delete(ctx, o))
	require.NoError(t, w.look(acme))
	require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, acme, &v1alpha1.Organisation{})))
	_, err := w.Directory.Organization(ctx, row.ID)
	require.ErrorIs(t, err, directory.ErrUnknown)
}

// What a resource manages is deleted with it, whatever its annotations say by then.
func TestAMistypedAnnotation(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	row := w.row(w.reconciled(acme))
	o := w.change(acme, func(o *v1alpha1.Organisation) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "org_typo"}
	})
	w.refused(o, v1alpha1.ReasonInvalid, "org_typo")
	require.NoError(t, w.objects.Delete(ctx, o))
	require.NoError(t, w.look(acme))
	_, err := w.Directory.Organization(ctx, row.ID)
	require.ErrorIs(t, err, directory.ErrUnknown)
}

// Who loses an organization to an older resource loses the key to it.
func TestTheKeyOfALoser(t *testing.T) {
	w := newWorld(t)
	older := w.apply("acme", "older", func(o *v1alpha1.Organisation) { o.Spec.Slug = "elsewhere" })
	younger := w.apply("acme", "younger", nil)
	o := w.reconciled(younger)
	row, key := w.row(o), w.secret(o).Data["key"]
	_, err := w.opens(key)
	require.NoError(t, err)
	o = w.change(older, func(o *v1alpha1.Organisation) {
		o.Spec.Slug, o.Annotations = "acme", map[string]string{v1alpha1.AdoptAnnotation: row.ID.String()}
	})
	w.ready(o)
	_, err = w.opens(key)
	require.Error(t, err)
	require.Equal(t, 1, w.valid(row.ID))
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "Organisation acme/older")
}
