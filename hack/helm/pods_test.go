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
	policyv1 "k8s.io/api/policy/v1"
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
		require.Len(t, found, 10, name)
		for of, pod := range found {
			for _, r := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
				require.Truef(t, r.Allowed, "%s: %s: %s", of, r.ForbiddenReason, r.ForbiddenDetail)
			}
			require.Len(t, pod.Spec.Containers, 1, of)
			c := pod.Spec.Containers[0]
			require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, of)
			require.NotEmpty(t, c.Resources.Limits.Memory(), of)
			memory := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "VISAVIS_CONTAINER_MEMORY" })
			require.GreaterOrEqual(t, memory, 0, "%s does not learn what memory it has", of)
			require.Equal(t, "limits.memory", c.Env[memory].ValueFrom.ResourceFieldRef.Resource, of)
			require.False(t, *pod.Spec.EnableServiceLinks, of)
			token := of == release+"-operator" || of == release+"-crds"
			require.Equal(t, token, *pod.Spec.AutomountServiceAccountToken, of)
			if name == "everything" {
				require.Equal(t, "platform", pod.Labels["team"], of)
				require.Equal(t, "registry.example.com/visavis@sha256:"+strings.Repeat("0", 64), c.Image, of)
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
	require.True(t, slices.ContainsFunc(migrate.Env, func(e corev1.EnvVar) bool { return e.Name == "VISAVIS_DATABASE" }))
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
			if e.ValueFrom.ResourceFieldRef == nil { // the pod itself has the others
				require.True(t, before[e.ValueFrom.SecretKeyRef.Name], e.Name)
			}
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

	off := render(t, least+"\napi: {replicas: 3, autoscaling: {enabled: false}}\nreader: {replicas: 4, autoscaling: {enabled: false}}")
	require.EqualValues(t, 4, *named[*appsv1.Deployment](t, off, release+"-reader").Spec.Replicas)
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
	database := func(url string) [2]string {
		return mark(`image: {repository: x}` + "\n" + `database: {url: "` + url + `"}`)
	}
	require.NotEqual(t, database("postgres://a/x"), database("postgres://b/x"))
	require.NotEqual(t, database("postgres://a/x"), database("postgres://a/y"))
	// Whoever sees a pod could try passwords on what has one in it.
	require.Equal(t, database("postgres://me:one@a/x?sslpassword=one"), database("postgres://me:two@a/x?sslpassword=two"))
}

// Whatever connects to a database can tell whose it is, and say who it is itself.
func TestWhatConnectsHasCertificates(t *testing.T) {
	all := render(t, least+`
trustedCA: {configMapName: authority, key: root.pem}
pods:
  extraVolumes: [{name: client, secret: {secretName: client, defaultMode: 0440}}]
  extraVolumeMounts: [{name: client, mountPath: /etc/visavis/client, readOnly: true}]
`)
	found := pods(t, all)
	require.Contains(t, found, "migrate", "the Shards'")
	for of, pod := range found {
		container := pod.Spec.Containers[0]
		connects := slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == "VISAVIS_DATABASE" })
		require.Equal(t, !strings.HasSuffix(of, "-crds") && !strings.Contains(of, "-test-"), connects, of)
		for path, volume := range map[string]func(corev1.Volume) bool{
			"/etc/visavis/ca": func(v corev1.Volume) bool {
				return v.ConfigMap != nil && v.ConfigMap.Name == "authority" && v.ConfigMap.Items[0].Key == "root.pem"
			},
			"/etc/visavis/client": func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == "client" },
		} {
			mounted := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path })
			require.Equal(t, connects, mounted, "%s: %s", of, path)
			require.Equal(t, connects, slices.ContainsFunc(pod.Spec.Volumes, volume), "%s: %s", of, path)
		}
	}
	require.Contains(t, named[*corev1.ConfigMap](t, all, release).Data["settings.yaml"], "trust-ca: /etc/visavis/ca/ca.crt")
}

// Who writes mails, and who lets people ask for one, has the mail server's URL.
func TestMail(t *testing.T) {
	for of, pod := range pods(t, render(t, least+"\nmail: {secretName: relay, key: address}")) {
		i := slices.IndexFunc(pod.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "VISAVIS_MAIL_URL" })
		require.Equal(t, slices.Contains([]string{release + "-api", "portal", "worker"}, of), i >= 0, of)
		if i >= 0 {
			from := pod.Spec.Containers[0].Env[i].ValueFrom.SecretKeyRef
			require.Equal(t, "relay/address", from.Name+"/"+from.Key)
		}
	}
	text, err := json.Marshal(pods(t, render(t, least)))
	require.NoError(t, err)
	require.NotContains(t, string(text), "VISAVIS_MAIL_URL")
}

// Who writes mails, and who takes their answers, knows where these go, and the gateway's secret as a file.
func TestInboundMail(t *testing.T) {
	for of, pod := range pods(t, render(t, least+"\nmail: {secretName: relay, inbound: {domain: answers.example.com, secretName: gateway, key: word}}")) {
		container := pod.Spec.Containers[0]
		knows := slices.Contains([]string{release + "-api", "portal", "worker"}, of)
		require.Equal(t, knows, slices.Contains(container.Env, corev1.EnvVar{Name: "VISAVIS_INBOUND_DOMAIN", Value: "answers.example.com"}), of)
		require.Equal(t, knows, slices.Contains(container.Env, corev1.EnvVar{Name: "VISAVIS_INBOUND_SECRET", Value: "/etc/visavis/inbound/secret"}), of)
		require.Equal(t, knows, slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/etc/visavis/inbound" }), of)
		require.Equal(t, knows, slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Secret != nil && v.Secret.SecretName == "gateway" && v.Secret.Items[0].Key == "word"
		}), of)
	}
	text, err := json.Marshal(pods(t, render(t, least)))
	require.NoError(t, err)
	require.NotContains(t, string(text), "INBOUND")
}

// What a hook that failed leaves behind is a Job, for its log: no account and no password.
func TestWhatFailedHooksLeave(t *testing.T) {
	for _, o := range render(t, everything) {
		of := o.(metav1.Object).GetAnnotations()
		if !strings.HasPrefix(of["helm.sh/hook"], "pre-install") {
			continue
		}
		_, job := o.(*batchv1.Job)
		require.Equal(t, !job, strings.Contains(of["helm.sh/hook-delete-policy"], "hook-failed"), o.(metav1.Object).GetName())
	}
}

// Documents are read by pods of their own, which are large enough for two at a time, and
// the shards' workers leave them alone.
func TestDocumentsAreReadApart(t *testing.T) {
	all := render(t, everything)
	found := pods(t, all)
	reader := found[release+"-reader"].Spec.Containers[0]
	require.Equal(t, []string{"worker", "--tasks=read"}, reader.Args)
	require.GreaterOrEqual(t, reader.Resources.Limits.Memory().Value(), int64(2*512+512)<<20)
	var tasks string
	for _, e := range found["worker"].Spec.Containers[0].Env {
		if e.Name == "VISAVIS_TASKS" {
			tasks = e.Value
		}
	}
	require.Equal(t, "deliver,jobs", tasks)
	require.Equal(t, release+"-reader", named[*autoscalingv2.HorizontalPodAutoscaler](t, all, release+"-reader").Spec.ScaleTargetRef.Name)
	require.Equal(t, "reader", named[*policyv1.PodDisruptionBudget](t, all, release+"-reader").Spec.Selector.MatchLabels["app.kubernetes.io/component"])
}

// Portals alone have the port for WebRTC, at their node, and tell browsers where that is.
func TestWebRTC(t *testing.T) {
	values := "\nportal: {webrtc: {hostPort: 30478}}"
	all := render(t, least+values)
	for of, pod := range pods(t, all) {
		i := slices.IndexFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == "webrtc" })
		require.Equal(t, of == "portal", i >= 0, of)
		if i < 0 {
			continue
		}
		port := pod.Spec.Containers[0].Ports[i]
		require.Equal(t, []any{int32(30478), int32(30478), corev1.ProtocolUDP}, []any{port.HostPort, port.ContainerPort, port.Protocol})
		require.Equal(t, []string{"0.0.0.0:30478", "$(HOST_IP)"}, []string{env(pod, "VISAVIS_RTC_ADDR"), env(pod, "VISAVIS_RTC_PUBLIC_ADDRESS")})
	}
	opened := 0
	for _, p := range policies(t, all) {
		for _, rule := range p.Ingress {
			if rule.Ports[0].Port.String() == "webrtc" {
				opened++
				require.Equal(t, "portal", p.PodSelector.MatchLabels["app.kubernetes.io/component"])
			}
		}
	}
	require.Equal(t, 1, opened)
	named := render(t, least+"\nportal: {webrtc: {hostPort: 30478, publicAddresses: [203.0.113.7, \"203.0.113.8:9\"]}}")
	require.Equal(t, "203.0.113.7,203.0.113.8:9", env(pods(t, named)["portal"], "VISAVIS_RTC_PUBLIC_ADDRESS"))
	require.Empty(t, env(pods(t, render(t, least))["portal"], "VISAVIS_RTC_ADDR"))
}

// env is a pod's variable; empty for none.
func env(pod corev1.PodTemplateSpec, name string) string {
	for _, e := range pod.Spec.Containers[0].Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}
