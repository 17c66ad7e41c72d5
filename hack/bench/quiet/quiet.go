// Package quiet measures what an operator asks of a Kubernetes API server while it
// brings many Webhooks about, and afterwards. The benchmarks run it with thousands, the
// tests with a few.
package quiet

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/dedicated"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/pace"
	"visavis.dev/operator/resource"
	"visavis.dev/operator/webhook"
	"visavis.dev/pkg/base/id"
)

// Options are what is measured.
type Options struct {
	// Config reaches the API server, in a namespace of which the Webhooks are made.
	Config    *rest.Config
	Namespace string
	Webhooks  int
	// PerSecond is the operator's limit of requests.
	PerSecond int
	// Rules lack what a manager gives, and Org is an organization that they know.
	Rules webhook.Rules
	Org   id.Org
}

// Figures are what was measured.
type Figures struct {
	// Settled is how long it took until all were ready, and Made what that asked.
	Settled time.Duration
	Made    *Counter
	// Again is what another operator asks that finds all of them as they should be.
	Again *Counter
	// Heap is how many bytes more are live once the operator holds all of them.
	Heap uint64
}

// Measure makes the Webhooks, runs an operator until they are ready, and then another.
func Measure(ctx context.Context, o Options) (Figures, error) {
	scheme, err := newScheme()
	if err != nil {
		return Figures{}, err
	}
	if err := o.declare(ctx, scheme); err != nil {
		return Figures{}, err
	}
	f := Figures{Made: &Counter{}, Again: &Counter{}}
	before, began := heap(), time.Now()
	if err := o.operate(ctx, scheme, f.Made, func(ctx context.Context, c client.Client, _ func() int) error {
		err := await(ctx, func() (bool, error) {
			n, err := ready(ctx, c)
			return n == o.Webhooks, err
		})
		f.Settled, f.Heap = time.Since(began), max(heap(), before)-before
		return err
	}); err != nil {
		return f, err
	}
	return f, o.operate(ctx, scheme, f.Again, func(ctx context.Context, _ client.Client, looked func() int) error {
		return await(ctx, func() (bool, error) { return looked() >= o.Webhooks, nil })
	})
}

func newScheme() (*k8sruntime.Scheme, error) {
	scheme := k8sruntime.NewScheme()
	if err := clientscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// declare makes an Organisation that is there already, and its Webhooks.
func (o Options) declare(ctx context.Context, scheme *k8sruntime.Scheme) error {
	c, err := client.New(o.Config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	organisation := &v1alpha1.Organisation{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "acme"},
		Spec:       v1alpha1.OrganisationSpec{Name: "Acme", Plan: "enterprise"},
	}
	if err := c.Create(ctx, organisation); err != nil {
		return err
	}
	organisation.Status.ID = o.Org.String()
	if err := c.Status().Update(ctx, organisation); err != nil {
		return err
	}
	for n := range o.Webhooks {
		if err := c.Create(ctx, &v1alpha1.Webhook{
			ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: fmt.Sprintf("hook-%05d", n)},
			Spec: v1alpha1.WebhookSpec{
				Organisation: v1alpha1.OrganisationReference{Name: "acme"},
				// An address that no name server need be asked for.
				URL: fmt.Sprintf("https://1.1.1.1/hooks/%d", n), Events: []string{"session.ended"},
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// operate runs an operator while something is waited for, and until it has nothing more
// to ask.
func (o Options) operate(ctx context.Context, scheme *k8sruntime.Scheme, count *Counter,
	wait func(ctx context.Context, c client.Client, looked func() int) error,
) error {
	seen := operatortest.Cache(o.Namespace)
	seen.ByObject[&corev1.Secret{}] = cache.ByObject{Label: labels.SelectorFromSet(webhook.Made())}
	mgr, err := ctrl.NewManager(pace.Limit(count.Count(o.Config), o.PerSecond), ctrl.Options{
		Scheme: scheme, Cache: seen, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return err
	}
	rules := o.Rules
	rules.Client, rules.Reader = mgr.GetClient(), mgr.GetAPIReader()
	rules.Workers = &dedicated.Workers{Writer: child.Writer{Client: rules.Client, Reader: rules.Reader}, Namespace: o.Namespace}
	if err := rules.SetupWithManager(mgr, resource.NewMetrics(prometheus.NewRegistry())); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	from := looks()
	err = wait(ctx, mgr.GetClient(), func() int { return looks() - from })
	if err == nil {
		err = calm(ctx, count)
	}
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

// calm waits until nothing was asked for a while.
func calm(ctx context.Context, count *Counter) error {
	const quietFor = 3 * time.Second
	seen, since := count.Requests(), time.Now()
	return await(ctx, func() (bool, error) {
		if n := count.Requests(); n != seen {
			seen, since = n, time.Now()
		}
		return time.Since(since) > quietFor, nil
	})
}

func await(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ready counts the Webhooks that are. One that never will be is an error.
func ready(ctx context.Context, c client.Client) (n int, err error) {
	var list v1alpha1.WebhookList
	if err := c.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return 0, err
	}
	for i := range list.Items {
		switch c := meta.FindStatusCondition(list.Items[i].Status.Conditions, v1alpha1.Ready); {
		case c == nil || c.Reason == v1alpha1.ReasonPending || c.Reason == v1alpha1.ReasonUnavailable:
		case c.Status != metav1.ConditionTrue:
			return 0, fmt.Errorf("%s: %s: %s", list.Items[i].Name, c.Reason, c.Message)
		default:
			n++
		}
	}
	return n, nil
}

// looks counts the reconciliations of Webhooks in this process.
func looks() (n int) {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		return 0
	}
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			n += int(m.GetCounter().GetValue())
		}
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
