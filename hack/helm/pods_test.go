package helm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// pods are all pod templates, by what they are of.
func pods(t *testing.T, all objects) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := operatorPods(t, all)
	for _, d := range of[*appsv1.Deployment](all) {
		found[d.Name] = d.Spec.Template
	}
	for _, j := range of[*batchv1.Job](all) {
		found[j.Name] = j.Spec.Template
	}
	for _, p := range of[*corev1.Pod](all) {
		found[p.Name] = corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
	}
	return found
}

func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	for name, values := range kinds {
		found := pods(t, render(t, values))
		require.Len(t, found, 9, name)
		for of, pod := range found {
			for _, r := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
				require.Truef(t, r.Allowed, "%s: %s: %s", of, r.ForbiddenReason, r.ForbiddenDetail)
			}
			require.Len(t, pod.Spec.Containers, 1, of)
			c := pod.Spec.Containers[0]
			require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, of)
			require.NotEmpty(t, c.Resources.Limits.Memory(), of)
			require.False(t, *pod.Spec.EnableServiceLinks, of)
			token := of == release+"-operator" || of == release+"-crds"
			require.Equal(t, token, *pod.Spec.AutomountServiceAccountToken, of)
			if name == "everything" {
				require.Equal(t, "platform", pod.Labels["team"], of)
				require.Equal(t, "visavis@sha256:"+strings.Repeat("0", 64), c.Image, of)
			}
		}
	}
}

// What a pod mounts or refers to is rendered, or the user's own.
func TestPodsFindWhatTheyNeed(t *testing.T) {
	all := render(t, everything)
	for of, pod := range pods(t, all) {
		volumes := map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
			if v.ConfigMap != nil {
				named[*corev1.ConfigMap](t, all, v.ConfigMap.Name)
			}
			if v.Secret != nil {
				require.Contains(t, named[*corev1.Secret](t, all, v.Secret.SecretName).Data, v.Secret.Items[0].Key)
			}
		}
		for _, m := range pod.Spec.Containers[0].VolumeMounts {
			require.True(t, volumes[m.Name], "%s mounts %s", of, m.Name)
		}
		for _, e := range pod.Spec.Containers[0].Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				require.Contains(t, named[*corev1.Secret](t, all, e.ValueFrom.SecretKeyRef.Name).StringData, e.ValueFrom.SecretKeyRef.Key)
			}
		}
		if a := pod.Spec.ServiceAccountName; a != "" {
			require.False(t, *named[*corev1.ServiceAccount](t, all, a).AutomountServiceAccountToken)
		}
	}
}

// A hook runs before the release's objects are there: it needs none of them.
func TestHooksStandAlone(t *testing.T) {
	all := render(t, everything)
	before := map[string]bool{"bucket": true}
	for _, o := range all {
		m := o.(metav1.Object)
		if strings.HasPrefix(m.GetAnnotations()["helm.sh/hook"], "pre-install") {
			before[m.GetName()] = true
		}
	}
	migrate := named[*batchv1.Job](t, all, release+"-migrate").Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"migrate"}, migrate.Args)
	require.Equal(t, "VISAVIS_DATABASE", migrate.Env[0].Name)
	for _, j := range of[*batchv1.Job](all) {
		require.Equal(t, "pre-install,pre-upgrade", j.Annotations["helm.sh/hook"])
		spec := j.Spec.Template.Spec
		if spec.ServiceAccountName != "" {
			require.True(t, before[spec.ServiceAccountName])
		}
		for _, v := range spec.Volumes {
			require.Nil(t, v.Secret)
			require.Nil(t, v.PersistentVolumeClaim)
			require.True(t, v.ConfigMap == nil || before[v.ConfigMap.Name])
		}
		for _, e := range spec.Containers[0].Env {
			require.True(t, before[e.ValueFrom.SecretKeyRef.Name], e.Name)
		}
	}
}

func TestSecretsStandInSecretsAlone(t *testing.T) {
	for _, o := range render(t, everything) {
		if _, ok := o.(*corev1.Secret); ok {
			continue
		}
		text, err := json.Marshal(o)
		require.NoError(t, err)
		require.NotContains(t, string(text), "secret@db", o.(metav1.Object).GetName())
	}
}

func TestAutoscalingOwnsTheNumberOfPods(t *testing.T) {
	on := render(t, least)
	require.Nil(t, named[*appsv1.Deployment](t, on, release+"-api").Spec.Replicas)
	require.Equal(t, release+"-api", named[*autoscalingv2.HorizontalPodAutoscaler](t, on, release+"-api").Spec.ScaleTargetRef.Name)

	off := render(t, least+"\napi: {replicas: 3, autoscaling: {enabled: false}}")
	require.EqualValues(t, 3, *named[*appsv1.Deployment](t, off, release+"-api").Spec.Replicas)
	require.Empty(t, of[*autoscalingv2.HorizontalPodAutoscaler](off))
}

// A pod has the time to leave the Service and then to drain.
func TestPodsStopInTime(t *testing.T) {
	all := render(t, least+"\nshutdown: {preStopSeconds: 7, drainSeconds: 90}")
	require.Contains(t, named[*corev1.ConfigMap](t, all, release).Data["settings.yaml"], "drain: 90s")
	api := named[*appsv1.Deployment](t, all, release+"-api")
	require.Equal(t, 0, api.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue())
	for _, pod := range []corev1.PodTemplateSpec{api.Spec.Template, operatorPods(t, all)["portal"]} {
		require.EqualValues(t, 7, pod.Spec.Containers[0].Lifecycle.PreStop.Sleep.Seconds)
		require.Greater(t, *pod.Spec.TerminationGracePeriodSeconds, int64(97))
	}
}

// What a process reads at its start rolls the pods when it changes; nothing else does.
func TestWhatRollsPods(t *testing.T) {
	mark := func(values string) [2]string {
		all := render(t, values)
		return [2]string{
			named[*appsv1.Deployment](t, all, release+"-api").Spec.Template.Annotations["checksum/settings"],
			operatorPods(t, all)["worker"].Annotations["checksum/settings"],
		}
	}
	at := mark(least)
	require.NotEmpty(t, at[0])
	require.Equal(t, at, mark(least))
	require.Equal(t, at, mark(least+"\napi: {autoscaling: {maxReplicas: 20}}"))
	for _, change := range []string{"settings: {log-level: debug}", "plans: 'plans: []'", "urls: {public: https://a.example}", "files: {url: s3://b}"} {
		changed := mark(least + "\n" + change)
		require.NotEqual(t, at[0], changed[0], change)
		require.NotEqual(t, at[1], changed[1], change)
	}
	require.NotEqual(t, mark(`database: {url: "postgres://a/x"}`), mark(`database: {url: "postgres://b/x"}`))
}

func TestTrustedCAIsMounted(t *testing.T) {
	all := render(t, least+"\ntrustedCA: {configMapName: authority, key: root.pem}")
	for of, pod := range pods(t, all) {
		mounted := slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/etc/visavis/ca" })
		reads := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.ConfigMap != nil && v.ConfigMap.Name == "authority" && v.ConfigMap.Items[0].Key == "root.pem"
		})
		settled := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "config" })
		require.Equal(t, settled, mounted, of)
		require.Equal(t, settled, reads, of)
	}
	require.Contains(t, named[*corev1.ConfigMap](t, all, release).Data["settings.yaml"], "trust-ca: /etc/visavis/ca/ca.crt")
}
