package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	reconcilers "visavis.dev/operator"
	deployment "visavis.dev/operator/platform"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/process/backend"
)

// operatorSettings are those of the role that brings custom resources about.
type operatorSettings struct {
	settings
	namespace    string
	serves       []string
	instance     string
	podConfig    string
	ingressClass string
	kubeQPS      int
}

func (o *operatorSettings) define(f *pflag.FlagSet) {
	f.StringVar(&o.namespace, "namespace", "", "`NAMESPACE` that the operator runs in: its lease, the pods it starts and the Secrets of shards are there")
	f.StringSliceVar(&o.serves, "serve-namespace", nil, "`NAMESPACE` whose Organisations, Webhooks and Portals are brought about beside those of its own; repeatable, and \"*\" for every one. The operator needs the rights to their Secrets (no other unless given)")
	f.StringVar(&o.instance, "instance", "visavis", "`NAME` of the deployment, the label app.kubernetes.io/instance of what belongs to it")
	f.StringVar(&o.podConfig, "pod-config", "", "`NAME` of the ConfigMap with the templates of the pods it starts")
	f.StringVar(&o.ingressClass, "ingress-class", "", "`CLASS` of the Ingresses of portals' own hosts (the cluster's default unless given)")
	f.IntVar(&o.kubeQPS, "kube-qps", 20, "requests a second to the API server at most")
}

func operatorCommand() *cobra.Command {
	var o operatorSettings
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Bring the custom resources of a Kubernetes cluster about",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.directoryFlag(f)
	o.running(f)
	o.urls(f)
	o.bucket(f)
	o.logging(f, "json")
	o.define(f)
	return cmd
}

// complete fills in what is needed and was not given.
func (o *operatorSettings) complete() (err error) {
	switch {
	case o.database == "":
		return errNoDatabase
	case o.namespace == "":
		return errors.New("namespace is required: --namespace NAMESPACE or VISAVIS_NAMESPACE")
	case len(o.serves) > 1 && slices.Contains(o.serves, resource.EveryNamespace):
		return errors.New(`serve-namespace: want "*" alone, or names`)
	case slices.ContainsFunc(o.serves, func(name string) bool {
		return name != resource.EveryNamespace && len(validation.IsDNS1123Label(name)) > 0
	}):
		return fmt.Errorf("serve-namespace: want names of namespaces, not %q", o.serves)
	case o.podConfig == "":
		return errors.New("pod-config is required: --pod-config NAME or VISAVIS_POD_CONFIG")
	case o.kubeQPS < 1:
		return fmt.Errorf("kube-qps: want at least 1, not %d", o.kubeQPS)
	}
	if o.files == "" {
		o.files, err = folderURL(defaultFiles)
	}
	return err
}

func (o *operatorSettings) run(ctx context.Context) error {
	if err := o.complete(); err != nil {
		return err
	}
	log, flush, err := o.logger()
	if err != nil {
		return err
	}
	defer flush()
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("the cluster's API server: %w", err)
	}
	options, err := o.backendOptions(log)
	if err != nil {
		return err
	}
	options.Metrics = prometheus.NewRegistry() // the operator's own figures are those of its reconcilers
	b, err := whenReachable(ctx, log, func() (*backend.Backend, error) { return backend.Open(ctx, options) })
	if err != nil {
		return err
	}
	defer b.Close()
	mgr, err := reconcilers.New(config, o.kubeQPS, o.platform(b, log))
	if err != nil {
		return err
	}
	return o.serve(ctx, mgr, b, log)
}

// platform is what the reconcilers work with.
func (o *operatorSettings) platform(b *backend.Backend, log *slog.Logger) *deployment.Platform {
	return &deployment.Platform{
		Directory: b.Directory, Tenants: b.Tenants, Keys: b.Keys, Changes: b.Changes, Catalogue: b.Plans, Vault: b.Vault, Egress: b.Egress,
		Files: b.Files, Library: b.Library, Gallery: b.Gallery, Addresses: b.Addresses, Clock: b.Options.Clock, Log: log,
		Namespace: o.namespace, Serves: o.serves, Instance: o.instance, PodConfig: o.podConfig, IngressClass: o.ingressClass,
		PublicURL: o.publicURL, PortalURL: o.portalURL, LiveURL: o.liveURL,
	}
}

// serve runs the reconcilers, and the port for whoever runs the platform, until the
// context ends.
func (o *operatorSettings) serve(ctx context.Context, mgr ctrl.Manager, b *backend.Backend, log *slog.Logger) error {
	listener, err := o.listenAdmin()
	if err != nil {
		return err
	}
	// The process's own figures and profiles are as every role has them.
	metrics.Registry.MustRegister(health.NewCollector(b.Health))
	p := &process{settings: &o.settings, parts: &parts{backend: b}, metrics: promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{})}
	admin := &http.Server{Handler: p.operations(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- admin.Serve(listener) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { p.stopping.Store(true) })
	go func() {
		if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
			log.Error("the admin port is closed", "error", err)
			cancel()
		}
	}()
	log.Info("working", "admin", listener.Addr().String(), "namespace", o.namespace, "serves", o.serves)
	err = mgr.Start(ctx)
	return errors.Join(err, admin.Close())
}
