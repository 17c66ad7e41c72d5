package organisation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktest "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"visavis.dev/config"
	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/organisation"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a platform with the shard a, and a cluster.
type world struct {
	*organisation.Rules
	t       *testing.T
	crash   *databasetest.Crash
	clock   *clocktest.FakeClock
	bucket  *blob.Bucket
	objects client.Client
	// failing counts down to the request to the API server that fails.
	failing   int
	wrote     int
	reconcile *resource.Reconciler[*v1alpha1.Organisation]
}

var errRequest = errors.New("the API server does not answer")

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, appsv1.AddToScheme(s))
	require.NoError(t, corev1.AddToScheme(s))
	require.NoError(t, v1alpha1.AddToScheme(s))
	return s
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{t: t, crash: &databasetest.Crash{}, clock: clocktest.NewFakeClock(now), bucket: memblob.OpenBucket(nil)}
	t.Cleanup(func() { require.NoError(t, w.bucket.Close()) })
	w.Rules = rules(t, w.crash, w.clock, w.bucket)
	require.NoError(t, w.Directory.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))

	b := fake.NewClientBuilder().WithScheme(scheme(t)).WithStatusSubresource(&v1alpha1.Organisation{})
	for field, value := range organisation.Indexes {
		b = b.WithIndex(&v1alpha1.Organisation{}, field, value)
	}
	w.objects = b.Build()
	w.Client = interceptor.NewClient(w.objects.(client.WithWatch), w.failures())
	w.Reader = w.objects
	w.reconcile = &resource.Reconciler[*v1alpha1.Organisation]{
		Kind: organisation.Kind, Rules: w.Rules, Client: w.Client, Recorder: events.NewFakeRecorder(1000),
		Metrics: resource.NewMetrics(prometheus.NewRegistry()), Clock: w.clock,
	}
	return w
}

func rules(t *testing.T, crash *databasetest.Crash, c *clocktest.FakeClock, bucket *blob.Bucket) *organisation.Rules {
	t.Helper()
	pool := database.PoolOptions{Tracer: crash}
	db, err := database.Open(databasetest.URL(t, database.Directory), pool)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	d := directory.New(db, directory.Options{Clock: c})
	tenants := tenant.New(d, pool)
	t.Cleanup(tenants.Close)
	catalogue, err := plan.Parse(config.Plans, rate.SpecRates())
	require.NoError(t, err)
	return &organisation.Rules{
		Directory: d, Tenants: tenants, Keys: &apikey.Store{DB: db}, Catalogue: catalogue, Files: file.New(bucket, tenants, c), Clock: c,
		Workers: noWorkers{},
	}
}

// noWorkers runs none.
type noWorkers struct{}

func (noWorkers) Apply(context.Context, client.Object, string, string) error { return nil }
func (noWorkers) Delete(context.Context, client.Object, string) error        { return nil }

// failures count what is written and fail the request that is to.
func (w *world) failures() interceptor.Funcs {
	request := func() error {
		w.wrote++
		if w.failing--; w.failing == 0 {
			return errRequest
		}
		return nil
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return errors.Join(request(), notAfter(w.failing == 0, func() error { return c.Create(ctx, o, opts...) }))
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return errors.Join(request(), notAfter(w.failing == 0, func() error { return c.Patch(ctx, o, p, opts...) }))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return errors.Join(request(), notAfter(w.failing == 0, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) }))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return errors.Join(request(), notAfter(w.failing == 0, func() error { return c.Delete(ctx, o, opts...) }))
		},
	}
}

func notAfter(failed bool, do func() error) error {
	if failed {
		return nil
	}
	return do()
}

// apply makes a resource, a second after the one before.
func (w *world) apply(namespace, name string, change func(*v1alpha1.Organisation)) types.NamespacedName {
	w.t.Helper()
	w.clock.Step(time.Second)
	o := &v1alpha1.Organisation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + "-" + name), CreationTimestamp: metav1.NewTime(w.clock.Now()), Generation: 1,
		},
		Spec: v1alpha1.OrganisationSpec{
			Name: "Acme", Slug: "acme", Region: "eu", Timezone: "Europe/Zurich", Plan: "starter",
			APIKey: &v1alpha1.OrganisationKey{Scopes: []string{"webhooks:manage"}, APIVersion: "2026-10-01"},
		},
	}
	if change != nil {
		change(o)
	}
	require.NoError(w.t, w.objects.Create(context.Background(), o))
	return client.ObjectKeyFromObject(o)
}

// look reconciles a resource.
func (w *world) look(which types.NamespacedName) error {
	w.clock.Step(time.Second)
	_, err := w.reconcile.Reconcile(context.Background(), reconcile.Request{NamespacedName: which})
	return err
}

// reconciled is a resource after it was reconciled.
func (w *world) reconciled(which types.NamespacedName) *v1alpha1.Organisation {
	w.t.Helper()
	require.NoError(w.t, w.look(which))
	return w.get(which)
}

func (w *world) get(which types.NamespacedName) *v1alpha1.Organisation {
	w.t.Helper()
	var o v1alpha1.Organisation
	require.NoError(w.t, w.objects.Get(context.Background(), which, &o))
	return &o
}

func (w *world) change(which types.NamespacedName, change func(*v1alpha1.Organisation)) *v1alpha1.Organisation {
	w.t.Helper()
	o := w.get(which)
	change(o)
	o.Generation++
	require.NoError(w.t, w.objects.Update(context.Background(), o))
	return w.reconciled(which)
}

func (w *world) ready(o *v1alpha1.Organisation) {
	w.t.Helper()
	c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Ready)
	require.NotNil(w.t, c)
	require.Equal(w.t, metav1.ConditionTrue, c.Status, c.Message)
	require.Equal(w.t, o.Generation, o.Status.ObservedGeneration)
}

func (w *world) refused(o *v1alpha1.Organisation, reason, message string) {
	w.t.Helper()
	c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Ready)
	require.NotNil(w.t, c)
	require.Equal(w.t, metav1.ConditionFalse, c.Status)
	require.Equal(w.t, reason, c.Reason, c.Message)
	require.Contains(w.t, c.Message, message)
}

func (w *world) row(o *v1alpha1.Organisation) directory.Organization {
	w.t.Helper()
	org, err := id.ParseOrg(o.Status.ID)
	require.NoError(w.t, err)
	row, err := w.Directory.Organization(context.Background(), org)
	require.NoError(w.t, err)
	return row
}

func (w *world) secret(o *v1alpha1.Organisation) *corev1.Secret {
	w.t.Helper()
	var s corev1.Secret
	require.NoError(w.t, w.objects.Get(context.Background(), types.NamespacedName{Namespace: o.Namespace, Name: o.Status.APIKey.SecretName}, &s))
	return &s
}

// opens says whether a text is a key that opens the API, and whose.
func (w *world) opens(text []byte) (*apikey.Principal, error) {
	a := apikey.NewAuthenticator(w.Keys, w.Catalogue, apikey.Options{Clock: w.clock})
	return a.Authenticate(context.Background(), string(text))
}

// valid counts the organization's keys that open anything.
func (w *world) valid(org id.Org) (n int) {
	w.t.Helper()
	keys, err := w.Keys.List(context.Background(), org, nil, 100)
	require.NoError(w.t, err)
	for _, k := range keys {
		if k.Usable(w.clock.Now()) {
			n++
		}
	}
	return n
}
