package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"visavis.dev/hack/bench/quiet"
	"visavis.dev/operator/operatortest"
	"visavis.dev/operator/webhook"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/plan"
)

const (
	// declaredWebhooks is how many resources there are unless the environment says.
	declaredWebhooks    = 10_000
	declaredWebhooksEnv = "VISAVIS_BENCH_WEBHOOKS"
	// operatorRequests is how many requests a second the operator may make.
	operatorRequests = 20
)

// operating measures what the operator asks of the API server to bring about thousands
// of Webhooks that were applied at once, and once they are there.
func operating(ctx context.Context, f *fixture) error {
	n := declaredWebhooks
	if text := os.Getenv(declaredWebhooksEnv); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%s: %w", declaredWebhooksEnv, err)
		}
	}
	path := os.Getenv(operatortest.Env)
	if path == "" {
		fmt.Fprintf(os.Stderr, "bench: no figures of the operator: %s names no API server (hack/withkube)\n", operatortest.Env)
		return nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	config.QPS = -1
	namespace, err := benchNamespace(ctx, config)
	if err != nil {
		return err
	}
	org, _, err := f.newOrg(ctx, "Declared webhooks")
	if err != nil {
		return err
	}
	s := f.backend
	// No plan has so many.
	if err := s.Directory.SetOverrides(ctx, org, plan.Overrides{Limits: plan.Limits{plan.Webhooks: nil}}); err != nil {
		return err
	}
	figures, err := quiet.Measure(ctx, quiet.Options{
		Config: config, Namespace: namespace, Webhooks: n, PerSecond: operatorRequests, Org: org,
		Rules: webhook.Rules{
			Directory: s.Directory, Tenants: s.Tenants, Vault: s.Vault, Catalogue: s.Plans, Guard: egress.New(egress.Options{}),
			Clock: clock.RealClock{},
		},
	})
	if err != nil {
		return err
	}
	each := func(count int) float64 { return float64(count) / float64(n) }
	made, again := figures.Made, figures.Again
	report(fmt.Sprintf("Operator/%d-webhooks", n), 1, figure{figures.Settled.Seconds(), "s"},
		figure{each(made.Requests()), "requests/webhook"}, figure{each(made.Writes()), "writes/webhook"},
		figure{float64(made.Busiest(time.Second)), "requests/busiest-second"}, figure{float64(figures.Heap) / 1024 / float64(n), "KiB/webhook"})
	report(fmt.Sprintf("Operator/%d-webhooks-again", n), 1,
		figure{float64(again.Requests()), "requests"}, figure{float64(again.Writes()), "writes"})
	return nil
}

func benchNamespace(ctx context.Context, config *rest.Config) (string, error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	made, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{})
	return made.GetName(), err
}
