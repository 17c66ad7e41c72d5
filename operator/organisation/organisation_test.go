package organisation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	"visavis.dev/pkg/apikey"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/database"
	"visavis.dev/pkg/database/databasetest"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/file"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/managed"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/rate"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/tenant"
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

// settled is a resource after it was reconciled.
func (w *world) settled(which types.NamespacedName) *v1alpha1.Organisation {
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
	return w.settled(which)
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

// valid counts the organisation's keys that open anything.
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

func TestMade(t *testing.T) {
	w := newWorld(t)
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) {
		o.Spec.Limits = map[string]string{"webhooks": "7", "read": "10/20"}
	})
	o := w.settled(acme)
	w.ready(o)
	require.Equal(t, "acme", o.Status.Slug)
	require.Equal(t, "a", o.Status.Shard)
	row := w.row(o)
	require.Equal(t, directory.Active, row.State)
	require.Equal(t, "Organisation acme/main", row.ManagedBy.String())
	require.EqualValues(t, 7, *row.Overrides.Limits[plan.Webhooks])

	s := w.secret(o)
	require.True(t, metav1.IsControlledBy(s, o))
	require.Equal(t, "visavis-operator", s.Labels["app.kubernetes.io/managed-by"])
	require.Equal(t, o.Status.APIKey.ID, string(s.Data["keyId"]))
	require.Equal(t, "2026-10-01", string(s.Data["apiVersion"]))
	p, err := w.opens(s.Data["key"])
	require.NoError(t, err)
	require.Equal(t, row.ID, p.Org.ID)
	require.Equal(t, []scope.Scope{scope.WebhooksManage}, p.Key.Scopes)

	w.wrote = 0
	require.Equal(t, o.ResourceVersion, w.settled(acme).ResourceVersion)
	require.Zero(t, w.wrote, "nothing is written where nothing differs")
}

func TestDriftIsPutRight(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Limits = map[string]string{"webhooks": "7"} })
	o := w.settled(acme)
	_, err := w.Directory.DB.Exec(ctx, `UPDATE organization SET name = 'x', plan = 'team', timezone = 'UTC', overrides = '{}', paused_at = now()`)
	require.NoError(t, err)
	w.ready(w.settled(acme))
	row := w.row(o)
	require.Equal(t, []string{"Acme", "starter", "Europe/Zurich"}, []string{row.Name, row.Plan, row.Timezone})
	require.EqualValues(t, 7, *row.Overrides.Limits[plan.Webhooks])
	require.Nil(t, row.PausedAt)

	w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.Limits, o.Spec.Paused, o.Spec.Plan = nil, true, "business" })
	row = w.row(o)
	require.Empty(t, row.Overrides.Limits)
	require.NotNil(t, row.PausedAt)
	require.Equal(t, "business", row.Plan)
}

func TestWhatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*v1alpha1.Organisation)
		reason, message string
	}{
		"plan":     {func(o *v1alpha1.Organisation) { o.Spec.Plan = "gold" }, v1alpha1.ReasonInvalid, `There is no plan "gold"; the plans are`},
		"limit":    {func(o *v1alpha1.Organisation) { o.Spec.Limits = map[string]string{"luck": "1"} }, v1alpha1.ReasonInvalid, "The limit luck cannot be"},
		"number":   {func(o *v1alpha1.Organisation) { o.Spec.Limits = map[string]string{"webhooks": "many"} }, v1alpha1.ReasonInvalid, "webhooks"},
		"timezone": {func(o *v1alpha1.Organisation) { o.Spec.Timezone = "Mars/Base" }, v1alpha1.ReasonInvalid, `There is no time zone "Mars/Base"`},
		"slug":     {func(o *v1alpha1.Organisation) { o.Spec.Name, o.Spec.Slug = "***", "" }, v1alpha1.ReasonInvalid, "give spec.slug"},
		"shard":    {func(o *v1alpha1.Organisation) { o.Spec.Shard = "b" }, v1alpha1.ReasonPending, "The Shard b is not there yet."},
		"adoption": {func(o *v1alpha1.Organisation) {
			o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: id.NewOrg().String()}
		}, v1alpha1.ReasonInvalid, "to adopt"},
		"scope": {func(o *v1alpha1.Organisation) { o.Spec.APIKey.Scopes = []string{"everything"} }, v1alpha1.ReasonInvalid, `There is no scope "everything"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.refused(w.settled(w.apply("acme", "main", c.change)), c.reason, c.message)
		})
	}
}

func TestTheShardIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Shard = "b" })
	w.refused(w.settled(acme), v1alpha1.ReasonPending, "Shard b")
	require.NoError(t, w.Directory.AddShard(context.Background(), "b", databasetest.URL(t, database.Shard)))
	o := w.settled(acme)
	w.ready(o)
	require.Equal(t, "b", o.Status.Shard)
	_, err := w.Directory.DB.Exec(context.Background(), `UPDATE shard SET tier = 'dedicated' WHERE name = 'b'`)
	require.NoError(t, err)
	for _, name := range []string{"x", "y"} {
		o = w.settled(w.apply("acme", name, func(o *v1alpha1.Organisation) { o.Spec.Slug = name }))
		require.Equal(t, "a", o.Status.Shard, "the fewest, of those that take any")
	}
}

func TestOfTwoWithOneSlugTheOlderHasIt(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	older, younger := w.apply("acme", "main", nil), w.apply("other", "main", nil)
	w.refused(w.settled(younger), v1alpha1.ReasonConflict, "Organisation acme/main, which is older")
	w.ready(w.settled(older))
	w.refused(w.settled(younger), v1alpha1.ReasonConflict, "Organisation acme/main")
	require.NoError(t, w.objects.Delete(ctx, w.get(older)))
	require.NoError(t, w.look(older))
	w.ready(w.settled(younger))
}

func TestAdoptedAndReleased(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.settled(acme)
	first := w.row(o).ID
	key := w.secret(o).Data["key"]

	o = w.change(acme, func(o *v1alpha1.Organisation) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} })
	w.refused(o, v1alpha1.ReasonReleased, "managed through the API")
	require.Equal(t, managed.API, w.row(o).ManagedBy)
	require.Empty(t, w.secret(o).OwnerReferences, "the Secret outlives the resource")
	require.NoError(t, w.objects.Delete(ctx, o))
	_, err := w.opens(key)
	require.NoError(t, err)

	next := w.apply("acme", "again", func(o *v1alpha1.Organisation) { o.Spec.Slug = "" })
	w.refused(w.settled(next), v1alpha1.ReasonConflict, first.String()) // the slug of its name is the first's
	o = w.change(next, func(o *v1alpha1.Organisation) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: first.String()}
	})
	w.ready(o)
	require.Equal(t, first.String(), o.Status.ID)
	require.Equal(t, "Organisation acme/again", w.row(o).ManagedBy.String())

	late := w.apply("acme", "late", func(o *v1alpha1.Organisation) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: first.String()}
	})
	o = w.settled(late)
	w.refused(o, v1alpha1.ReasonConflict, "Organisation acme/again, which is older")
	require.NoError(t, w.objects.Delete(ctx, o))
	require.NoError(t, w.look(late))
	require.Equal(t, "Organisation acme/again", w.row(w.get(next)).ManagedBy.String(), "it deletes nothing of another's")
}

func TestDeleted(t *testing.T) {
	for policy, want := range map[v1alpha1.DeletionPolicy]error{v1alpha1.DeletePolicy: directory.ErrUnknown, v1alpha1.OrphanPolicy: nil} {
		t.Run(string(policy), func(t *testing.T) {
			w, ctx := newWorld(t), context.Background()
			acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.DeletionPolicy = policy })
			o := w.settled(acme)
			row := w.row(o)
			require.NoError(t, w.objects.Delete(ctx, o))
			require.NoError(t, w.look(acme))
			require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, acme, &v1alpha1.Organisation{})))
			found, err := w.Directory.Organization(ctx, row.ID)
			require.ErrorIs(t, err, want)
			if want == nil {
				require.Equal(t, managed.API, found.ManagedBy)
				require.Equal(t, 1, w.valid(row.ID))
			}
		})
	}
}

func TestADeletionTellsHowFarItIs(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.settled(acme)
	shard, err := w.Tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = shard.Exec(ctx, `INSERT INTO org_counter (org_id, name, value) SELECT $1, n::TEXT, 1 FROM generate_series(1, 21000) n`, w.row(o).ID)
	require.NoError(t, err)
	require.NoError(t, w.objects.Delete(ctx, o))
	w.refused(w.settled(acme), v1alpha1.ReasonDeleting, "Everything that it owns is being deleted: rows of org_counter.")
	require.NoError(t, w.look(acme))
	require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, acme, &v1alpha1.Organisation{})))
}

func TestTheKey(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.settled(acme)
	org, first := w.row(o).ID, w.secret(o)

	// Changed scopes and contract change the key in place.
	o = w.change(acme, func(o *v1alpha1.Organisation) {
		o.Spec.APIKey.Scopes, o.Spec.APIKey.FullAccess, o.Spec.APIKey.APIVersion = nil, true, "2026-07-08"
	})
	w.ready(o)
	require.Equal(t, first.Data["key"], w.secret(o).Data["key"])
	require.Equal(t, "2026-07-08", string(w.secret(o).Data["apiVersion"]))
	p, err := w.opens(first.Data["key"])
	require.NoError(t, err)
	require.True(t, p.Key.FullAccess)
	require.Equal(t, contract.V20260708, p.Key.Contract)

	// A Secret that goes makes another key.
	require.NoError(t, w.objects.Delete(ctx, w.secret(o)))
	o = w.settled(acme)
	w.ready(o)
	second := w.secret(o)
	_, err = w.opens(first.Data["key"])
	require.ErrorIs(t, err, apikey.ErrUnauthorized)
	_, err = w.opens(second.Data["key"])
	require.NoError(t, err)
	require.Equal(t, 1, w.valid(org))

	// So does a key that was revoked or rotated elsewhere, and a Secret without sense.
	for name, spoil := range map[string]func(id.Key){
		"revoked": func(k id.Key) { require.NoError(t, w.Keys.Revoke(ctx, org, k, w.clock.Now())) },
		"rotated": func(k id.Key) {
			require.NoError(t, w.Keys.Rotate(ctx, org, k, apikey.NewSecret(apikey.Live).Hash(), "xxxx", w.clock.Now(), w.clock.Now()))
		},
		"spoilt": func(id.Key) {
			s := w.secret(w.get(acme))
			s.Data["key"] = []byte("vsk_live_nonsense")
			require.NoError(t, w.objects.Update(ctx, s))
		},
	} {
		k, err := id.ParseKey(w.get(acme).Status.APIKey.ID)
		require.NoError(t, err)
		w.clock.Step(time.Second)
		spoil(k)
		o = w.settled(acme)
		w.ready(o)
		p, err = w.opens(w.secret(o).Data["key"])
		require.NoError(t, err, name)
		require.NotEqual(t, k, p.Key.ID)
		require.Equal(t, 1, w.valid(org), name)
	}

	// A Secret that names another key names none.
	s := w.secret(o)
	s.Data["keyId"] = []byte(id.NewKey().String())
	require.NoError(t, w.objects.Update(ctx, s))
	o = w.settled(acme)
	require.Equal(t, o.Status.APIKey.ID, string(w.secret(o).Data["keyId"]))

	o = w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.APIKey.SecretName = "elsewhere" })
	w.ready(o)
	require.Equal(t, "elsewhere", w.secret(o).Name)
	require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, client.ObjectKeyFromObject(s), &corev1.Secret{})))
	require.Equal(t, 1, w.valid(org))

	o = w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.APIKey = nil })
	w.ready(o)
	require.Nil(t, o.Status.APIKey)
	require.Zero(t, w.valid(org))
}

func TestASecretOfAnothersIsLeftAlone(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "main-api-key"}, Data: map[string][]byte{"key": []byte("theirs")}}
	require.NoError(t, w.objects.Create(ctx, theirs))
	o := w.settled(w.apply("acme", "main", nil))
	w.refused(o, v1alpha1.ReasonConflict, "A Secret main-api-key exists that is not this Organisation's.")
	require.NoError(t, w.objects.Get(ctx, client.ObjectKeyFromObject(theirs), theirs))
	require.Equal(t, "theirs", string(theirs.Data["key"]))
	require.Zero(t, w.valid(w.row(o).ID))
}

// Wherever the operator dies, there is one organisation with one key in the end.
func TestACrashAnywhereConverges(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	converges := func(name string, arm func(int), disarm func() bool) {
		for at := 1; ; at++ {
			slug := fmt.Sprintf("%s-%d", name, at)
			which := w.apply("acme", slug, func(o *v1alpha1.Organisation) { o.Spec.Slug = slug })
			arm(at)
			err := w.look(which)
			if !disarm() {
				require.NoError(t, err)
				require.Greater(t, at, 3, "all were tried")
				return
			}
			o := w.settled(which)
			w.ready(o)
			org := w.row(o).ID
			var n int
			require.NoError(t, w.Directory.DB.QueryRow(ctx, `SELECT count(*) FROM organization WHERE slug = $1`, slug).Scan(&n))
			require.Equal(t, 1, n)
			require.Equal(t, 1, w.valid(org), "%s %d", name, at)
			p, err := w.opens(w.secret(o).Data["key"])
			require.NoError(t, err, "%s %d", name, at)
			require.Equal(t, o.Status.APIKey.ID, p.Key.ID.String())
		}
	}
	converges("statement", func(at int) { w.crash.Arm(at) }, func() bool { return w.crash.Arm(0) })
	converges("request", func(at int) { w.failing = at }, func() bool {
		failed := w.failing <= 0
		w.failing = 0
		return failed
	})
}
