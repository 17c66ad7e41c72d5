package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// toolPod is a pod that says it is the platform's.
func toolPod(namespace, name string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
			"app.kubernetes.io/name": "visavis", "app.kubernetes.io/component": "api",
		}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

// Whoever makes a pod chooses its labels: a command runs in no pod that could be another's.
func TestWhichPodAnswers(t *testing.T) {
	t.Parallel()
	const yes, no = corev1.ConditionTrue, corev1.ConditionFalse
	for name, c := range map[string]struct {
		pods []runtime.Object
		// chosen is -n; context is the namespace of the kubeconfig.
		chosen    string
		forbidden bool
		want      string
		says      string
	}{
		"the only one":             {pods: []runtime.Object{toolPod("platform", "a", yes)}, want: "platform/a"},
		"one that is ready":        {pods: []runtime.Object{toolPod("platform", "a", no), toolPod("platform", "b", yes)}, want: "platform/b"},
		"none":                     {says: "in any namespace: choose its namespace with -n"},
		"two namespaces":           {pods: []runtime.Object{toolPod("platform", "a", yes), toolPod("evil", "a", yes)}, says: "namespaces evil, platform: choose one with -n"},
		"the namespace of -n":      {pods: []runtime.Object{toolPod("platform", "a", yes), toolPod("evil", "a", yes)}, chosen: "platform", want: "platform/a"},
		"not in that one":          {pods: []runtime.Object{toolPod("evil", "a", yes)}, chosen: "platform", says: "in namespace platform"},
		"no sight of other spaces": {pods: []runtime.Object{toolPod("default", "a", yes)}, forbidden: true, want: "default/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(c.pods...)
			client.PrependReactor("list", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
				if c.forbidden && a.GetNamespace() == metav1.NamespaceAll {
					return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)
				}
				return false, nil, nil
			})
			overrides := &clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults, Context: clientcmdapi.Context{Namespace: c.chosen}}
			kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{}, overrides)
			pod, err := (&plugin{kubeconfig}).pod(t.Context(), client.CoreV1())
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, pod.Namespace+"/"+pod.Name)
		})
	}
}

func TestPluginForwardsArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"deliveries acme -n prod -f --state failed,retrying -o json": "--follow=true --output=json --state=failed --state=retrying --attached -- acme",
		"webhooks --context eu --failing -O acme":                    "--failing=true --organisation=acme --",
		"orgs -o wide":     "--output=wide --",
		"limits -- --help": "-- --help",
	} {
		cmd := pluginCommand()
		var got []string
		for _, c := range cmd.Commands() {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				got = inPod(cmd, args)
				return nil
			}
		}
		cmd.SetArgs(strings.Fields(line))
		require.NoError(t, cmd.Execute(), line)
		require.Equal(t, want, strings.Join(got, " "))
	}
}
