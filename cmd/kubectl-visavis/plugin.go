package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"visavis.dev/cmd/build"
	"visavis.dev/cmd/show"
)

// toolPods are the pods in which the plugin's commands run: they have the settings
// and the databases.
const toolPods = "app.kubernetes.io/name=visavis,app.kubernetes.io/component in (operator, api)"

// plugin shows the platform that runs in a cluster. Its commands run in a pod of the
// platform, so whoever may exec there may see it, and no database is reachable from
// outside.
type plugin struct {
	// kubeconfig says which cluster, as kubectl's own flags and files do.
	kubeconfig clientcmd.ClientConfig
}

func pluginCommand() *cobra.Command {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	overrides := &clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults}
	p := plugin{clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)}
	cmd := &cobra.Command{
		Use:           "visavis",
		Short:         "Show what the platform of this cluster has: also what was made through the API",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       build.Version(built),
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl visavis"},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&rules.ExplicitPath, "kubeconfig", "", "Path to the kubeconfig file to use for CLI requests.")
	clientcmd.BindOverrideFlags(overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
	cmd.AddCommand(show.Commands(func(cmd *cobra.Command, args []string) error {
		return p.run(cmd, append([]string{"/visavis", "admin", "show", cmd.Name()}, inPod(cmd, args)...))
	})...)
	return cmd
}

// inPod is the command's arguments as the pod is to have them: its own flags, not
// those that say where the cluster is.
func inPod(cmd *cobra.Command, args []string) []string {
	var all []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			all = append(all, "--"+f.Name+"="+v)
		}
	})
	if follow, err := cmd.Flags().GetBool("follow"); err == nil && follow {
		all = append(all, "--"+show.AttachedFlag)
	}
	return append(append(all, "--"), args...)
}

// run runs a command in a pod, as if it were here.
func (p *plugin) run(cmd *cobra.Command, command []string) error {
	config, err := p.kubeconfig.ClientConfig()
	if err != nil {
		return err
	}
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return err
	}
	pod, err := p.pod(cmd.Context(), client)
	if err != nil {
		return err
	}
	// The input ends when nobody looks any more, and the command with it.
	input, end, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	defer end.Close()
	request := client.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: pod.Spec.Containers[0].Name, Command: command, Stdin: true, Stdout: true, Stderr: true,
		}, scheme.ParameterCodec)
	stream, err := executor(config, request)
	if err != nil {
		return err
	}
	err = stream.StreamWithContext(cmd.Context(), remotecommand.StreamOptions{
		Stdin: input, Stdout: show.Terminal(cmd.OutOrStdout()), Stderr: show.Terminal(cmd.ErrOrStderr()),
	})
	if code, ok := errors.AsType[exec.CodeExitError](err); ok {
		// It said why on its standard error.
		return &exitError{code.Code}
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// executor speaks WebSocket, and SPDY where that is not understood.
func executor(config *rest.Config, request *rest.Request) (remotecommand.Executor, error) {
	socket, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	if err != nil {
		return nil, err
	}
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", request.URL())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool { return err != nil && !errors.Is(err, context.Canceled) })
}

// pod is a running pod of the platform: of the namespace that -n names, or else of the
// only one that has any. Labels are whoever's who makes pods: where two namespaces claim
// to have the platform, a person says which.
func (p *plugin) pod(ctx context.Context, client corev1client.PodsGetter) (*corev1.Pod, error) {
	namespace, chosen, err := p.kubeconfig.Namespace()
	if err != nil {
		return nil, err
	}
	if !chosen {
		found, err := toolPodsIn(ctx, client, metav1.NamespaceAll)
		if !apierrors.IsForbidden(err) {
			return only(found, err)
		}
		// Who may not look everywhere has the context's namespace.
	}
	found, err := toolPodsIn(ctx, client, namespace)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no pod of the platform is ready in namespace %s: choose its namespace with -n", namespace)
	}
	return only(found, err)
}

// toolPodsIn finds the ready pods of a namespace, or of all.
func toolPodsIn(ctx context.Context, client corev1client.PodsGetter, namespace string) ([]corev1.Pod, error) {
	pods, err := client.Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: toolPods})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return !ready(&p) }), nil
}

// only is a pod of the one namespace that pods are in.
func only(pods []corev1.Pod, err error) (*corev1.Pod, error) {
	if err != nil {
		return nil, err
	}
	namespaces := map[string]bool{}
	for i := range pods {
		namespaces[pods[i].Namespace] = true
	}
	switch len(namespaces) {
	case 0:
		return nil, errors.New("no pod of the platform is ready in any namespace: choose its namespace with -n")
	case 1:
		return &pods[0], nil
	}
	return nil, fmt.Errorf("pods that say they are the platform's are in the namespaces %s: choose one with -n",
		strings.Join(slices.Sorted(maps.Keys(namespaces)), ", "))
}

func ready(p *corev1.Pod) bool {
	if p.DeletionTimestamp != nil {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// exitError ends the program with a code, after everything was said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }
