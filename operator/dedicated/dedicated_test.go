package dedicated_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/dedicated"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
)

const holder = "wh_0683mPq2v9XKf1sTn7ZQ4b"

func shared(shard string) *appsv1.Deployment {
	labels := map[string]string{pods.ComponentLabel: pods.Worker, pods.ShardLabel: shard}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "visavis", Name: shard + "-worker", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(8)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{pods.ShardLabel: shard, pods.LaneLabel: "shared"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{pods.ShardLabel: shard, pods.LaneLabel: "shared"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "visavis", Image: "visavis:1", Args: []string{"worker", "--shard", shard}}}},
			},
		},
	}
}

func TestWorkers(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, v1alpha1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(shared("eu"), shared("us")).Build()
	w := &dedicated.Workers{Writer: child.Writer{Client: c, Reader: c}, Namespace: "visavis"}
	owner := &v1alpha1.Webhook{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "orders", UID: "42"}}
	own := func() []appsv1.Deployment {
		t.Helper()
		var found appsv1.DeploymentList
		require.NoError(t, c.List(t.Context(), &found, client.MatchingLabels{pods.LaneLabel: holder}))
		return found.Items
	}
	var refused *resource.Refusal
	require.ErrorAs(t, w.Apply(t.Context(), owner, "mars", holder), &refused)
	require.Equal(t, v1alpha1.ReasonPending, refused.Reason)

	require.NoError(t, w.Apply(t.Context(), owner, "eu", holder))
	require.Len(t, own(), 1)
	d := own()[0]
	require.Regexp(t, `^eu-worker-[0-9a-f]{10}$`, d.Name)
	require.EqualValues(t, 1, *d.Spec.Replicas)
	require.Equal(t, []string{"worker", "--shard", "eu", "--dedicated", holder}, d.Spec.Template.Spec.Containers[0].Args)
	require.Equal(t, "visavis:1", d.Spec.Template.Spec.Containers[0].Image)
	require.Equal(t, holder, d.Spec.Template.Labels[pods.LaneLabel])
	require.Equal(t, holder, d.Spec.Selector.MatchLabels[pods.LaneLabel], "the shared ones do not select its pods")
	require.False(t, dedicated.Shared(&d))
	require.True(t, dedicated.Shared(shared("eu")))
	version := d.ResourceVersion
	require.NoError(t, w.Apply(t.Context(), owner, "eu", holder))
	require.Equal(t, version, own()[0].ResourceVersion, "nothing differs")

	require.NoError(t, w.Apply(t.Context(), owner, "us", holder))
	require.Len(t, own(), 1, "an organization that moved takes it along")
	require.Regexp(t, `^us-worker-`, own()[0].Name)
	other := owner.DeepCopy()
	other.UID = "43"
	require.NoError(t, w.Delete(t.Context(), other, holder))
	require.Len(t, own(), 1, "another's is left")
	require.NoError(t, w.Delete(t.Context(), owner, holder))
	require.Empty(t, own())
	require.NoError(t, w.Delete(t.Context(), owner, holder))

	// Who has the row has the worker, and one that ended early finds its own.
	require.NoError(t, w.Apply(t.Context(), owner, "us", holder))
	require.ErrorAs(t, w.Apply(t.Context(), other, "us", holder), &refused)
	require.Equal(t, "The worker that Webhook acme/orders had for it ends.", refused.Message)
	require.NoError(t, w.Apply(t.Context(), other, "us", holder))
	require.Contains(t, own()[0].Annotations[child.OwnerAnnotation], "/43")
	require.NoError(t, w.Delete(t.Context(), owner, ""))
	require.Len(t, own(), 1)
	require.NoError(t, w.Delete(t.Context(), other, ""))
	require.Empty(t, own())
}
