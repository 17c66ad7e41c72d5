package resource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktest "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
)

// script is the rules of a kind that does as it is told, and notes what was asked of it.
type script struct {
	err  error
	done []string
}

func (s *script) note(what string) error {
	s.done = append(s.done, what)
	return s.err
}

func (s *script) Apply(context.Context, *v1alpha1.Webhook) error   { return s.note("apply") }
func (s *script) Delete(context.Context, *v1alpha1.Webhook) error  { return s.note("delete") }
func (s *script) Release(context.Context, *v1alpha1.Webhook) error { return s.note("release") }

// world is a resource, and what reconciles it.
type world struct {
	*testing.T
	rules  *script
	client client.Client
	writes int
	*resource.Reconciler[*v1alpha1.Webhook]
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	w := &world{T: t, rules: &script{}}
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.Webhook{}).WithObjects(webhook("orders", "5", 0)).Build()
	counted := interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			w.writes++
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			w.writes++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
	w.Reconciler = &resource.Reconciler[*v1alpha1.Webhook]{
		Kind: "Webhook", Rules: w.rules, Client: counted, Recorder: events.NewFakeRecorder(100),
		Metrics: resource.NewMetrics(prometheus.NewRegistry()), Clock: clocktest.NewFakeClock(began),
	}
	return w
}

var orders = client.ObjectKey{Namespace: "acme", Name: "orders"}

// look reconciles, and answers what was written and when to look again.
func (w *world) look() (writes int, again time.Duration, err error) {
	w.Helper()
	w.writes = 0
	result, err := w.Reconcile(w.Context(), reconcile.Request{NamespacedName: orders})
	return w.writes, result.RequeueAfter, err
}

func (w *world) get() *v1alpha1.Webhook {
	w.Helper()
	var o v1alpha1.Webhook
	require.NoError(w, w.client.Get(w.Context(), orders, &o))
	return &o
}

func (w *world) ready() metav1.Condition {
	w.Helper()
	c := meta.FindStatusCondition(w.get().Status.Conditions, v1alpha1.Ready)
	require.NotNil(w, c)
	return *c
}

// Of a resource in a namespace that is not served it is said, and nothing else is done,
// not even where it is deleted.
func TestANamespaceThatIsNotServed(t *testing.T) {
	w := newWorld(t)
	w.Served = resource.Serving("platform", "team")
	writes, _, err := w.look()
	require.NoError(t, err)
	require.Equal(t, 1, writes, "the status")
	require.Equal(t, []string{"False", v1alpha1.ReasonNamespaceNotServed}, []string{string(w.ready().Status), w.ready().Reason})
	require.Contains(t, w.ready().Message, "namespace acme: add it to operator.namespaces")
	require.Empty(t, w.get().Finalizers)
	writes, _, err = w.look()
	require.NoError(t, err)
	require.Zero(t, writes)

	w.Served = resource.Serving("platform", "acme")
	_, _, err = w.look()
	require.NoError(t, err)
	require.Equal(t, metav1.ConditionTrue, w.ready().Status)
	require.NoError(t, w.client.Delete(t.Context(), w.get()))
	w.Served = resource.Serving("platform")
	_, _, err = w.look()
	require.NoError(t, err)
	require.Contains(t, w.ready().Message, "Its deletion waits for that.")
	require.Equal(t, []string{"apply"}, w.rules.done)
	w.Served = resource.Serving("platform", resource.EveryNamespace)
	_, _, err = w.look()
	require.NoError(t, err)
	require.Equal(t, []string{"apply", "delete"}, w.rules.done)
}

func TestAStatusIsWrittenOnTransitionsAlone(t *testing.T) {
	w := newWorld(t)
	writes, again, err := w.look()
	require.NoError(t, err)
	require.Equal(t, 2, writes, "the finalizer and the status")
	require.Contains(t, w.get().Finalizers, v1alpha1.Finalizer)
	require.Equal(t, metav1.ConditionTrue, w.ready().Status)
	require.GreaterOrEqual(t, again, 10*time.Minute)

	writes, _, err = w.look()
	require.NoError(t, err)
	require.Zero(t, writes)

	w.rules.err = resource.Pending(time.Second, "It waits.")
	for _, want := range []int{1, 0} {
		writes, again, err = w.look()
		require.NoError(t, err, "an answer is no failure")
		require.Equal(t, want, writes)
		require.Equal(t, time.Second, again)
	}
	require.Equal(t, "It waits.", w.ready().Message)

	// What a failure says is for the log.
	w.rules.err = errors.New("connect: password hunter2 is wrong")
	_, _, err = w.look()
	require.ErrorIs(t, err, w.rules.err, "it is tried again, with a growing pause")
	require.Equal(t, metav1.ConditionUnknown, w.ready().Status)
	require.NotContains(t, w.ready().Message, "hunter2")
}

func TestHowAResourceEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.Webhook)
		want   string
	}{
		"deleted":               {func(*v1alpha1.Webhook) {}, "delete"},
		"orphaned":              {func(o *v1alpha1.Webhook) { o.Spec.DeletionPolicy = v1alpha1.OrphanPolicy }, "release"},
		"released, and deleted": {func(o *v1alpha1.Webhook) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} }, "release"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, _, err := w.look()
			require.NoError(t, err)
			o := w.get()
			c.change(o)
			require.NoError(t, w.client.Update(t.Context(), o))
			require.NoError(t, w.client.Delete(t.Context(), o))

			w.rules.err, w.rules.done = resource.Pending(time.Second, "Rows go."), nil
			_, again, err := w.look()
			require.NoError(t, err)
			require.Equal(t, time.Second, again)
			require.Equal(t, v1alpha1.ReasonDeleting, w.ready().Reason)

			w.rules.err = nil
			_, _, err = w.look()
			require.NoError(t, err)
			require.Equal(t, []string{c.want, c.want}, w.rules.done)
			require.Error(t, w.client.Get(t.Context(), orders, o), "nothing holds it any more")
		})
	}
}
