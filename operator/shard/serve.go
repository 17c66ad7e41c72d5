package shard

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
)

// databaseAnnotation is the fingerprint of the database's URL on the pods: they read it
// from the directory once, so another one rolls them.
const databaseAnnotation = "visavis.dev/database"

// roles are the components that serve a shard.
var roles = []string{pods.Worker, pods.Portal}

func (r *Rules) meta(s *v1alpha1.Shard, config *pods.Config, component string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: r.Namespace, Name: s.Name + "-" + component, Labels: config.Labels(component, s.Name)}
}

// serve makes everything that runs for a shard.
func (r *Rules) serve(ctx context.Context, s *v1alpha1.Shard, config *pods.Config, mark string) error {
	args := map[string][]string{pods.Worker: {"worker", "--shard", s.Name}, pods.Portal: {"portal"}}
	for _, component := range roles {
		if err := r.policy(ctx, s, config, component); err != nil {
			return err
		}
		t := config.Template(component, s, args[component]...)
		if t.Annotations == nil {
			t.Annotations = map[string]string{}
		}
		t.Annotations[databaseAnnotation] = mark
		selector := config.Labels(component, s.Name)
		if component == pods.Worker {
			t.Labels[pods.LaneLabel], selector[pods.LaneLabel] = "shared", "shared"
		}
		for _, o := range []client.Object{
			r.deployment(s, config, component, selector, t),
			r.disruption(s, config, component, selector),
		} {
			if err := r.writer().Apply(ctx, s, o); err != nil {
				return err
			}
		}
	}
	return r.writer().Apply(ctx, s, r.service(s, config))
}

// deployment runs a component. The number of its pods is not the reconciler's.
func (r *Rules) deployment(s *v1alpha1.Shard, config *pods.Config, component string, selector map[string]string, t corev1.PodTemplateSpec) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: r.meta(s, config, component),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: t,
			// A new pod is ready before an old one is asked to go.
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromString("25%")),
			}},
		},
	}
}

func (r *Rules) disruption(s *v1alpha1.Shard, config *pods.Config, component string, selector map[string]string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: r.meta(s, config, component),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: selector},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}

func (r *Rules) service(s *v1alpha1.Shard, config *pods.Config) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: r.meta(s, config, pods.Portal),
		Spec: corev1.ServiceSpec{
			Selector: config.Labels(pods.Portal, s.Name),
			Ports:    []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromString("http")}},
		},
	}
}

// policy restricts what a component's pods of the shard reach, where the deployment
// does so.
func (r *Rules) policy(ctx context.Context, s *v1alpha1.Shard, config *pods.Config, component string) error {
	p := &networkingv1.NetworkPolicy{ObjectMeta: r.meta(s, config, component)}
	given, ok := config.Policies[component]
	if !ok {
		return r.writer().Remove(ctx, s, p)
	}
	given.DeepCopyInto(&p.Spec)
	selector := maps.Clone(p.Spec.PodSelector.MatchLabels)
	if selector == nil {
		selector = map[string]string{}
	}
	maps.Copy(selector, config.Labels(component, s.Name))
	p.Spec.PodSelector.MatchLabels = selector
	return r.writer().Apply(ctx, s, p)
}

// rolled notes how many pods there are, and waits for those of the current template.
func (r *Rules) rolled(ctx context.Context, s *v1alpha1.Shard) error {
	var waits error
	for _, component := range roles {
		var d appsv1.Deployment
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: s.Name + "-" + component}, &d)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		now := v1alpha1.RoleStatus{ReadyReplicas: d.Status.ReadyReplicas}
		if d.Spec.Replicas != nil {
			now.Replicas = *d.Spec.Replicas
		}
		now.Summary = fmt.Sprintf("%d/%d", now.ReadyReplicas, now.Replicas)
		if component == pods.Worker {
			s.Status.Workers = now
		} else {
			s.Status.Portals = now
		}
		current := err == nil && d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas >= d.Status.Replicas
		if waits == nil && (!current || d.Status.AvailableReplicas == 0) {
			waits = resource.Pending(0, "The pods of %s/%s-%s are not all of its current template and ready.", r.Namespace, s.Name, component)
		}
	}
	return waits
}

// children are everything that was made for a shard.
func (r *Rules) children(ctx context.Context, s *v1alpha1.Shard) (all []client.Object, err error) {
	for _, component := range roles {
		at := metav1.ObjectMeta{Namespace: r.Namespace, Name: s.Name + "-" + component}
		all = append(all, &appsv1.Deployment{ObjectMeta: at}, &policyv1.PodDisruptionBudget{ObjectMeta: at}, &networkingv1.NetworkPolicy{ObjectMeta: at})
	}
	all = append(all, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: s.Name + "-" + pods.Portal}})
	jobs, err := r.jobs(ctx, s)
	for i := range jobs {
		all = append(all, &jobs[i])
	}
	return all, err
}

// each does something with every child.
func (r *Rules) each(ctx context.Context, s *v1alpha1.Shard, do func(ctx context.Context, owner, child client.Object) error) error {
	all, err := r.children(ctx, s)
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := do(ctx, s, o); err != nil {
			return err
		}
	}
	return nil
}
