package portal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
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
	"visavis.dev/operator/portal"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/personas/avatar"
	rows "visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a platform with the organizations acme and other on one shard, and a cluster
// with their resources.
type world struct {
	*portal.Rules
	t           *testing.T
	crash       *databasetest.Crash
	clock       *clocktest.FakeClock
	acme, other id.Org
	objects     client.Client
	// failing counts down to the request to the API server that fails.
	failing, wrote int
	// hide keeps from the operator's cache what does not have its label, as the real one
	// does.
	hide      bool
	reconcile *resource.Reconciler[*v1alpha1.Portal]
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, crash: &databasetest.Crash{}, clock: clocktest.NewFakeClock(now)}
	w.Rules = rules(t, w.crash, w.clock)
	require.NoError(t, w.Directory.AddShard(context.Background(), "a", databasetest.URL(t, database.Shard)))
	s := runtime.NewScheme()
	require.NoError(t, networkingv1.AddToScheme(s))
	require.NoError(t, v1alpha1.AddToScheme(s))
	b := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&v1alpha1.Portal{}, &v1alpha1.Organisation{})
	for field, value := range portal.Indexes {
		b = b.WithIndex(&v1alpha1.Portal{}, field, value)
	}
	w.objects = b.Build()
	w.Client = interceptor.NewClient(w.objects.(client.WithWatch), w.failures())
	w.Reader = w.objects
	w.acme, w.other = w.organisation("acme"), w.organisation("other")
	w.reconcile = &resource.Reconciler[*v1alpha1.Portal]{
		Kind: portal.Kind, Rules: w.Rules, Client: w.Client, Recorder: events.NewFakeRecorder(1000),
		Metrics: resource.NewMetrics(prometheus.NewRegistry()), Clock: w.clock,
	}
	return w
}

func rules(t *testing.T, crash *databasetest.Crash, c *clocktest.FakeClock) *portal.Rules {
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
	gallery, err := template.Load()
	require.NoError(t, err)
	return &portal.Rules{
		Directory: d, Tenants: tenants, Addresses: &rows.Addresses{Directory: d, Tenants: tenants, Clock: c}, Gallery: gallery,
		Library: avatar.NewLibrary(), Catalogue: catalogue, Clock: c, Namespace: "visavis", Instance: "visavis", IngressClass: "nginx",
		PortalURL: "https://portals.example.com", PublicURL: "https://api.example.com", LiveURL: "wss://live.example.com",
	}
}

// organization makes one, with a resource of the name in the namespace of the name.
func (w *world) organisation(name string) id.Org {
	w.t.Helper()
	ctx := context.Background()
	o := directory.Organization{ID: id.NewOrg(), Slug: name, Region: "eu", Timezone: "UTC", Shard: "a", Epoch: 1, Plan: "business", CreatedAt: now}
	require.NoError(w.t, organization.Create(ctx, w.Directory, w.Tenants, o))
	r := &v1alpha1.Organisation{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name}}
	require.NoError(w.t, w.objects.Create(ctx, r))
	r.Status.ID = o.ID.String()
	require.NoError(w.t, w.objects.Status().Update(ctx, r))
	return o.ID
}

// ingresses are those that there are.
func (w *world) ingresses() []networkingv1.Ingress {
	w.t.Helper()
	var list networkingv1.IngressList
	require.NoError(w.t, w.objects.List(context.Background(), &list))
	return list.Items
}

var errRequest = errors.New("the API server does not answer")

// failures count what is written and fail the request that is to.
func (w *world) failures() interceptor.Funcs {
	request := func(do func() error) error {
		w.wrote++
		if w.failing--; w.failing == 0 {
			return errRequest
		}
		return do()
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			if i, ok := o.(*networkingv1.Ingress); ok && err == nil && w.hide && i.Labels["app.kubernetes.io/managed-by"] == "" {
				err = apierrors.NewNotFound(networkingv1.Resource("ingresses"), key.Name)
			}
			return err
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return request(func() error { return c.Create(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return request(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return request(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return request(func() error { return c.Delete(ctx, o, opts...) })
		},
	}
}

// apply makes a resource that can go live, a second after the one before.
func (w *world) apply(namespace, name string, change func(*v1alpha1.Portal)) types.NamespacedName {
	w.t.Helper()
	w.clock.Step(time.Second)
	o := &v1alpha1.Portal{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + "-" + name), CreationTimestamp: metav1.NewTime(w.clock.Now()), Generation: 1,
		},
		Spec: v1alpha1.PortalSpec{
			Organisation: v1alpha1.OrganisationReference{Name: namespace}, Name: "The museum", Template: "museum_guide",
			Answers:   map[string]string{},
			Speaker:   v1alpha1.PortalSpeaker{AvatarID: id.NamedAvatar("amara").String(), VoiceID: id.NamedVoice("nora").String()},
			Languages: []string{"en"}, Privacy: v1alpha1.PortalPrivacy{PrivacyURL: "https://example.com/privacy"},
			Visitors: &v1alpha1.VisitorsDoor{},
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
func (w *world) reconciled(which types.NamespacedName) *v1alpha1.Portal {
	w.t.Helper()
	require.NoError(w.t, w.look(which))
	return w.get(which)
}

func (w *world) get(which types.NamespacedName) *v1alpha1.Portal {
	w.t.Helper()
	var o v1alpha1.Portal
	require.NoError(w.t, w.objects.Get(context.Background(), which, &o))
	return &o
}

func (w *world) change(which types.NamespacedName, change func(*v1alpha1.Portal)) *v1alpha1.Portal {
	w.t.Helper()
	o := w.get(which)
	change(o)
	o.Generation++
	require.NoError(w.t, w.objects.Update(context.Background(), o))
	return w.reconciled(which)
}

func (w *world) condition(o *v1alpha1.Portal, kind string) metav1.Condition {
	w.t.Helper()
	c := meta.FindStatusCondition(o.Status.Conditions, kind)
	require.NotNil(w.t, c, kind)
	return *c
}

func (w *world) ready(o *v1alpha1.Portal) {
	w.t.Helper()
	c := w.condition(o, v1alpha1.Ready)
	require.Equal(w.t, metav1.ConditionTrue, c.Status, "%s: %s", c.Reason, c.Message)
}

func (w *world) refused(o *v1alpha1.Portal, reason, message string) {
	w.t.Helper()
	c := w.condition(o, v1alpha1.Ready)
	require.Equal(w.t, metav1.ConditionFalse, c.Status)
	require.Equal(w.t, reason, c.Reason, c.Message)
	require.Contains(w.t, c.Message, message)
}

func (w *world) row(o *v1alpha1.Portal) rows.Portal {
	w.t.Helper()
	org, err := id.ParseOrg(o.Status.OrganisationID)
	require.NoError(w.t, err)
	which, err := id.ParsePortal(o.Status.ID)
	require.NoError(w.t, err)
	p, err := rows.Get(context.Background(), w.Tenants, org, which)
	require.NoError(w.t, err)
	return p
}

// shard is where both organizations live.
func (w *world) shard() *database.DB {
	w.t.Helper()
	db, err := w.Tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	return db
}
