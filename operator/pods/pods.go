// Package pods makes the pods that serve shards of the templates that the deployment
// gives: image, settings, volumes and security are its choice, in a ConfigMap.
package pods

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
)

// Labels of pods.
const (
	ComponentLabel = "app.kubernetes.io/component"
	// ShardLabel names the shard that an object serves.
	ShardLabel = "visavis.dev/shard"
	// LaneLabel tells the workers that anybody's deliveries have, "shared", from
	// those of somebody alone.
	LaneLabel = "visavis.dev/lane"
)

// Components, the values of ComponentLabel.
const (
	Worker  = "worker"
	Portal  = "portal"
	Migrate = "migrate"
)

// Config is the content of the ConfigMap.
type Config struct {
	// Templates are by component.
	Templates map[string]corev1.PodTemplateSpec
	// Policies are what pods may reach and who may reach them, by component; a
	// component without one is not restricted.
	Policies map[string]networkingv1.NetworkPolicySpec
}

// Load reads the ConfigMap. The error is a Refusal where it is missing, or something in
// it is.
func Load(ctx context.Context, r client.Reader, key client.ObjectKey) (*Config, error) {
	var m corev1.ConfigMap
	if err := r.Get(ctx, key, &m); apierrors.IsNotFound(err) {
		return nil, resource.Pending(0, "There is no ConfigMap %s with the templates of pods.", key)
	} else if err != nil {
		return nil, err
	}
	c := &Config{Templates: map[string]corev1.PodTemplateSpec{}, Policies: map[string]networkingv1.NetworkPolicySpec{}}
	for _, component := range []string{Worker, Portal, Migrate} {
		var t corev1.PodTemplateSpec
		text, ok := m.Data[component+".yaml"]
		if !ok {
			return nil, resource.Pending(0, "The ConfigMap %s has no %s.yaml.", key, component)
		}
		if err := yaml.UnmarshalStrict([]byte(text), &t); err != nil {
			return nil, resource.Pending(0, "In the ConfigMap %s, %s.yaml is no template of a pod: %v.", key, component, err)
		}
		if len(t.Spec.Containers) != 1 {
			return nil, resource.Pending(0, "In the ConfigMap %s, %s.yaml has not exactly one container.", key, component)
		}
		c.Templates[component] = t
		text, ok = m.Data[component+"-networkpolicy.yaml"]
		if !ok {
			continue
		}
		var p networkingv1.NetworkPolicySpec
		if err := yaml.UnmarshalStrict([]byte(text), &p); err != nil {
			return nil, resource.Pending(0, "In the ConfigMap %s, %s-networkpolicy.yaml is none: %v.", key, component, err)
		}
		c.Policies[component] = p
	}
	return c, nil
}

// Template is a component's pod for a shard, with these arguments.
func (c *Config) Template(component string, s *v1alpha1.Shard, args ...string) corev1.PodTemplateSpec {
	given := c.Templates[component]
	t := *given.DeepCopy()
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	t.Labels["app.kubernetes.io/name"], t.Labels[ComponentLabel] = "visavis", component
	t.Labels[ShardLabel] = s.Name
	container := &t.Spec.Containers[0]
	container.Args = args
	place := s.Spec.Pods
	if len(place.NodeSelector) > 0 {
		selector := maps.Clone(t.Spec.NodeSelector)
		if selector == nil {
			selector = map[string]string{}
		}
		maps.Copy(selector, place.NodeSelector)
		t.Spec.NodeSelector = selector
	}
	t.Spec.Tolerations = append(t.Spec.Tolerations, place.Tolerations...)
	if place.PriorityClassName != "" {
		t.Spec.PriorityClassName = place.PriorityClassName
	}
	var own *corev1.ResourceRequirements
	switch component {
	case Worker:
		own = s.Spec.Workers.Resources
	case Portal:
		own = s.Spec.Portals.Resources
	}
	if own != nil {
		container.Resources = *own.DeepCopy()
	}
	return t
}

// Labels are those of an object of a component that serves a shard.
func (c *Config) Labels(component, shard string) map[string]string {
	l := map[string]string{"app.kubernetes.io/name": "visavis", ComponentLabel: component, ShardLabel: shard}
	if instance := c.Templates[component].Labels["app.kubernetes.io/instance"]; instance != "" {
		l["app.kubernetes.io/instance"] = instance
	}
	return l
}
