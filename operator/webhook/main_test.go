package webhook_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
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
	"visavis.dev/operator/resource"
	"visavis.dev/operator/webhook"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/vault"
	store "visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

// world is a shard with two organizations, on a clock that the test moves.
type world struct {
	t          *testing.T
	tenants    *tenant.Tenants
	directory  *directory.Directory
	org, other id.Org
	vault      *vault.Vault
	catalogue  *plan.Catalogue
	clock      *clocktest.FakeClock
	workers    workers
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), workers: workers{}}
	w.tenants, w.directory, w.org, w.other = tenanttest.NewDirected(t)
	var err error
	w.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	w.catalogue, err = plan.Parse(config.Plans, rate.SpecRates())
	require.NoError(t, err)
	require.NoError(t, w.directory.SetOverrides(t.Context(), w.org, plan.Overrides{Limits: plan.Limits{plan.Webhooks: nil}}))
	return w
}

func (w *world) rules() webhook.Rules {
	return webhook.Rules{
		Directory: w.directory, Tenants: w.tenants, Vault: w.vault, Catalogue: w.catalogue, Clock: w.clock, Workers: w.workers,
		Guard: egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}),
	}
}

const namespace = "customers"

// stage is a world with a cluster of its own: resources that are reconciled one look at
// a time.
type stage struct {
	*world
	client     client.Client
	reconciler *resource.Reconciler[*v1alpha1.Webhook]
	recorder   *events.FakeRecorder
	// writes counts the requests that change something; crash, where it is set, is
	// asked before and after each whether the process ends there.
	writes int
	crash  func() error
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{world: newWorld(t), recorder: events.NewFakeRecorder(1000)}
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	s.client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&v1alpha1.Webhook{}, &v1alpha1.Organisation{}).
		WithObjects(&v1alpha1.Organisation{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"},
			Status:     v1alpha1.OrganisationStatus{ID: s.org.String(), Shard: "a"},
		}).Build()
	rules := s.rules()
	rules.Reader = s.client
	rules.Client = interceptor.NewClient(s.client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return s.written(func() error { return c.Create(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return s.written(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return s.written(func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return s.written(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
	s.reconciler = &resource.Reconciler[*v1alpha1.Webhook]{
		Kind: webhook.Kind, Rules: &rules, Client: rules.Client, Recorder: s.recorder,
		Metrics: resource.NewMetrics(prometheus.NewRegistry()), Clock: s.clock,
	}
	return s
}

func (s *stage) written(write func() error) error {
	s.writes++
	if s.crash == nil {
		return write()
	}
	if err := s.crash(); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	return s.crash()
}

// apply makes a resource, or changes it; changes alter it before.
func (s *stage) apply(name string, changes ...func(*v1alpha1.Webhook)) *v1alpha1.Webhook {
	s.t.Helper()
	o := &v1alpha1.Webhook{}
	err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o)
	made := apierrors.IsNotFound(err)
	if made {
		o = &v1alpha1.Webhook{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, UID: types.UID(name + "-uid"), Generation: 1, CreationTimestamp: metav1.NewTime(s.clock.Now()),
			},
			Spec: v1alpha1.WebhookSpec{
				Organisation: v1alpha1.OrganisationReference{Name: "acme"}, URL: "https://192.0.2.1/" + name, Events: []string{"session.ended"},
				APIVersion: "2026-10-01", DeletionPolicy: v1alpha1.DeletePolicy, Delivery: v1alpha1.SharedDelivery,
			},
		}
	} else {
		require.NoError(s.t, err)
		o.Generation++
	}
	for _, change := range changes {
		change(o)
	}
	if made {
		require.NoError(s.t, s.client.Create(s.t.Context(), o))
	} else {
		require.NoError(s.t, s.client.Update(s.t.Context(), o))
	}
	return s.look(name)
}

// look reconciles a resource and reads it; nil once it is gone.
func (s *stage) look(name string) *v1alpha1.Webhook {
	s.t.Helper()
	require.NoError(s.t, s.try(name))
	return s.get(name)
}

func (s *stage) try(name string) error {
	_, err := s.reconciler.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
	return err
}

func (s *stage) get(name string) *v1alpha1.Webhook {
	s.t.Helper()
	var o v1alpha1.Webhook
	err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(s.t, err)
	return &o
}

// secret is the entry of a Secret; empty where there is none.
func (s *stage) secret(name string) string {
	s.t.Helper()
	var found corev1.Secret
	err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &found)
	require.NoError(s.t, client.IgnoreNotFound(err))
	return string(found.Data["secret"])
}

// row is the webhook of a resource; it must be there.
func (s *stage) row(o *v1alpha1.Webhook) store.Declared {
	s.t.Helper()
	found, err := store.FindDeclared(s.t.Context(), s.tenants, s.org, resource.Managing(webhook.Kind, o))
	require.NoError(s.t, err)
	require.NotNil(s.t, found)
	return *found
}

// signs is what signs a webhook's deliveries.
func (s *stage) signs(o *v1alpha1.Webhook) string {
	s.t.Helper()
	row := s.row(o)
	text, err := store.OpenSecret(s.vault, row.ID, row.Sealed)
	require.NoError(s.t, err)
	return string(text)
}

// live counts the organization's webhooks.
func (s *stage) live() int {
	s.t.Helper()
	found, err := store.List(s.t.Context(), s.tenants, s.org, id.Webhook{}, 100)
	require.NoError(s.t, err)
	return len(found)
}

// exec runs a statement on the shard.
func (s *stage) exec(sql string, args ...any) {
	s.t.Helper()
	db, err := s.tenants.Shard(s.t.Context(), "a")
	require.NoError(s.t, err)
	_, err = db.Exec(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
}

// requireCondition asserts a condition's status and reason, and answers its message.
func requireCondition(t *testing.T, o *v1alpha1.Webhook, kind string, status metav1.ConditionStatus, reason string) string {
	t.Helper()
	c := meta.FindStatusCondition(o.Status.Conditions, kind)
	require.NotNil(t, c, "%s", kind)
	require.Equal(t, status, c.Status, "%s: %s", c.Reason, c.Message)
	require.Equal(t, reason, c.Reason, "%s", c.Message)
	return c.Message
}

func requireReady(t *testing.T, o *v1alpha1.Webhook) {
	t.Helper()
	requireCondition(t, o, v1alpha1.Ready, metav1.ConditionTrue, v1alpha1.ReasonReady)
}
