// Command ingress is an ingress controller for the tests: it serves the Ingresses of
// one class from inside the cluster, read once a second, by host and path prefix. It
// is here because the tests' cluster has no way out to get a real one.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	addr := flag.String("addr", ":8080", "where to listen")
	class := flag.String("class", "e2e", "the class of the Ingresses to serve")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, *addr, *class)
	stop()
	if err != nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
}

// rule sends what is for a host and begins with a path to a Service.
type rule struct {
	host, prefix string
	to           *httputil.ReverseProxy
}

func run(ctx context.Context, addr, class string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var rules atomic.Pointer[[]rule]
	go func() {
		for {
			if found, err := read(ctx, client, class); err != nil {
				slog.Warn("the rules stay as they were", "error", err)
			} else {
				rules.Store(&found)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}()
	server := &http.Server{Addr: addr, ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if found := rules.Load(); found != nil {
			if proxy := choose(*found, r); proxy != nil {
				proxy.ServeHTTP(w, r)
				return
			}
		}
		http.Error(w, "no Ingress is for "+r.Host+r.URL.Path, http.StatusBadGateway)
	})}
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.Background()) })
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// choose is where a request goes: the longest prefix of its host's wins.
func choose(rules []rule, r *http.Request) *httputil.ReverseProxy {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	for _, rule := range rules {
		under := r.URL.Path == rule.prefix || strings.HasPrefix(r.URL.Path, strings.TrimSuffix(rule.prefix, "/")+"/")
		if under && (rule.host == "" || rule.host == host) {
			return rule.to
		}
	}
	return nil
}

// read reads the rules, those with longer prefixes first.
func read(ctx context.Context, client kubernetes.Interface, class string) ([]rule, error) {
	ingresses, err := client.NetworkingV1().Ingresses(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var rules []rule
	for _, i := range ingresses.Items {
		if i.Spec.IngressClassName == nil || *i.Spec.IngressClassName != class {
			continue
		}
		for _, r := range i.Spec.Rules {
			for _, path := range r.HTTP.Paths {
				service, err := client.CoreV1().Services(i.Namespace).Get(ctx, path.Backend.Service.Name, metav1.GetOptions{})
				if err != nil {
					slog.Warn("an Ingress without its Service", "ingress", i.Name, "error", err)
					continue
				}
				to := &url.URL{Scheme: "http", Host: net.JoinHostPort(service.Spec.ClusterIP, fmt.Sprint(portOf(service, path.Backend.Service.Port)))}
				rules = append(rules, rule{r.Host, path.Path, &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
					p.SetURL(to)
					p.Out.Host = p.In.Host
					p.SetXForwarded()
				}}})
			}
		}
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return len(b.prefix) - len(a.prefix) })
	return rules, nil
}

func portOf(s *corev1.Service, named networkingv1.ServiceBackendPort) int32 {
	for _, p := range s.Spec.Ports {
		if named.Name != "" && p.Name == named.Name {
			return p.Port
		}
	}
	return named.Number
}
