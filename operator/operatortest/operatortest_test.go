package operatortest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { Main(m) }

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	return scheme
}

func TestNamespace(t *testing.T) {
	c := Client(t, testScheme(t))
	one, two := Namespace(t), Namespace(t)
	require.NotEqual(t, one, two)

	var list corev1.NamespaceList
	require.NoError(t, c.List(t.Context(), &list))
	var names []string
	for _, namespace := range list.Items {
		names = append(names, namespace.Name)
	}
	require.Subset(t, names, []string{"default", one, two})
}

// A manager sees neither another test's namespace nor its objects without one.
func TestCache(t *testing.T) {
	scheme := testScheme(t)
	c := Client(t, scheme)
	mine, other := Namespace(t), Namespace(t)
	for _, namespace := range []string{mine, other} {
		require.NoError(t, c.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: namespace},
		}))
		require.NoError(t, c.Create(t.Context(), &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: Labels(namespace)},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp"}},
			},
		}))
	}

	options := Cache(mine, &corev1.PersistentVolume{})
	options.Scheme = scheme
	seen, err := cache.New(Config(t), options)
	require.NoError(t, err)
	go func() { _ = seen.Start(t.Context()) }()
	require.True(t, seen.WaitForCacheSync(t.Context()))

	var volumes corev1.PersistentVolumeList
	require.NoError(t, seen.List(t.Context(), &volumes))
	require.Len(t, volumes.Items, 1)
	require.Equal(t, mine, volumes.Items[0].Name)

	var settings corev1.ConfigMap
	require.NoError(t, seen.Get(t.Context(), client.ObjectKey{Namespace: mine, Name: "settings"}, &settings))
	require.Error(t, seen.Get(t.Context(), client.ObjectKey{Namespace: other, Name: "settings"}, &settings))
}
