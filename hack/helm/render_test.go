// Package helm_test tests the chart charts/visavis: what it renders, decoded as strictly
// as the API server does and judged by the pod security standards.
package helm_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const (
	release   = "vis"
	namespace = "platform"
)

// everything switches on what is off by default.
const everything = `
database: {url: "postgres://visavis:secret@db:5432/directory"}
image: {repository: registry.example.com/visavis, digest: sha256:0000000000000000000000000000000000000000000000000000000000000000}
imagePullSecrets: [registry]
files: {url: "s3://bucket"}
hints: {enabled: true}
plans: |
  plans: []
settings: {log-level: debug, trusted-proxy: [10.0.0.0/8], address-limit: 6000}
pods:
  labels: {team: platform}
  annotations: {note: x}
  envFrom: [{secretRef: {name: bucket}}]
  nodeSelector: {disk: fast}
  tolerations: [{key: dedicated, operator: Exists}]
  affinity: {nodeAffinity: {}}
  priorityClassName: high
serviceAccount: {annotations: {role: files}}
operator: {namespaces: [team-a, team-b]}
shards:
  - name: shard-1
    tier: Dedicated
    database: {secretName: shard-1, key: url}
    workers: {minReplicas: 2, maxReplicas: 4, targetBacklogSeconds: 30, scaling: External, resources: {requests: {cpu: 100m}}}
    portals: {minReplicas: 2, maxReplicas: 4, sessionsPerPod: 100}
    pods: {nodeSelector: {pool: one}, tolerations: [{key: one, operator: Exists}], priorityClassName: high}
    deletionPolicy: Orphan
ingress:
  enabled: true
  className: nginx
  hosts: {api: api.example.com, portal: portal.example.com, live: live.example.com}
  tls: {clusterIssuer: letsencrypt}
networkPolicy:
  clusterCIDRs: [34.118.224.0/20, 2600:1900::/28, "fd00::/8"]
  databaseCIDRs: [10.1.2.3/32]
  databasePeers: [{podSelector: {matchLabels: {app: cockroachdb}}}]
  apiServerCIDRs: [10.0.0.1/32]
  extraEgress: [{ports: [{protocol: TCP, port: 9000}], to: [{podSelector: {}}]}]
monitoring:
  podMonitor: {enabled: true}
  rules: {enabled: true}
  dashboard: {enabled: true}
`

// least is what nobody can leave out.
const least = `
database: {secretName: directory}
image: {repository: registry.example.com/visavis}
`

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir("../../charts/visavis")
	require.NoError(t, err)
	return c
}

// templates renders the chart, by the template's name, with nothing in the cluster.
func templates(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	return templatesOn(t, values, cluster{})
}

// templatesOn renders the chart for a cluster that has something already.
func templatesOn(t *testing.T, values string, there cluster) (map[string]string, error) {
	t.Helper()
	c := load(t)
	given, err := chartutil.ReadValues([]byte(values))
	require.NoError(t, err)
	has := chartutil.DefaultCapabilities.Copy()
	for kind := range there {
		if _, ours := definitions[kind]; ours {
			has.APIVersions = append(has.APIVersions, "visavis.dev/v1alpha1/"+kind)
		}
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{
		Name: release, Namespace: namespace, Revision: 1, IsInstall: true,
	}, has)
	if err != nil {
		return nil, err
	}
	return engine.RenderWithClientProvider(c, all, there)
}

// cluster is what a template finds when it looks: lists of objects by their kind.
type cluster map[string][]runtime.Object

// resources are the kinds that templates look at; whether each is of a namespace.
var resources = map[string]struct {
	name       string
	namespaced bool
}{
	"ClusterRoleBinding": {"clusterrolebindings", false}, "Secret": {"secrets", true},
	"Organisation": {"organisations", true}, "Webhook": {"webhooks", true}, "Portal": {"portals", true},
}

// definitions are the kinds that are the chart's own; a cluster knows those that it has
// any of.
var definitions = map[string]string{"Organisation": "OrganisationList", "Webhook": "WebhookList", "Portal": "PortalList"}

// GetClientFor implements engine.ClientProvider.
func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	group, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, false, err
	}
	resource, known := resources[kind]
	if !known {
		return nil, false, fmt.Errorf("nobody looks at %s", kind)
	}
	lists := map[schema.GroupVersionResource]string{}
	if list, ours := definitions[kind]; ours {
		lists[group.WithResource(resource.name)] = list
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(scheme.Scheme, lists, c[kind]...)
	return client.Resource(group.WithResource(resource.name)), resource.namespaced, nil
}

var strict = func() runtime.Decoder {
	if err := monitoring.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	return serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
}()

// objects are what the chart renders. What the scheme does not know stays as it is.
type objects []runtime.Object

func render(t *testing.T, values string) objects {
	t.Helper()
	rendered, err := templates(t, values)
	require.NoError(t, err)
	var all objects
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		all = append(all, decode(t, name, rendered[name])...)
	}
	return all
}

func decode(t *testing.T, name, text string) (all objects) {
	t.Helper()
	for document := range strings.SplitSeq("\n"+text, "\n---") {
		var raw map[string]any
		require.NoError(t, yaml.UnmarshalStrict([]byte(document), &raw), name+document)
		if len(raw) == 0 {
			continue
		}
		if raw["apiVersion"] == "visavis.dev/v1alpha1" {
			all = append(all, &unstructured.Unstructured{Object: raw})
			continue
		}
		o, _, err := strict.Decode([]byte(document), nil, nil)
		require.NoError(t, err, "%s:%s", name, document)
		all = append(all, o)
	}
	return all
}

// of are the objects of a type.
func of[T runtime.Object](all objects) (found []T) {
	for _, o := range all {
		if o, ok := o.(T); ok {
			found = append(found, o)
		}
	}
	return found
}

// named is the one object of a type and name.
func named[T runtime.Object](t *testing.T, all objects, name string) T {
	t.Helper()
	for _, o := range of[T](all) {
		if any(o).(metav1.Object).GetName() == name {
			return o
		}
	}
	require.Failf(t, "not rendered", "%T %s", *new(T), name)
	panic("unreachable")
}

// operatorPods are the templates that the operator makes its pods of.
func operatorPods(t *testing.T, all objects) map[string]corev1.PodTemplateSpec {
	t.Helper()
	pods := map[string]corev1.PodTemplateSpec{}
	for key, text := range named[*corev1.ConfigMap](t, all, release+"-pods").Data {
		if strings.HasSuffix(key, "-networkpolicy.yaml") {
			continue
		}
		var pod corev1.PodTemplateSpec
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &pod), key)
		pods[strings.TrimSuffix(key, ".yaml")] = pod
	}
	return pods
}
