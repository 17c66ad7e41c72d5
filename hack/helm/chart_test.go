package helm_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// kinds of values that the chart is rendered with.
var kinds = map[string]string{"least": least, "everything": everything}

func TestEveryObjectIsWhole(t *testing.T) {
	for name, values := range kinds {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, o := range render(t, values) {
				kind := o.GetObjectKind().GroupVersionKind().Kind
				m := o.(metav1.Object)
				which := kind + " " + m.GetNamespace() + "/" + m.GetName()
				require.Falsef(t, seen[which], "%s twice", which)
				seen[which] = true
				require.Equal(t, "visavis", m.GetLabels()["app.kubernetes.io/name"], m.GetName())
				require.Equal(t, release, m.GetLabels()["app.kubernetes.io/instance"], m.GetName())
			}
		})
	}
}

func TestLint(t *testing.T) {
	for name, text := range kinds {
		var values map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &values))
		found := lint.All("../../charts/visavis", values, namespace, true)
		for _, m := range found.Messages {
			require.LessOrEqual(t, m.Severity, support.InfoSev, "%s: %s", name, m)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ values, says string }{
		"an unknown key":           {least + "\nreplicas: 3", "additional properties 'replicas' not allowed"},
		"an unknown key within":    {least + "\napi: {replica: 3}", "at '/api': additional properties 'replica' not allowed"},
		"an unknown setting":       {least + "\nsettings: {loglevel: debug}", "at '/settings': additional properties 'loglevel' not allowed"},
		"a setting with a value":   {least + "\nsettings: {drain: 1m}", "at '/settings': additional properties 'drain' not allowed"},
		"a number that is a word":  {least + "\napi: {replicas: two}", "at '/api/replicas': got string, want integer"},
		"a word of few":            {least + "\nimage: {pullPolicy: Sometimes}", "at '/image/pullPolicy'"},
		"a range without its bits": {least + "\nnetworkPolicy: {clusterCIDRs: [10.0.0.0]}", "at '/networkPolicy/clusterCIDRs/0'"},
		"a URL with a path":        {least + "\nurls: {public: https://example.com/api}", "at '/urls/public'"},
		"a shard without database": {least + "\nshards: [{name: a}]", "missing property 'database'"},
		"a shard's unknown key":    {least + "\nshards: [{name: a, database: {secretName: a}, replicas: 2}]", "additional properties 'replicas' not allowed"},
		"too many workers":         {least + "\nshards: [{name: a, database: {secretName: a}, workers: {maxReplicas: 33}}]", "maximum"},
		"a shard's odd name":       {least + "\nshards: [{name: 1a, database: {secretName: a}}]", "at '/shards/0/name'"},
		"an unknown mount":         {least + "\npods: {extraVolumeMounts: [{name: a, path: /a}]}", "at '/pods/extraVolumeMounts/0'"},
		"no database":              {"image: {repository: x}", "the directory database is missing"},
		"no image":                 {"database: {secretName: x}", "image.repository is missing"},
		"two databases":            {`image: {repository: x}` + "\n" + `database: {url: "postgres://db/x", secretName: x}`, "not both"},
		"a namespace's odd name":   {least + "\noperator: {namespaces: [Team]}", "at '/operator/namespaces/0'"},
		"every one and another":    {least + "\noperator: {namespaces: [\"*\", team]}", "operator.namespaces: give [\"*\"] alone"},
		"an ingress without host":  {least + "\ningress: {enabled: true}", "ingress.hosts.api is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := templates(t, c.values)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Every object of the schema says that it takes no other keys, or that its keys are the user's.
func TestTheSchemaIsClosed(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(load(t).Schema, &schema))
	open := []string{"global", "strings", "free", "freeList", "requests", "limits"}
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch node := node.(type) {
		case map[string]any:
			if node["type"] == "object" && node["additionalProperties"] != false {
				parts := strings.Split(path, "/")
				require.True(t, slices.ContainsFunc(open, func(s string) bool { return slices.Contains(parts, s) }), path)
			}
			for k, v := range node {
				walk(path+"/"+k, v)
			}
		case []any:
			for _, v := range node {
				walk(path, v)
			}
		}
	}
	walk("", schema)
}

// What the schema takes has a default, and so stands in values.yaml with what it means.
func TestEveryValueHasADefault(t *testing.T) {
	c := load(t)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(c.Schema, &schema))
	var walk func(path string, node, values map[string]any)
	walk = func(path string, node, values map[string]any) {
		properties, _ := node["properties"].(map[string]any)
		for key, property := range properties {
			if path+key == "global" || path == "settings/" {
				continue
			}
			require.Contains(t, values, key, path)
			within, _ := values[key].(map[string]any)
			walk(path+key+"/", property.(map[string]any), within)
		}
	}
	walk("", schema, c.Values)
}

func TestMasterKeysAreMadeOnceAndKept(t *testing.T) {
	s := named[*corev1.Secret](t, render(t, least), release+"-master-keys")
	require.Equal(t, "keep", s.Annotations["helm.sh/resource-policy"])
	require.True(t, *s.Immutable, "neither a rollback nor a hand puts another key in its place")
	var key []byte
	require.NoError(t, json.Unmarshal([]byte(`"`+string(s.Data["master-keys"])+`"`), &key), "base64")
	require.Len(t, key, 32)

	own := render(t, least+"\nmasterKeys: {secretName: mine, key: keys}")
	for _, s := range of[*corev1.Secret](own) {
		require.NotEqual(t, release+"-master-keys", s.Name)
	}
	require.Equal(t, "mine", operatorPods(t, own)["worker"].Spec.Volumes[2].Secret.SecretName)
}

func TestMasterKeysThatAreThereStay(t *testing.T) {
	there := cluster{"Secret": {&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: release + "-master-keys"}, Data: map[string][]byte{"master-keys": []byte("a key")},
	}}}
	rendered, err := templatesOn(t, least, there)
	require.NoError(t, err)
	require.Contains(t, rendered["visavis/templates/secrets.yaml"], "master-keys: "+base64.StdEncoding.EncodeToString([]byte("a key")))
	_, err = templatesOn(t, least+"\nmasterKeys: {key: keys}", there)
	require.ErrorContains(t, err, "the Secret vis-master-keys has the master keys in the entry master-keys: leave masterKeys.key at that")
}

// Two operators would each make of the cluster's resources what their own databases say.
func TestAClusterHasOneRelease(t *testing.T) {
	binding := func(name, ofNamespace, of string) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{"app.kubernetes.io/name": "visavis", "app.kubernetes.io/component": "operator"},
			Annotations: map[string]string{"meta.helm.sh/release-namespace": ofNamespace, "meta.helm.sh/release-name": of},
		}}
	}
	other := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "another-program"}}
	for name, c := range map[string]struct {
		there runtime.Object
		says  string
	}{
		"its own":          {binding(namespace+"-"+release+"-operator", namespace, release), ""},
		"its own, renamed": {binding(namespace+"-old-operator", namespace, release), ""},
		"of another name":  {binding(namespace+"-two-operator", namespace, "two"), "of the release platform/two"},
		"of another place": {binding("elsewhere-vis-operator", "elsewhere", release), "of the release elsewhere/vis"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := templatesOn(t, least, cluster{"ClusterRoleBinding": {other, c.there}})
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}

// What the values say of Shards is refused where the cluster would refuse it.
func TestShardsAreBoundedAsTheirDefinitionSays(t *testing.T) {
	c := load(t)
	type bounds struct {
		Minimum, Maximum float64
		Properties       map[string]bounds
	}
	var ours struct {
		Properties struct {
			Shards struct{ Items bounds }
		}
	}
	require.NoError(t, json.Unmarshal(c.Schema, &ours))
	var theirs bounds
	for _, d := range c.CRDObjects() {
		if strings.Contains(d.Filename, "shards") {
			var definition struct {
				Spec struct {
					Versions []struct {
						Schema struct{ OpenAPIV3Schema bounds }
					}
				}
			}
			require.NoError(t, yaml.Unmarshal(d.File.Data, &definition))
			theirs = definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		}
	}
	compared := 0
	for _, role := range []string{"workers", "portals"} {
		for name, p := range theirs.Properties[role].Properties {
			if p.Maximum > 0 {
				require.Equal(t, p, ours.Properties.Shards.Items.Properties[role].Properties[name], "%s.%s", role, name)
				compared++
			}
		}
	}
	require.Equal(t, 8, compared)
}

func TestSettings(t *testing.T) {
	var settings map[string]any
	text := named[*corev1.ConfigMap](t, render(t, everything), release).Data["settings.yaml"]
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &settings))
	require.Equal(t, map[string]any{
		"addr": ":8080", "admin-addr": ":8081", "drain": "20s", "files": "s3://bucket", "log-level": "debug",
		"master-keys": "/etc/visavis/keys/master-keys", "plans": "/etc/visavis/config/plans.yaml", "address-limit": 6000.0,
		"public-url": "https://api.example.com", "portal-url": "https://portal.example.com", "live-url": "wss://live.example.com",
		"trusted-proxy": []any{"10.0.0.0/8"},
		"hint-target":   []any{"vis-worker-hints.platform.svc:8082", "vis-reader-hints.platform.svc:8082"},
	}, settings)

	text = named[*corev1.ConfigMap](t, render(t, least), release).Data["settings.yaml"]
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &settings))
	require.Equal(t, "http://vis-api.platform.svc", settings["public-url"])
	require.Equal(t, "ws://vis-portal.platform.svc", settings["live-url"])
}

func TestIngress(t *testing.T) {
	for name, c := range map[string]struct {
		hosts string
		paths map[string][]string
	}{
		"a host each": {"{api: a.example, portal: p.example, live: l.example}", map[string][]string{
			"a.example": {"/ vis-api"}, "p.example": {"/ vis-portal"}, "l.example": {"/live/v1 vis-portal"},
		}},
		"sockets beside the API": {"{api: a.example, portal: p.example}", map[string][]string{
			"a.example": {"/live/v1 vis-portal", "/ vis-api"}, "p.example": {"/ vis-portal"},
		}},
		"one host": {"{api: a.example}", map[string][]string{
			"a.example": {"/live/v1 vis-portal", "/v1 vis-api", "/openapi vis-api", "/docs vis-api", "/ vis-portal"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			all := render(t, least+"\ningress: {enabled: true, hosts: "+c.hosts+"}")
			i := named[*networkingv1.Ingress](t, all, release)
			paths := map[string][]string{}
			for _, r := range i.Spec.Rules {
				for _, p := range r.HTTP.Paths {
					named[*corev1.Service](t, all, p.Backend.Service.Name)
					paths[r.Host] = append(paths[r.Host], p.Path+" "+p.Backend.Service.Name)
				}
			}
			require.Equal(t, c.paths, paths)
			require.Len(t, i.Spec.TLS[0].Hosts, len(c.paths))
		})
	}
}

// Shards, keys and files outlive the release, and so do the definitions, which are no part of it.
func TestWhatIsKept(t *testing.T) {
	all := render(t, least+"\nshards: [{name: a, database: {secretName: a}}, {name: b, database: {secretName: b}}]")
	shards := of[*unstructured.Unstructured](all)
	require.Len(t, shards, 2)
	require.Equal(t, map[string]any{"database": map[string]any{"secretName": "a"}}, shards[0].Object["spec"])
	keep := []metav1.Object{named[*corev1.Secret](t, all, release+"-master-keys"), named[*corev1.PersistentVolumeClaim](t, all, release+"-files"), shards[0], shards[1]}
	for _, o := range keep {
		require.Equal(t, "keep", o.GetAnnotations()["helm.sh/resource-policy"], o.GetName())
	}
	require.Len(t, load(t).CRDObjects(), 4)
}

// The Job may change the chart's definitions, and no others.
func TestDefinitionsAreBroughtUpToDate(t *testing.T) {
	all := render(t, least)
	files := named[*corev1.ConfigMap](t, all, release+"-crds").Data
	var names []string
	for _, text := range files {
		var d metav1.PartialObjectMetadata
		require.NoError(t, yaml.Unmarshal([]byte(text), &d))
		names = append(names, d.Name)
	}
	require.Len(t, names, 4)
	rules := named[*rbacv1.ClusterRole](t, all, namespace+"-"+release+"-crds").Rules
	require.Equal(t, []string{"get", "update"}, rules[0].Verbs)
	require.ElementsMatch(t, names, rules[0].ResourceNames)
	require.Equal(t, []string{"create"}, rules[1].Verbs)

	for _, o := range render(t, least+"\ncrds: {upgrade: false}") {
		if m := o.(metav1.Object); m.GetName() == release+"-crds" {
			require.IsType(t, &networkingv1.NetworkPolicy{}, o)
		}
	}
}

// Nobody but the operator has rights, and it has no wildcard.
func TestRights(t *testing.T) {
	all := render(t, everything)
	var rules []rbacv1.PolicyRule
	for _, r := range of[*rbacv1.ClusterRole](all) {
		rules = append(rules, r.Rules...)
	}
	for _, r := range of[*rbacv1.Role](all) {
		rules = append(rules, r.Rules...)
	}
	for _, r := range rules {
		for _, list := range [][]string{r.APIGroups, r.Resources, r.Verbs} {
			require.NotContains(t, list, "*")
		}
	}
	for _, b := range of[*rbacv1.ClusterRoleBinding](all) {
		require.Contains(t, []string{release + "-operator", release + "-crds"}, b.Subjects[0].Name)
		require.Equal(t, namespace, b.Subjects[0].Namespace)
	}
	for _, b := range of[*rbacv1.RoleBinding](all) {
		require.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: release + "-operator", Namespace: namespace}}, b.Subjects)
	}
}

// secretsOf are the namespaces whose Secrets the operator has rights to, with their verbs;
// "*" is the cluster.
func secretsOf(all objects) map[string][]string {
	rights := map[string][]string{}
	note := func(namespace string, rules []rbacv1.PolicyRule) {
		for _, r := range rules {
			if slices.Contains(r.Resources, "secrets") {
				rights[namespace] = append(rights[namespace], r.Verbs...)
			}
		}
	}
	for _, r := range of[*rbacv1.ClusterRole](all) {
		note("*", r.Rules)
	}
	for _, r := range of[*rbacv1.Role](all) {
		note(cmp.Or(r.Namespace, namespace), r.Rules)
	}
	return rights
}

// The operator has rights to Secrets in the namespaces that it is told to serve, and
// nowhere else.
func TestRightsToSecrets(t *testing.T) {
	verbs := []string{"get", "list", "watch", "create", "patch", "delete"}
	for name, c := range map[string]struct {
		values, told string
		where        map[string][]string
	}{
		"its own":  {least, "", map[string][]string{namespace: verbs}},
		"listed":   {least + "\noperator: {namespaces: [team-a, " + namespace + "]}", "team-a," + namespace, map[string][]string{namespace: verbs, "team-a": verbs}},
		"everyone": {least + "\noperator: {namespaces: [\"*\"]}", "*", map[string][]string{"*": verbs}},
	} {
		t.Run(name, func(t *testing.T) {
			all := render(t, c.values)
			require.Equal(t, c.where, secretsOf(all))
			var told string
			for _, v := range named[*appsv1.Deployment](t, all, release+"-operator").Spec.Template.Spec.Containers[0].Env {
				if v.Name == "VISAVIS_SERVE_NAMESPACE" {
					told = v.Value
				}
			}
			require.Equal(t, c.told, told, "the operator is told the same")
			for _, b := range of[*rbacv1.RoleBinding](all) {
				if b.Namespace != "" {
					named[*rbacv1.Role](t, all, b.RoleRef.Name)
				}
			}
		})
	}
}

// Whoever installs sees whose resources are not served, and what every namespace means.
func TestNotesOnNamespaces(t *testing.T) {
	there := cluster{"Webhook": {&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "visavis.dev/v1alpha1", "kind": "Webhook", "metadata": map[string]any{"name": "orders", "namespace": "customers"},
	}}}}
	notes := func(values string, there cluster) string {
		rendered, err := templatesOn(t, values, there)
		require.NoError(t, err)
		return rendered["visavis/templates/NOTES.txt"]
	}
	require.Contains(t, notes(least, there), "WARNING: there are such resources in customers.")
	require.Contains(t, notes(least, there), "namespaces\n"+namespace+",")
	require.NotContains(t, notes(least, cluster{}), "WARNING")
	served := notes(least+"\noperator: {namespaces: [customers]}", there)
	require.NotContains(t, served, "WARNING")
	require.Contains(t, served, namespace+", customers")
	require.Contains(t, notes(least+"\noperator: {namespaces: [\"*\"]}", there), "read and write every Secret")
}

// What the README installs is what the chart takes, and what it adds to the values too.
func TestSamplesOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../charts/visavis/README.md")
	require.NoError(t, err)
	sample := regexp.MustCompile(`(?s)helm install visavis charts/visavis -n visavis -f - <<EOF\n(.*?)\nEOF\n`).FindStringSubmatch(string(text))
	require.NotNil(t, sample)
	all := render(t, sample[1])
	require.Len(t, of[*unstructured.Unstructured](all), 1)
	require.Equal(t, "registry.example.com/visavis:"+load(t).Metadata.AppVersion, operatorPods(t, all)["worker"].Spec.Containers[0].Image)
	more := regexp.MustCompile("(?s)```yaml\n(networkPolicy:.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, more, 2)
	for _, m := range more {
		render(t, least+m[1])
	}
}

// An Organisation can adopt any other, and a Portal makes an Ingress in the platform's
// namespace: neither is for whoever may edit some namespace.
func TestEditorsOfANamespaceChangeWebhooksAlone(t *testing.T) {
	edit := named[*rbacv1.ClusterRole](t, render(t, everything), namespace+"-"+release+"-edit")
	require.Equal(t, "true", edit.Labels["rbac.authorization.k8s.io/aggregate-to-edit"])
	require.Len(t, edit.Rules, 1)
	require.Equal(t, []string{"webhooks"}, edit.Rules[0].Resources)
}
