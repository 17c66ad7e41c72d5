package operator

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"visavis.dev/config"
	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/platform"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(operatortest.Around{M: m}) }

const pod = `
metadata: {labels: {app.kubernetes.io/instance: r}}
spec: {containers: [{name: visavis, image: "visavis:1"}]}
`

// rightsOf reads rules of the chart.
func rightsOf(t *testing.T, file string) (rules []rbacv1.PolicyRule) {
	t.Helper()
	text, err := os.ReadFile("../charts/visavis/rights/" + file)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &rules))
	return rules
}

// asTheChart is the operator's connection, with the rights that the chart gives it.
func asTheChart(t *testing.T, c client.Client, own string, served ...string) *rest.Config {
	t.Helper()
	user := "operator-of-" + own
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	give := func(o, binding client.Object) {
		require.NoError(t, c.Create(t.Context(), o))
		require.NoError(t, c.Create(t.Context(), binding))
	}
	everywhere := metav1.ObjectMeta{Name: user}
	give(&rbacv1.ClusterRole{ObjectMeta: everywhere, Rules: rightsOf(t, "cluster.yaml")},
		&rbacv1.ClusterRoleBinding{ObjectMeta: everywhere, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}})
	t.Cleanup(func() {
		_ = c.Delete(context.Background(), &rbacv1.ClusterRoleBinding{ObjectMeta: everywhere})
		_ = c.Delete(context.Background(), &rbacv1.ClusterRole{ObjectMeta: everywhere})
	})
	within := func(namespace, name, file string) {
		at := metav1.ObjectMeta{Namespace: namespace, Name: name}
		give(&rbacv1.Role{ObjectMeta: at, Rules: rightsOf(t, file)},
			&rbacv1.RoleBinding{ObjectMeta: at, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}})
	}
	within(own, "operator", "own.yaml")
	for _, namespace := range append(served, own) {
		within(namespace, "operator-secrets", "served.yaml")
	}
	return asUser(t, own)
}

// asUser is the connection of the operator of a namespace.
func asUser(t *testing.T, own string) *rest.Config {
	t.Helper()
	config := operatortest.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: "operator-of-" + own}
	return config
}

// cluster is a manager as it is in a cluster, with the rights that the chart gives it.
type cluster struct {
	client.Client
	directory *directory.Directory
	scheme    *runtime.Scheme
	own       string
	team      string // is served
	other     string // is not
}

// start runs it until stop is called, which answers how it ended.
func start(t *testing.T) (w *cluster, stop func() error) {
	t.Helper()
	scheme, err := NewScheme()
	require.NoError(t, err)
	c := operatortest.Client(t, scheme)
	w = &cluster{Client: c, scheme: scheme, own: operatortest.Namespace(t), team: operatortest.Namespace(t), other: operatortest.Namespace(t)}
	db := databasetest.Open(t, database.Directory)
	w.directory = directory.New(db, directory.Options{Clock: clock.RealClock{}})
	require.NoError(t, w.directory.AddShard(t.Context(), "a", databasetest.URL(t, database.Shard)))
	tenants := tenant.New(w.directory, database.PoolOptions{})
	t.Cleanup(tenants.Close)
	catalogue, err := plan.Parse(config.Plans, rate.SpecRates())
	require.NoError(t, err)
	box, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	mgr, err := New(asTheChart(t, c, w.own, w.team), 20, &platform.Platform{
		Directory: w.directory, Tenants: tenants, Keys: &apikey.Store{DB: db}, Catalogue: catalogue, Vault: box, Files: file.New(bucket, tenants, clock.RealClock{}),
		Egress: egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}),
		Clock:  clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Namespace: w.own, Serves: []string{w.team}, PodConfig: "pods",
	}, func(o *ctrl.Options) {
		// Other tests have resources on this server.
		o.Cache.DefaultNamespaces = map[string]cache.Config{w.own: {}, w.team: {}, w.other: {}}
		maps.Copy(o.Cache.ByObject, operatortest.Cache(w.own, &v1alpha1.Shard{}).ByObject)
	})
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return w, func() error { end(); return <-ended }
}

// With no more rights than the chart gives it, a manager brings a Shard about, serves the
// namespaces that are listed, and hands its lease over. (The figures and the names of
// controllers are the process's: there is one manager.)
func TestManager(t *testing.T) {
	w, stop := start(t)
	t.Run("a Shard", func(t *testing.T) { bringsAShardAbout(t, w) })
	t.Run("namespaces that are served", func(t *testing.T) { servesNamespaces(t, w) })
	require.NoError(t, stop())
	var lease coordinationv1.Lease
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: w.own, Name: LeaseName}, &lease))
	require.Empty(t, *lease.Spec.HolderIdentity, "another operator need not wait for its end")
}

// The resources of a namespace that is listed are brought about; of those elsewhere it is
// only said that they are not.
func servesNamespaces(t *testing.T, w *cluster) {
	c, ctx, team, other := w.Client, t.Context(), w.team, w.other
	made := map[string]client.Object{}
	for _, namespace := range []string{other, team} { // the one that is not served is the older one
		o := &v1alpha1.Organisation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"}, Spec: v1alpha1.OrganisationSpec{
			Name: "Acme", Slug: "acme", Plan: "business", APIKey: &v1alpha1.OrganisationKey{FullAccess: true},
		}}
		w := &v1alpha1.Webhook{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders"}, Spec: v1alpha1.WebhookSpec{
			Organisation: v1alpha1.OrganisationReference{Name: "acme"}, URL: "https://192.0.2.1/hook", Events: []string{"session.ended"},
		}}
		require.NoError(t, c.Create(ctx, o))
		require.NoError(t, c.Create(ctx, w))
		made["Organisation "+namespace], made["Webhook "+namespace] = o, w
	}
	ready := func(o client.Object) *metav1.Condition {
		require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(o), o))
		return meta.FindStatusCondition(o.(resource.Object).State().Conditions, v1alpha1.Ready)
	}
	for what, o := range made {
		require.Eventually(t, func() bool {
			is := ready(o)
			return is != nil && (is.Status == metav1.ConditionTrue || o.GetNamespace() == other)
		}, time.Minute, 50*time.Millisecond, what)
	}
	for _, kind := range []string{"Organisation ", "Webhook "} {
		is := ready(made[kind+other])
		require.Equal(t, []string{"False", v1alpha1.ReasonNamespaceNotServed}, []string{string(is.Status), is.Reason})
		require.Contains(t, is.Message, "add it to operator.namespaces")
		require.Empty(t, made[kind+other].GetFinalizers())
	}
	secrets := func(namespace string) (names []string) {
		var list corev1.SecretList
		require.NoError(t, c.List(ctx, &list, client.InNamespace(namespace)))
		for _, s := range list.Items {
			names = append(names, s.Name)
		}
		return names
	}
	require.ElementsMatch(t, []string{"acme-api-key", "orders-signing"}, secrets(team))
	require.Empty(t, secrets(other))

	// Another Secret in place of one that somebody deletes, and none of what is deleted.
	var secret corev1.Secret
	key := client.ObjectKey{Namespace: team, Name: "orders-signing"}
	require.NoError(t, c.Get(ctx, key, &secret))
	was := secret.UID
	require.NoError(t, c.Delete(ctx, &secret))
	require.Eventually(t, func() bool { return c.Get(ctx, key, &secret) == nil && secret.UID != was }, time.Minute, 50*time.Millisecond)
	for _, kind := range []string{"Webhook ", "Organisation "} {
		require.NoError(t, c.Delete(ctx, made[kind+team]))
		require.Eventually(t, func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(made[kind+team]), made[kind+team]))
		}, time.Minute, 50*time.Millisecond, kind)
	}

	// It could not if it would.
	restricted, err := client.New(asUser(t, w.own), client.Options{Scheme: w.scheme})
	require.NoError(t, err)
	require.True(t, apierrors.IsForbidden(restricted.List(ctx, &corev1.SecretList{}, client.InNamespace(other))))
	require.True(t, apierrors.IsForbidden(restricted.List(ctx, &corev1.SecretList{})))
}

func bringsAShardAbout(t *testing.T, w *cluster) {
	c, ctx, namespace, d := w.Client, t.Context(), w.own, w.directory
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
}

// What somebody labels as the operator's is not kept in memory whatever its size.
func TestLargeSecretsAreNotCached(t *testing.T) {
	s := &corev1.Secret{Data: map[string][]byte{"secret": []byte("whsec_1"), "junk": make([]byte, 1<<20)}}
	kept, err := slim(s)
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"secret": []byte("whsec_1")}, kept.(*corev1.Secret).Data)
}
