package shard

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktest "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

// world is a directory, a namespace, and a reconciler that is run by hand. It reads
// through no cache, so it sees at once what it wrote.
type world struct {
	*testing.T
	namespace string
	rules     *Rules
	again     *resource.Reconciler[*v1alpha1.Shard]
	// client is the test's own, requests are the reconciler's.
	client   client.Client
	requests *operatortest.Requests
	clock    *clocktest.FakeClock
}

const template = `
metadata: {labels: {app.kubernetes.io/instance: r}}
spec: {containers: [{name: visavis, image: "visavis:1", env: [{name: A, value: b}]}]}
`

func newWorld(t *testing.T, requests *operatortest.Requests) *world {
	t.Helper()
	config := operatortest.Config(t)
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	w := &world{
		T: t, namespace: operatortest.Namespace(t), client: operatortest.Client(t, scheme), requests: requests,
		clock: clocktest.NewFakeClock(time.Now()),
	}
	config.Wrap(requests.Wrap)
	// Finding out what the server has is no request of a reconcile.
	own, err := client.New(config, client.Options{Scheme: scheme, Mapper: w.client.RESTMapper()})
	require.NoError(t, err)
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: w.clock})
	tenants := tenant.New(d, database.PoolOptions{})
	w.rules = &Rules{
		Client: own, Reader: own, Directory: d, Tenants: tenants, Clock: w.clock, Namespace: w.namespace, PodConfig: "pods",
	}
	t.Cleanup(func() {
		tenants.Close()
		for name := range w.rules.databases.pools {
			w.rules.databases.close(name)
		}
	})
	w.again = &resource.Reconciler[*v1alpha1.Shard]{
		Kind: kind, Rules: w.rules, Client: own, Recorder: events.NewFakeRecorder(1000), Metrics: resource.NewMetrics(prometheus.NewRegistry()), Clock: w.clock,
	}
	w.create(&corev1.ConfigMap{ObjectMeta: w.at("pods"), Data: map[string]string{
		"worker.yaml": template, "portal.yaml": template, "migrate.yaml": template,
		"worker-networkpolicy.yaml": "{podSelector: {matchLabels: {app.kubernetes.io/component: worker}}, policyTypes: [Ingress]}",
	}})
	return w
}

func (w *world) at(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) create(o client.Object) {
	w.Helper()
	require.NoError(w, w.client.Create(w.Context(), o))
}

// name is that of a Shard of this test alone.
func (w *world) name(short string) string { return short + "-" + w.namespace[len("test-"):] }

// shard makes a Shard with a database; shape may change it first.
func (w *world) shard(short, databaseURL string, shape ...func(*v1alpha1.Shard)) string {
	w.Helper()
	name := w.name(short)
	if databaseURL != "" {
		w.create(&corev1.Secret{ObjectMeta: w.at(name), StringData: map[string]string{"url": databaseURL}})
	}
	s := &v1alpha1.Shard{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Database.SecretName = name
	for _, change := range shape {
		change(s)
	}
	w.create(s)
	w.Cleanup(func() {
		s := w.get(name)
		if s == nil {
			return
		}
		s.Finalizers = nil
		_ = w.client.Update(context.Background(), s)
		_ = w.client.Delete(context.Background(), s)
	})
	return name
}

// get is the Shard as it is; nil when it is gone.
func (w *world) get(name string) *v1alpha1.Shard {
	w.Helper()
	var s v1alpha1.Shard
	err := w.client.Get(context.Background(), client.ObjectKey{Name: name}, &s)
	if err != nil {
		require.NoError(w, client.IgnoreNotFound(err))
		return nil
	}
	return &s
}

func (w *world) reconcile(name string) error {
	_, err := w.again.Reconcile(w.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	return err
}

// ready reconciles and answers the condition Ready.
func (w *world) ready(name string) metav1.Condition {
	w.Helper()
	require.NoError(w, w.reconcile(name))
	return *meta.FindStatusCondition(w.get(name).Status.Conditions, v1alpha1.Ready)
}

// jobs are the Jobs of a Shard.
func (w *world) jobs(name string) []batchv1.Job {
	w.Helper()
	var jobs batchv1.JobList
	require.NoError(w, w.client.List(w.Context(), &jobs, client.InNamespace(w.namespace), client.MatchingLabels{"visavis.dev/shard": name}))
	var living []batchv1.Job
	for _, j := range jobs.Items {
		if j.DeletionTimestamp.IsZero() {
			living = append(living, j)
		}
	}
	return living
}

// end ends a Job as the cluster would.
func (w *world) end(job batchv1.Job, before, after batchv1.JobConditionType) {
	w.Helper()
	now := metav1.Now()
	job.Status.StartTime = &now
	for _, c := range []batchv1.JobConditionType{before, after} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: c, Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now,
		})
	}
	if after == batchv1.JobComplete {
		job.Status.CompletionTime = &now
	}
	require.NoError(w, w.client.Status().Update(w.Context(), &job))
}

// play does what a cluster with nodes does: Jobs complete, and Deployments have pods.
func (w *world) play(name string) {
	w.Helper()
	for _, j := range w.jobs(name) {
		if len(j.Status.Conditions) == 0 {
			w.end(j, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
		}
	}
	var all appsv1.DeploymentList
	require.NoError(w, w.client.List(w.Context(), &all, client.InNamespace(w.namespace), client.MatchingLabels{"visavis.dev/shard": name}))
	for _, d := range all.Items {
		n := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
		require.NoError(w, w.client.Status().Update(w.Context(), &d))
	}
}

// reconcileUntilReady reconciles, with a cluster that plays along, until the Shard is ready.
func (w *world) reconcileUntilReady(name string) {
	w.Helper()
	for range 6 {
		if c := w.ready(name); c.Status == metav1.ConditionTrue {
			return
		}
		w.play(name)
	}
	require.Fail(w, "it is not ready", "%+v", w.get(name).Status)
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.Helper()
	var d appsv1.Deployment
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &d))
	return &d
}

func (w *world) scaler() *Scaler {
	return NewScaler(w.rules, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

// another is a URL with another database or password.
func another(t *testing.T, from string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(from)
	require.NoError(t, err)
	change(u)
	return strings.TrimSpace(u.String())
}
