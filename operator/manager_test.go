package operator

import (
	"context"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/platform"
	"visavis.dev/pkg/database"
	"visavis.dev/pkg/database/databasetest"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

const pod = `
metadata: {labels: {app.kubernetes.io/instance: r}}
spec: {containers: [{name: visavis, image: "visavis:1"}]}
`

// A manager as it is in a cluster brings a Shard about, and hands its lease over.
func TestManager(t *testing.T) {
	config := operatortest.Config(t)
	scheme, err := NewScheme()
	require.NoError(t, err)
	c, namespace := operatortest.Client(t, scheme), operatortest.Namespace(t)
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: clock.RealClock{}})
	tenants := tenant.New(d, database.PoolOptions{})
	t.Cleanup(tenants.Close)
	mgr, err := New(config, 20, &platform.Platform{
		Directory: d, Tenants: tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Namespace: namespace, PodConfig: "pods",
	}, func(o *ctrl.Options) {
		maps.Copy(o.Cache.ByObject, operatortest.Cache(namespace, &v1alpha1.Shard{}).ByObject)
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()

	at := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	name := "a-" + namespace[len("test-"):]
	shard := &v1alpha1.Shard{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: operatortest.Labels(namespace)}}
	shard.Spec.Database.SecretName = "a"
	for _, o := range []client.Object{
		&corev1.Secret{ObjectMeta: at("a"), StringData: map[string]string{"url": databasetest.URL(t, database.Shard)}},
		shard,
		// Once the Shard waits for it: its watch wakes the Shard.
		&corev1.ConfigMap{ObjectMeta: at("pods"), Data: map[string]string{"worker.yaml": pod, "portal.yaml": pod, "migrate.yaml": pod}},
	} {
		require.NoError(t, c.Create(ctx, o))
	}
	t.Cleanup(func() {
		shard.Finalizers = nil
		_ = c.Update(context.Background(), shard)
		_ = c.Delete(context.Background(), shard)
	})
	eventually := func(what string, is func() bool) {
		t.Helper()
		require.Eventually(t, is, time.Minute, 50*time.Millisecond, what)
	}
	var job batchv1.Job
	eventually("a Job", func() bool {
		var jobs batchv1.JobList
		require.NoError(t, c.List(ctx, &jobs, client.InNamespace(namespace)))
		if len(jobs.Items) > 0 {
			job = jobs.Items[0]
		}
		return len(jobs.Items) == 1
	})
	now := metav1.Now()
	job.Status.StartTime, job.Status.CompletionTime = &now, &now
	for _, condition := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	require.NoError(t, c.Status().Update(ctx, &job))
	for _, role := range []string{"worker", "portal"} {
		var deployment appsv1.Deployment
		eventually("a Deployment", func() bool {
			return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name + "-" + role}, &deployment) == nil
		})
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		}
		require.NoError(t, c.Status().Update(ctx, &deployment))
	}
	eventually("it is ready", func() bool {
		require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(shard), shard))
		return meta.IsStatusConditionTrue(shard.Status.Conditions, v1alpha1.Ready)
	})
	entry, err := d.Shard(ctx, name)
	require.NoError(t, err)
	require.Equal(t, directory.Shared, entry.Tier)

	stop()
	require.NoError(t, <-ended)
	var lease coordinationv1.Lease
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: LeaseName}, &lease))
	require.Empty(t, *lease.Spec.HolderIdentity, "another operator need not wait for its end")
}

// What somebody labels as the operator's is not kept in memory whatever its size.
func TestLargeSecretsAreNotCached(t *testing.T) {
	s := &corev1.Secret{Data: map[string][]byte{"secret": []byte("whsec_1"), "junk": make([]byte, 1<<20)}}
	kept, err := slim(s)
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"secret": []byte("whsec_1")}, kept.(*corev1.Secret).Data)
}
