// Package operatortest gives tests a real Kubernetes API server: kube-apiserver
// and etcd, with no node and no controllers. All packages of a run share one,
// whose kubeconfig the environment names (make test starts it); without that a
// package starts its own from KUBEBUILDER_ASSETS and stops it at the end.
//
// Each test works in a namespace of its own. What has no namespace is labelled
// with the test's, and a manager is held to both by Cache, since other tests
// use the same server at the same time. Without controllers nothing is garbage
// collected and a namespace never goes: a test looks at owners and deletion
// timestamps instead.
package operatortest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// Env names the kubeconfig of the server that the packages of a run share.
	Env = "VISAVIS_TEST_KUBERNETES"

	// AssetsEnv names the folder with kube-apiserver and etcd.
	AssetsEnv = "KUBEBUILDER_ASSETS"

	// Label holds the namespace of the test that an object without one is of.
	Label = "test.visavis.dev/namespace"
)

var shared *rest.Config

// Main runs a package's tests with a server. Call it from TestMain.
func Main(m *testing.M) { os.Exit(Around{m}.Run()) }

// Around runs a package's tests with a server, within what else they need, such as
// databasetest.Main.
type Around struct{ *testing.M }

// Run is the code to exit with.
func (a Around) Run() int {
	code, err := run(a.M)
	if err != nil {
		fmt.Fprintln(os.Stderr, "operatortest:", err)
		code = 1
	}
	return code
}

func run(m *testing.M) (code int, err error) {
	// Without a logger controller-runtime prints where it was first asked to log.
	ctrllog.SetLogger(logr.Discard())
	path := os.Getenv(Env)
	if path == "" && os.Getenv(AssetsEnv) == "" {
		return m.Run(), nil
	}
	if path == "" {
		var stop func() error
		if path, stop, err = Start(); err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if shared, err = clientcmd.BuildConfigFromFlags("", path); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// Config reaches the server as its administrator, with no limit to the rate of
// requests. A test is skipped where there is no server.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	if err := dependOnDefinitions(); err != nil {
		t.Fatal(err)
	}
	if shared == nil {
		t.Skipf("no Kubernetes API server: neither %s nor %s is set; run go run ./hack/withkube go test …", Env, AssetsEnv)
	}
	config := rest.CopyConfig(shared)
	config.QPS = -1
	return config
}

// Client reads and writes through no cache.
func Client(t testing.TB, scheme *runtime.Scheme) client.Client {
	t.Helper()
	c, err := client.New(Config(t), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("client: %v", err)
	}
	return c
}

// Namespace makes one for a test. Its name is good for a part of the names of
// what has no namespace.
func Namespace(t testing.TB) string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	name := "test-" + strings.ToLower(rand.Text()[:12])
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := Client(t, scheme).Create(context.Background(), namespace); err != nil {
		t.Fatalf("namespace: %v", err)
	}
	return name
}

// Labels go on objects that have no namespace, for Cache to find.
func Labels(namespace string) map[string]string { return map[string]string{Label: namespace} }

// Cache holds a manager to what one test made: its namespace, and of the kinds
// without one the objects with its Labels.
func Cache(namespace string, withoutNamespace ...client.Object) cache.Options {
	options := cache.Options{
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		ByObject:          map[client.Object]cache.ByObject{},
	}
	for _, object := range withoutNamespace {
		options.ByObject[object] = cache.ByObject{Label: labels.SelectorFromSet(Labels(namespace))}
	}
	return options
}
