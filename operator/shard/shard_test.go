package shard

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

func TestFromNothingToReady(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", "", func(s *v1alpha1.Shard) {
		s.Spec.Tier = v1alpha1.DedicatedTier
		s.Spec.Workers.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": quantity("2")}}
		s.Spec.Pods.NodeSelector = map[string]string{"pool": "x"}
	})
	c := w.ready(name)
	require.Equal(t, "Pending", c.Reason)
	require.Contains(t, c.Message, "There is no Secret "+w.namespace+"/"+name)

	at := databasetest.URL(t, database.Shard)
	w.create(&corev1.Secret{ObjectMeta: w.at(name), StringData: map[string]string{"url": at}})
	c = w.ready(name)
	require.Equal(t, "Pending", c.Reason)
	jobs := w.jobs(name)
	require.Len(t, jobs, 1)
	require.Contains(t, c.Message, "The Job "+w.namespace+"/"+jobs[0].Name+" migrates")
	require.Regexp(t, "^"+name+"-migrate-[0-9a-f]{10}$", jobs[0].Name)
	container := jobs[0].Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"migrate"}, container.Args)
	require.Equal(t, "VISAVIS_SHARD_DATABASE", container.Env[1].Name)
	require.Equal(t, name, container.Env[1].ValueFrom.SecretKeyRef.Name)
	_, err := w.rules.Directory.Shard(t.Context(), name)
	require.ErrorIs(t, err, directory.ErrUnknown, "nothing uses it before it is migrated")

	w.reconcileUntilReady(name)
	s := w.get(name)
	require.True(t, meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.Migrated))
	require.Positive(t, s.Status.SchemaVersion)
	require.Equal(t, "1/1", s.Status.Workers.Summary)
	require.Equal(t, s.Generation, s.Status.ObservedGeneration)
	entry, err := w.rules.Directory.Shard(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, directory.Dedicated, entry.Tier)
	require.Equal(t, managed.By("Shard//"+name+"/"+string(s.UID)), entry.ManagedBy)
	require.True(t, metav1.IsControlledBy(w.deployment(name+"-worker"), s))

	worker, portal := w.deployment(name+"-worker"), w.deployment(name+"-portal")
	pod := worker.Spec.Template.Spec
	require.Equal(t, []string{"worker", "--shard", name}, pod.Containers[0].Args)
	require.Equal(t, "2", pod.Containers[0].Resources.Limits.Cpu().String())
	require.Equal(t, map[string]string{"pool": "x"}, pod.NodeSelector)
	require.Equal(t, []string{"portal"}, portal.Spec.Template.Spec.Containers[0].Args)
	require.True(t, metav1.IsControlledBy(worker, s))
	var policy networkingv1.NetworkPolicy
	require.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name + "-worker"}, &policy))
	require.Equal(t, name, policy.Spec.PodSelector.MatchLabels["visavis.dev/shard"])
	for _, o := range []client.Object{&corev1.Service{}, &policyv1.PodDisruptionBudget{}} {
		require.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name + "-portal"}, o))
	}

	w.requests.Writes()
	for range 3 {
		require.NoError(t, w.reconcile(name))
	}
	require.Empty(t, w.requests.Writes(), "nothing differs")
}

func TestDriftIsPutRight(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", databasetest.URL(t, database.Shard))
	w.reconcileUntilReady(name)
	d := w.deployment(name + "-worker")
	d.Spec.Template.Spec.Containers[0].Args = []string{"worker"}
	d.Spec.Template.Spec.Containers[0].Env = nil
	d.Spec.Replicas = new(int32(5))
	d.Labels["mine"] = "too"
	require.NoError(t, w.client.Update(t.Context(), d))
	var service corev1.Service
	key := client.ObjectKey{Namespace: w.namespace, Name: name + "-portal"}
	require.NoError(t, w.client.Get(t.Context(), key, &service))
	service.Spec.Selector["only"] = "this"
	require.NoError(t, w.client.Update(t.Context(), &service))
	var policy networkingv1.NetworkPolicy
	require.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name + "-worker"}, &policy))
	require.NoError(t, w.client.Delete(t.Context(), &policy))

	w.requests.Writes()
	require.NoError(t, w.reconcile(name))
	writes := w.requests.Writes()
	require.Len(t, writes, 4, "three children and the status: %v", writes)
	d = w.deployment(name + "-worker")
	require.Equal(t, []string{"worker", "--shard", name}, d.Spec.Template.Spec.Containers[0].Args)
	require.Equal(t, "A", d.Spec.Template.Spec.Containers[0].Env[0].Name)
	require.EqualValues(t, 5, *d.Spec.Replicas, "their number is not the reconciler's")
	require.Equal(t, "too", d.Labels["mine"], "what others add is theirs")
	require.NoError(t, w.client.Get(t.Context(), key, &service))
	require.NotContains(t, service.Spec.Selector, "only")
	w.play(name)
	require.NoError(t, w.reconcile(name))
	w.requests.Writes()
	require.NoError(t, w.reconcile(name))
	require.Empty(t, w.requests.Writes())
}

func TestAnotherTemplateRollsAfterItsMigration(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", databasetest.URL(t, database.Shard))
	w.reconcileUntilReady(name)
	first := w.jobs(name)[0].Name

	var config corev1.ConfigMap
	require.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "pods"}, &config))
	for _, component := range []string{"worker", "portal", "migrate"} {
		config.Data[component+".yaml"] = strings.ReplaceAll(strings.ReplaceAll(template, "visavis:1", "visavis:2"), ", env: [{name: A, value: b}]", "")
	}
	delete(config.Data, "worker-networkpolicy.yaml")
	require.NoError(t, w.client.Update(t.Context(), &config))

	require.Equal(t, "Pending", w.ready(name).Reason)
	jobs := w.jobs(name)
	require.Len(t, jobs, 2)
	require.Equal(t, "visavis:1", w.deployment(name + "-worker").Spec.Template.Spec.Containers[0].Image, "it is not migrated yet")
	for _, j := range jobs {
		if j.Name != first {
			w.end(j, batchv1.JobFailureTarget, batchv1.JobFailed)
		}
	}
	c := w.ready(name)
	require.Equal(t, ReasonMigrationFailed, c.Reason)
	require.Contains(t, c.Message, name+"-migrate-")
	require.False(t, meta.IsStatusConditionTrue(w.get(name).Status.Conditions, v1alpha1.Migrated))
	require.Equal(t, "visavis:1", w.deployment(name + "-portal").Spec.Template.Spec.Containers[0].Image)

	// Deleting the Job asks for it again.
	for _, j := range w.jobs(name) {
		if j.Name != first {
			require.NoError(t, w.client.Delete(t.Context(), &j, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		}
	}
	w.reconcileUntilReady(name)
	require.Len(t, w.jobs(name), 1, "the first one is superseded")
	require.NotEqual(t, first, w.jobs(name)[0].Name)
	container := w.deployment(name + "-worker").Spec.Template.Spec.Containers[0]
	require.Equal(t, "visavis:2", container.Image)
	require.Empty(t, container.Env, "what is not wanted any more is taken away")
	require.Error(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name + "-worker"}, &networkingv1.NetworkPolicy{}))
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	at := databasetest.URL(t, database.Shard)
	for short, c := range map[string]struct{ url, reason, says string }{
		"nourl":    {"mysql://root:hunter2@x/y", "Invalid", "is not the URL of a database"},
		"nothere":  {another(t, at, func(u *url.URL) { u.Path = "/none" }), "Pending", "There is no database "},
		"noanswer": {"postgres://u:hunter2@127.0.0.1:1/x", "Pending", "Its database, 127.0.0.1:1/x, does not answer."},
	} {
		ready := w.ready(w.shard(short, c.url))
		require.Equal(t, metav1.ConditionFalse, ready.Status)
		require.Equal(t, c.reason, ready.Reason, short)
		require.Contains(t, ready.Message, c.says)
		require.NotContains(t, ready.Message, "hunter2")
		require.Empty(t, w.jobs(w.name(short)))
	}
	// A child's name that somebody else has is left alone.
	name := w.shard("taken", at)
	w.create(&corev1.Service{ObjectMeta: w.at(name + "-portal"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}})
	require.Equal(t, "Pending", w.ready(name).Reason)
	w.play(name)
	ready := w.ready(name)
	require.Equal(t, "Conflict", ready.Reason)
	require.Contains(t, ready.Message, fmt.Sprintf("There is a Service %s/%s-portal already", w.namespace, name))
}

func TestOneDatabaseHasOneShard(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	at := databasetest.URL(t, database.Shard)
	older := w.shard("b", at)
	younger := w.shard("a", another(t, at, func(u *url.URL) { u.RawQuery += "&application_name=x" }), func(s *v1alpha1.Shard) {})
	older, younger = w.byAge(older, younger)
	ready := w.ready(younger)
	require.Equal(t, "Conflict", ready.Reason, ready.Message)
	require.Contains(t, ready.Message, "the Shard "+older+", which is older")
	w.reconcileUntilReady(older)
	ready = w.ready(younger)
	require.Equal(t, "Conflict", ready.Reason)
	require.Contains(t, ready.Message, "that of the shard "+older)
	requests := w.rules.losers(t.Context(), nil)
	require.Contains(t, fmt.Sprint(requests), younger, "it is looked at when another goes")

	require.NoError(t, w.client.Delete(t.Context(), w.get(older)))
	require.NoError(t, w.reconcile(older))
	require.Nil(t, w.get(older))
	w.reconcileUntilReady(younger)
}

// byAge orders two Shards: those of one second go by their uid.
func (w *world) byAge(a, b string) (older, younger string) {
	x, y := w.get(a), w.get(b)
	if x.CreationTimestamp.Equal(&y.CreationTimestamp) && x.UID > y.UID || y.CreationTimestamp.Before(&x.CreationTimestamp) {
		return b, a
	}
	return a, b
}

func TestDeletion(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", databasetest.URL(t, database.Shard))
	w.reconcileUntilReady(name)
	o := directory.Organization{ID: id.NewOrg(), Slug: "one", Shard: name, Epoch: 1, CreatedAt: w.clock.Now()}
	require.NoError(t, w.rules.Directory.Begin(t.Context(), o))
	require.NoError(t, w.client.Delete(t.Context(), w.get(name)))
	ready := w.ready(name)
	require.Equal(t, "Deleting", ready.Reason)
	require.Equal(t, "1 organization lives on it.", ready.Message)
	require.NoError(t, w.client.Delete(t.Context(), w.deployment(name+"-worker")))
	require.Equal(t, "Deleting", w.ready(name).Reason)
	w.deployment(name + "-worker") // it is served as before

	_, err := w.rules.Directory.DB.Exec(t.Context(), `DELETE FROM organization`)
	require.NoError(t, err)
	require.NoError(t, w.reconcile(name))
	require.Nil(t, w.get(name))
	_, err = w.rules.Directory.Shard(t.Context(), name)
	require.ErrorIs(t, err, directory.ErrUnknown)
	require.Error(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name + "-worker"}, w.emptyDeployment()))
	require.Empty(t, w.jobs(name))
}

func TestOrphanAndAdoption(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	at := databasetest.URL(t, database.Shard)
	orphan := func(s *v1alpha1.Shard) { s.Spec.DeletionPolicy = v1alpha1.OrphanPolicy }
	name := w.shard("a", at, orphan)
	w.reconcileUntilReady(name)
	require.NoError(t, w.client.Delete(t.Context(), w.get(name)))
	require.NoError(t, w.reconcile(name))
	require.Nil(t, w.get(name))
	entry, err := w.rules.Directory.Shard(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, managed.API, entry.ManagedBy)
	require.Empty(t, w.deployment(name+"-worker").OwnerReferences, "its pods go on")

	require.NotEmpty(t, w.shard("a", "", orphan))
	ready := w.ready(name)
	require.Equal(t, "Conflict", ready.Reason)
	require.Contains(t, ready.Message, "visavis.dev/adopt")
	s := w.get(name)
	s.Annotations = map[string]string{v1alpha1.AdoptAnnotation: name}
	require.NoError(t, w.client.Update(t.Context(), s))
	w.reconcileUntilReady(name)
	entry, err = w.rules.Directory.Shard(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, managed.By("Shard//"+name+"/"+string(s.UID)), entry.ManagedBy)

	// Released, its pods go on and the entry is the API's.
	s = w.get(name)
	s.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"}
	require.NoError(t, w.client.Update(t.Context(), s))
	require.Equal(t, "Released", w.ready(name).Reason)
	for _, role := range roles {
		require.Empty(t, w.deployment(name+"-"+role).OwnerReferences, "deleting it takes nothing along")
	}
}

func TestAnotherDatabaseMustKnowTheOrganisations(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", databasetest.URL(t, database.Shard))
	w.reconcileUntilReady(name)
	o := directory.Organization{ID: id.NewOrg(), Slug: "one", Shard: name, Epoch: 1, CreatedAt: w.clock.Now()}
	require.NoError(t, organization.Create(t.Context(), w.rules.Directory, w.rules.Tenants, o))
	before, err := w.rules.Directory.ShardURL(t.Context(), name)
	require.NoError(t, err)
	empty := databasetest.URL(t, database.Shard)
	w.create(&corev1.Secret{ObjectMeta: w.at(name + "-new"), StringData: map[string]string{"url": empty}})
	s := w.get(name)
	s.Spec.Database.SecretName = name + "-new"
	require.NoError(t, w.client.Update(t.Context(), s))
	jobs := len(w.jobs(name))
	unknown := func() {
		t.Helper()
		ready := w.ready(name)
		require.Equal(t, "Invalid", ready.Reason)
		require.Contains(t, ready.Message, "does not have all of the organizations")
		require.Len(t, w.jobs(name), jobs, "nothing is written there")
		after, err := w.rules.Directory.ShardURL(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
	unknown()
	// Some of ours, but not this shard's.
	db, err := database.Open(empty, database.PoolOptions{})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	know := func(org id.Org) {
		t.Helper()
		_, err := db.Exec(t.Context(), `INSERT INTO org_fence (org_id, epoch, state, moved_to) VALUES ($1, 1, 'open', '')`, org)
		require.NoError(t, err)
	}
	know(id.NewOrg())
	unknown()
	know(o.ID)
	w.reconcileUntilReady(name)
	after, err := w.rules.Directory.ShardURL(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, empty, after)

	// None of ours at all.
	bare := databasetest.URL(t, database.Directory)
	w.create(&corev1.Secret{ObjectMeta: w.at(name + "-bare"), StringData: map[string]string{"url": bare}})
	s = w.get(name)
	s.Spec.Database.SecretName = name + "-bare"
	require.NoError(t, w.client.Update(t.Context(), s))
	require.Equal(t, "Invalid", w.ready(name).Reason)
}

// A migration that failed is tried again after a while.
func TestAFailedMigration(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	name := w.shard("a", databasetest.URL(t, database.Shard))
	require.Equal(t, "Pending", w.ready(name).Reason)
	first := w.jobs(name)[0]
	require.NotNil(t, first.Spec.PodFailurePolicy, "a pod that went with its node did not fail")
	w.end(first, batchv1.JobFailureTarget, batchv1.JobFailed)
	ready := w.ready(name)
	require.Equal(t, ReasonMigrationFailed, ready.Reason)
	require.Contains(t, ready.Message, "made again after 10m0s")
	require.Equal(t, first.UID, w.jobs(name)[0].UID)
	w.clock.Step(migrateAgain + time.Minute)
	require.Equal(t, ReasonMigrationFailed, w.ready(name).Reason)
	require.Empty(t, w.jobs(name))
	w.reconcileUntilReady(name)
}

func TestBadShardsAreRefusedAtOnce(t *testing.T) {
	w := newWorld(t, operatortest.NewRequests())
	for says, shape := range map[string]func(*v1alpha1.Shard){
		"minReplicas is more than maxReplicas":                    func(s *v1alpha1.Shard) { s.Spec.Workers.MinReplicas, s.Spec.Workers.MaxReplicas = 4, 3 },
		"a shard's name has at most 40":                           func(s *v1alpha1.Shard) { s.Name = strings.Repeat("a", 41) },
		`Unsupported value: "Gold"`:                               func(s *v1alpha1.Shard) { s.Spec.Tier = "Gold" },
		"should be less than or equal to 32":                      func(s *v1alpha1.Shard) { s.Spec.Portals.MaxReplicas = 33 },
		"spec.database.secretName in body should be at least 1":   func(s *v1alpha1.Shard) { s.Spec.Database.SecretName = "" },
		`spec.workers.scaling: Unsupported value: "Mine"`:         func(s *v1alpha1.Shard) { s.Spec.Workers.Scaling = "Mine" },
		"spec.portals.sessionsPerPod in body should be less than": func(s *v1alpha1.Shard) { s.Spec.Portals.SessionsPerPod = 10_001 },
	} {
		s := &v1alpha1.Shard{ObjectMeta: metav1.ObjectMeta{Name: w.name("bad")}}
		s.Spec.Database.SecretName = "x"
		shape(s)
		require.ErrorContains(t, w.client.Create(t.Context(), s), says)
	}
}

// TestItEndsAnywhere ends the operator at every request on the way from nothing to
// ready, and begins again.
func TestItEndsAnywhere(t *testing.T) {
	operatortest.EndEverywhere(t, func(t *testing.T, r *operatortest.Requests) {
		w := newWorld(t, r)
		name := w.shard("a", databasetest.URL(t, database.Shard))
		for range 4 {
			if w.reconcile(name) != nil {
				break
			}
			w.play(name)
		}
		r.Restart()
		w.reconcileUntilReady(name)
		require.Len(t, w.jobs(name), 1)
		r.Writes()
		require.NoError(t, w.reconcile(name))
		require.Empty(t, r.Writes())
		require.NoError(t, w.client.Delete(t.Context(), w.get(name)))
		require.NoError(t, w.reconcile(name))
		require.Nil(t, w.get(name))
	})
}
