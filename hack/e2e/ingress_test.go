package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"visavis.dev/hack/cluster/node"
)

// admit starts an ingress controller, Traefik, as a cluster has one before the platform
// comes, and answers the address where it takes what comes from outside.
func (s stage) admit() (address string) {
	s.Helper()
	s.apply(fmt.Sprintf(ingressController, images+ingressImage, s.namespace))
	s.Cleanup(func() {
		s.kubectl("delete", "ingressclass,clusterrole,clusterrolebinding", s.namespace)
	})
	s.kubectl("rollout", "status", "deployment/traefik", "--timeout=90s")
	if os.Getenv("KUBECONFIG") != node.Kubeconfig() {
		return s.forward("service/traefik", 80)
	}
	// What the controller of a cloud's load balancers says once there is one. From then
	// on kube-proxy takes what comes to that address.
	s.kubectl("patch", "service", "traefik", "--subresource=status", "--patch",
		fmt.Sprintf(`{"status": {"loadBalancer": {"ingress": [{"ip": %q}]}}}`, node.Address))
	return net.JoinHostPort(node.Address, "80")
}

// through reaches any host at an address.
func through(address string) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: 32,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
	}}
}

// page reads a page as a browser does. The error is nil where it is the museum's.
func (p *platform) page(address string) error {
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := p.web.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(page), "City Museum") {
		return fmt.Errorf("%s: %s: %.200s", address, response.Status, page)
	}
	return nil
}

// published waits until every Ingress of the platform says where it is reached.
func (p *platform) published() {
	p.Helper()
	if os.Getenv("KUBECONFIG") != node.Kubeconfig() {
		p.Log("the load balancers are not ours")
		return
	}
	p.eventually(30*time.Second, func() error {
		const all = `jsonpath={range .items[*]}{.spec.rules[0].host}={.status.loadBalancer.ingress[0].ip} {end}`
		want := fmt.Sprintf("%[1]s=%[3]s %[2]s=%[3]s ", apiHost, museumHost, node.Address)
		if got := p.kubectl("get", "ingresses", "--sort-by=.spec.rules[0].host", "-o", all); got != want {
			return fmt.Errorf("the Ingresses are at %q, not at %q", got, want)
		}
		return nil
	})
}

// ingressController is Traefik with what its documentation has its provider of
// Ingresses need, and of the class that has the namespace's name.
const ingressController = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: %[2]s}
spec: {controller: traefik.io/ingress-controller}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: traefik}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[2]s}
rules:
  - {apiGroups: [""], resources: [services, secrets, nodes], verbs: [get, list, watch]}
  - {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
  - {apiGroups: [networking.k8s.io], resources: [ingresses, ingressclasses], verbs: [get, list, watch]}
  - {apiGroups: [networking.k8s.io], resources: [ingresses/status], verbs: [update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[2]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[2]s}
subjects: [{kind: ServiceAccount, name: traefik, namespace: %[2]s}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: traefik}
spec:
  selector: {matchLabels: {app: traefik}}
  template:
    metadata: {labels: {app: traefik}}
    spec:
      serviceAccountName: traefik
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: traefik
          image: %[1]s
          imagePullPolicy: IfNotPresent
          args:
            - --global.checknewversion=false
            - --global.sendanonymoususage=false
            - --entrypoints.web.address=:8000
            - --entrypoints.traefik.address=:8080
            - --ping=true
            - --providers.kubernetesingress=true
            - --providers.kubernetesingress.ingressclass=%[2]s
            - --providers.kubernetesingress.ingressendpoint.publishedservice=%[2]s/traefik
            # As Kubernetes has it: /v1 is not the beginning of /v12.
            - --providers.kubernetesingress.strictprefixmatching=true
          ports: [{name: web, containerPort: 8000}, {name: traefik, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /ping, port: traefik}, periodSeconds: 1}
          resources: {requests: {cpu: 10m, memory: 64Mi}}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
---
apiVersion: v1
kind: Service
metadata: {name: traefik}
spec:
  type: LoadBalancer
  selector: {app: traefik}
  ports: [{name: web, port: 80, targetPort: web}]
`
