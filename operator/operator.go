// Package operator runs the reconcilers of the custom resources: what all of them
// share of a connection to the cluster, and how little they ask of it.
package operator

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/dedicated"
	"visavis.dev/operator/organisation"
	"visavis.dev/operator/pace"
	"visavis.dev/operator/platform"
	"visavis.dev/operator/portal"
	"visavis.dev/operator/resource"
	"visavis.dev/operator/shard"
	"visavis.dev/operator/webhook"
)

// LeaseName is the lease that the one operator at work holds, in its namespace.
const LeaseName = "visavis-operator"

// forLease is what the lease's own connection takes of the limit: it is renewed every
// two seconds, and never waits behind a flood of other work.
const forLease = 1

// graceful is how long reconciles under way may take when the operator stops.
const graceful = 15 * time.Second

const (
	// atOnce is how many resources of a kind are reconciled side by side: those on a
	// shard that does not answer keep few of the others waiting.
	atOnce = 8
	// within is how long one look at a resource may take.
	within = time.Minute
)

// NewScheme knows the custom resources and the cluster's own kinds.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// Cache holds what is cached to what the operator made, Secrets to the namespaces that
// are served, and to the one ConfigMap.
func Cache(namespace, podConfig string, served resource.Namespaces) cache.Options {
	made := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{child.ManagedByLabel: child.Manager})}
	own, secrets := made, made
	own.Namespaces = map[string]cache.Config{namespace: {}}
	secrets.Transform = slim
	if served != nil {
		secrets.Namespaces = map[string]cache.Config{}
		for _, name := range served {
			secrets.Namespaces[name] = cache.Config{}
		}
	}
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		// Those of Organisations and Webhooks are in their namespaces.
		&corev1.Secret{}:                secrets,
		&appsv1.Deployment{}:            own,
		&batchv1.Job{}:                  own,
		&corev1.Service{}:               own,
		&networkingv1.Ingress{}:         own,
		&networkingv1.NetworkPolicy{}:   own,
		&policyv1.PodDisruptionBudget{}: own,
		&corev1.ConfigMap{}: {
			Namespaces: map[string]cache.Config{namespace: {}}, Field: fields.OneTermEqualSelector("metadata.name", podConfig),
		},
	}}
}

// maxEntry is far more than a key or a signing secret needs, in bytes.
const maxEntry = 4 << 10

// slim takes what is large out of a Secret before it is cached: anybody can label one of
// a megabyte, and there may be many.
func slim(o any) (any, error) {
	if s, ok := o.(*corev1.Secret); ok {
		maps.DeleteFunc(s.Data, func(_ string, value []byte) bool { return len(value) > maxEntry })
		s.ManagedFields = nil
	}
	return o, nil
}

// New makes the manager of every reconciler. Only the one that holds the lease works;
// it hands the lease over when it stops. What is set otherwise, for a test, is.
func New(config *rest.Config, qps int, p *platform.Platform, otherwise ...func(*ctrl.Options)) (ctrl.Manager, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	logger := logr.FromSlogHandler(p.Log.Handler())
	ctrl.SetLogger(logger)
	options := ctrl.Options{
		Scheme: scheme, Logger: logger, Cache: Cache(p.Namespace, p.PodConfig, resource.Serving(p.Namespace, p.Serves...)),
		Metrics:        metricsserver.Options{BindAddress: "0"}, // the admin port has them
		LeaderElection: true, LeaderElectionID: LeaseName, LeaderElectionNamespace: p.Namespace, LeaderElectionReleaseOnCancel: true,
		LeaderElectionConfig:    rest.CopyConfig(config),
		GracefulShutdownTimeout: new(graceful),
		Controller:              ctrlconfig.Controller{MaxConcurrentReconciles: atOnce, ReconciliationTimeout: within},
	}
	for _, set := range otherwise {
		set(&options)
	}
	mgr, err := ctrl.NewManager(pace.Limit(config, max(qps-forLease, 1)), options)
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	return mgr, setUp(mgr, p)
}

// setUp adds the reconcilers of every kind.
func setUp(mgr ctrl.Manager, p *platform.Platform) error {
	m := resource.NewMetrics(metrics.Registry)
	c, reader := mgr.GetClient(), mgr.GetAPIReader()
	served := resource.Serving(p.Namespace, p.Serves...)
	workers := &dedicated.Workers{Writer: child.Writer{Client: c, Reader: reader}, Namespace: p.Namespace}
	shards := &shard.Rules{
		Directory: p.Directory, Tenants: p.Tenants, Clock: p.Clock, Namespace: p.Namespace, PodConfig: p.PodConfig,
	}
	organisations := &organisation.Rules{
		Directory: p.Directory, Tenants: p.Tenants, Keys: p.Keys, Catalogue: p.Catalogue, Files: p.Files,
		Client: c, Reader: reader, Clock: p.Clock, Workers: workers, Served: served,
	}
	webhooks := &webhook.Rules{
		Directory: p.Directory, Tenants: p.Tenants, Vault: p.Vault, Guard: p.Egress, Catalogue: p.Catalogue,
		Client: c, Reader: reader, Clock: p.Clock, Workers: workers, Served: served,
	}
	portals := &portal.Rules{
		Directory: p.Directory, Tenants: p.Tenants, Addresses: p.Addresses, Gallery: p.Gallery, Library: p.Library, Catalogue: p.Catalogue,
		Client: c, Reader: reader, Clock: p.Clock, Served: served, Namespace: p.Namespace, Instance: p.Instance, IngressClass: p.IngressClass,
		PortalURL: p.PortalURL, PublicURL: p.PublicURL, LiveURL: p.LiveURL,
	}
	return errors.Join(
		shards.SetupWithManager(mgr, m, p.Log.With(slog.String("kind", "Shard")), metrics.Registry),
		organisations.SetupWithManager(mgr, m), webhooks.SetupWithManager(mgr, m), portals.SetupWithManager(mgr, m),
	)
}
