package organisation_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktest "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

// spec is that of a resource that the API server takes.
func spec(slug string) v1alpha1.OrganisationSpec {
	return v1alpha1.OrganisationSpec{
		Name: "Acme", Slug: slug, Plan: "starter", APIKey: &v1alpha1.OrganisationKey{Scopes: []string{"webhooks:manage"}},
	}
}

func TestTheAPIServerRefuses(t *testing.T) {
	c, namespace := operatortest.Client(t, scheme(t)), operatortest.Namespace(t)
	made := &v1alpha1.Organisation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "made"}, Spec: spec("made")}
	require.NoError(t, c.Create(t.Context(), made))
	require.Equal(t, []string{"eu", "UTC", "2026-10-01", "Delete"}, []string{
		made.Spec.Region, made.Spec.Timezone, made.Spec.APIKey.APIVersion, string(made.Spec.DeletionPolicy),
	})
	for name, refused := range map[string]struct {
		change  func(*v1alpha1.OrganisationSpec)
		message string
	}{
		"slug":   {func(s *v1alpha1.OrganisationSpec) { s.Slug = "other" }, "slug cannot be changed"},
		"region": {func(s *v1alpha1.OrganisationSpec) { s.Region = "us" }, "region cannot be changed"},
		"key": {func(s *v1alpha1.OrganisationSpec) {
			s.APIKey = &v1alpha1.OrganisationKey{Scopes: []string{"webhooks:manage"}, FullAccess: true}
		}, "give either scopes or fullAccess: true"},
		"no scope": {func(s *v1alpha1.OrganisationSpec) { s.APIKey = &v1alpha1.OrganisationKey{} }, "give either scopes or fullAccess: true"},
	} {
		o := made.DeepCopy()
		refused.change(&o.Spec)
		require.ErrorContains(t, c.Update(t.Context(), o), refused.message, name)
	}
	placed := &v1alpha1.Organisation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "placed"}, Spec: spec("placed")}
	placed.Spec.Shard = "a"
	require.NoError(t, c.Create(t.Context(), placed))
	placed.Spec.Shard = "b"
	require.NoError(t, c.Update(t.Context(), placed), "it moves")
	placed.Spec.Shard = ""
	require.ErrorContains(t, c.Update(t.Context(), placed), "shard cannot be left out any more")
}

// The younger of two with one slug has it as soon as the older goes, and a Secret that
// goes is made again, by what the operator watches.
func TestUnderAManager(t *testing.T) {
	c, namespace := operatortest.Client(t, scheme(t)), operatortest.Namespace(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	r := rules(t, &databasetest.Crash{}, clocktest.NewFakeClock(now), bucket)
	require.NoError(t, r.Directory.AddShard(t.Context(), "a", databasetest.URL(t, database.Shard)))
	mgr, err := ctrl.NewManager(operatortest.Config(t), ctrl.Options{
		Scheme: scheme(t), Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(t, err)
	r.Client, r.Reader = mgr.GetClient(), mgr.GetAPIReader()
	require.NoError(t, r.SetupWithManager(mgr, resource.NewMetrics(prometheus.NewRegistry())))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-done) })

	reason := func(name, want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			var o v1alpha1.Organisation
			require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &o))
			found := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Ready)
			return found != nil && found.Reason == want
		}, 30*time.Second, 50*time.Millisecond, "%s is %s", name, want)
	}
	older := &v1alpha1.Organisation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "older"}, Spec: spec(namespace)}
	require.NoError(t, c.Create(t.Context(), older))
	reason("older", v1alpha1.ReasonReady)
	younger := &v1alpha1.Organisation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "younger"}, Spec: spec(namespace)}
	require.NoError(t, c.Create(t.Context(), younger))
	reason("younger", v1alpha1.ReasonConflict)

	before, after := secretOf(t, c, older, ""), ""
	require.NoError(t, c.Delete(t.Context(), before))
	require.Eventually(t, func() bool {
		found := secretOf(t, c, older, string(before.UID))
		if found != nil {
			after = string(found.Data["key"])
		}
		return found != nil
	}, 30*time.Second, 50*time.Millisecond)
	require.NotEqual(t, string(before.Data["key"]), after)

	require.NoError(t, c.Delete(t.Context(), older))
	reason("younger", v1alpha1.ReasonReady)
}

// secretOf is the Secret of a resource, but for one with a uid; nil for none.
func secretOf(t *testing.T, c client.Client, o *v1alpha1.Organisation, but string) *corev1.Secret {
	t.Helper()
	var found corev1.Secret
	err := c.Get(t.Context(), client.ObjectKey{Namespace: o.Namespace, Name: o.Name + "-api-key"}, &found)
	if apierrors.IsNotFound(err) || string(found.UID) == but {
		return nil
	}
	require.NoError(t, err)
	return &found
}
