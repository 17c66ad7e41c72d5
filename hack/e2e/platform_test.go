package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/node"
)

const (
	apiHost    = "api.e2e.test"
	portalHost = "portal.e2e.test"
	museumHost = "museum.e2e.test"
	// The museum's portal is on its own host and by its slug.
	museumPage = "http://" + museumHost + "/"
	museumSlug = "http://" + portalHost + "/p/city-museum"
)

// platform is the whole product in a namespace, installed by its chart.
type platform struct {
	stage
	// shard is the name of its one Shard, which is the cluster's.
	shard string
	// web reaches it as callers do: by its hosts, through the ingress controller.
	web *http.Client
	// control is where the receiver of webhooks is told what to do, and tells.
	control string
}

// install installs the chart from nothing: databases, a volume, a receiver of
// webhooks and an ingress controller are there, as a company would have them.
func install(s stage) *platform {
	s.Helper()
	p := &platform{stage: s, shard: "s-" + strings.TrimPrefix(s.namespace, "e2e-")}
	s.kubectl("label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=restricted")
	s.kubectl("create", "secret", "generic", "directory", "--from-literal=url="+s.database("directory"))
	s.kubectl("create", "secret", "generic", "shard", "--from-literal=url="+s.database("shard"))
	s.volume("files")
	s.apply(fmt.Sprintf(neighbour, images+receiverImage, s.namespace))
	s.kubectl("rollout", "status", "deployment/receiver", "--timeout=90s")
	p.web, p.control = through(s.admit()), s.reach("receiver", 80)
	s.kubectl("create", "configmap", "authority", "--from-literal=ca.crt="+p.receiver("GET", "/ca", ""))

	s.Cleanup(p.uninstall)
	values := filepath.Join(s.TempDir(), "values.yaml")
	require.NoError(s, os.WriteFile(values, fmt.Appendf(nil, installed, p.shard, s.namespace, images, os.Getenv(hostEnv)), 0o600))
	s.helm("install", "visavis", "../../charts/visavis", "--values", values, "--wait", "--timeout", "4m")
	p.ready("shard", p.shard)
	return p
}

// uninstall takes away what is the cluster's, not the namespace's.
func (p *platform) uninstall() {
	for _, arguments := range [][]string{
		{"delete", "portals,webhooks,organisations", "--all", "--timeout=60s"},
		{"delete", "shard", p.shard, "--timeout=60s"},
	} {
		if out, err := p.try("kubectl", "", arguments...); err != nil {
			p.Logf("%v: %s", err, out)
		}
	}
	if out, err := p.try("helm", "", "uninstall", "visavis", "--wait"); err != nil {
		p.Logf("%v: %s", err, out)
	}
}

// volume makes a claim of that name for a volume that all pods of one node can write.
func (s stage) volume(name string) {
	s.Helper()
	if os.Getenv("KUBECONFIG") != node.Kubeconfig() {
		s.apply(fmt.Sprintf(claim, name, ""))
		return
	}
	// The node is this machine, and nobody makes volumes on it.
	dir := s.TempDir()
	require.NoError(s, os.Chmod(dir, 0o777))
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		require.NoError(s, os.Chmod(d, 0o777))
	}
	s.apply(fmt.Sprintf(hostVolume, s.namespace, dir))
	s.Cleanup(func() { s.kubectl("delete", "persistentvolume", s.namespace, "--wait=false") })
	s.apply(fmt.Sprintf(claim, name, fmt.Sprintf(`storageClassName: "", volumeName: %s,`, s.namespace)))
}

// ready waits until a resource is Ready; one that is not has said why.
func (p *platform) ready(kind, name string) {
	p.Helper()
	p.condition(kind, name, "Ready", "True")
}

// condition waits until a condition of a resource has a status, and answers its reason
// and message.
func (p *platform) condition(kind, name, condition, status string) (reason, message string) {
	p.Helper()
	p.eventually(3*time.Minute, func() error {
		var found struct{ Status, Reason, Message string }
		text := p.kubectl("get", kind, name, "-o", fmt.Sprintf(`jsonpath={.status.conditions[?(@.type==%q)]}`, condition))
		if text != "" {
			if err := json.Unmarshal([]byte(text), &found); err != nil {
				return err
			}
		}
		reason, message = found.Reason, found.Message
		if found.Status != status {
			return fmt.Errorf("%s %s: %s is %q (%s): %s", kind, name, condition, found.Status, found.Reason, found.Message)
		}
		return nil
	})
	return reason, message
}

// field is what a JSONPath tells of a resource.
func (p *platform) field(kind, name, path string) string {
	p.Helper()
	return p.kubectl("get", kind, name, "-o", "jsonpath="+path)
}

// secret is an entry of a Secret.
func (p *platform) secret(name, key string) string {
	p.Helper()
	text, err := base64.StdEncoding.DecodeString(p.field("secret", name, fmt.Sprintf("{.data.%s}", key)))
	require.NoError(p, err)
	require.NotEmpty(p, text, "%s of Secret %s", key, name)
	return string(text)
}

// answer is what the API said.
type answer struct {
	status int
	header http.Header
	text   string
	Data   json.RawMessage
	Error  *struct {
		Code, Message string
		Details       map[string]any
	}
}

// call calls the API with a key.
func (p *platform) call(key, method, path, body string) (answer, error) {
	r, err := http.NewRequestWithContext(p.Context(), method, "http://"+apiHost+"/v1"+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := p.web.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode, header: response.Header, text: string(text)}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%s: %.100q: %w", response.Status, text, err)
	}
	return a, nil
}

// api calls the API, which has to answer with a status.
func (p *platform) api(status int, key, method, path, body string) answer {
	p.Helper()
	a, err := p.call(key, method, path, body)
	require.NoError(p, err)
	require.Equal(p, status, a.status, a.text)
	return a
}

// receiver asks the receiver's control, which the node may not have a way to at once.
func (p *platform) receiver(method, path, body string) (said string) {
	p.Helper()
	p.eventually(20*time.Second, func() error {
		r, err := http.NewRequestWithContext(p.Context(), method, "http://"+p.control+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		said = string(text)
		if err == nil && response.StatusCode >= 300 {
			err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, said)
		}
		return err
	})
	return said
}

// received is what the receiver counted on a path.
type received struct{ Requests, Verified, Unverified, Events, Repeats int }

func (p *platform) received(path string) received {
	p.Helper()
	var all map[string]received
	require.NoError(p, json.Unmarshal([]byte(p.receiver("GET", "/stats", "")), &all))
	return all[path]
}

const installed = `
image: {repository: %[3]svisavis, tag: e2e}
database: {secretName: directory}
trustedCA: {configMapName: authority}
files: {volume: {existingClaim: files}}
# The receiver of webhooks is a pod.
settings:
  dns-proof: "off"
  allow-address: &private [10.0.0.0/8, 100.64.0.0/10, 172.16.0.0/12, 192.168.0.0/16]
  trusted-proxy: *private
  address-limit: 1000000
api:
  replicas: 1
  autoscaling: {enabled: false}
  resources: {requests: {cpu: 10m, memory: 64Mi}}
worker: {resources: {requests: {cpu: 10m, memory: 64Mi}}}
portal: {resources: {requests: {cpu: 10m, memory: 64Mi}}}
operator: {resources: {requests: {cpu: 10m, memory: 64Mi}}}
migrate: {resources: {requests: {cpu: 10m, memory: 64Mi}}}
networkPolicy:
  databaseCIDRs: *private
  extraEgress:
    - to: [{podSelector: {matchLabels: {app: receiver}}}]
    # The databases' ports are any of this machine's.
    - to: [{ipBlock: {cidr: %[4]s/32}}]
ingress:
  enabled: true
  className: %[2]s
  hosts: {api: api.e2e.test, portal: portal.e2e.test}
  tls: {enabled: false}
shards:
  - name: %[1]s
    database: {secretName: shard}
    workers: {minReplicas: 1, maxReplicas: 3, targetBacklogSeconds: 2, scaleDownSeconds: 10}
    portals: {minReplicas: 1, maxReplicas: 1}
`

const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s}
spec: {%s accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const hostVolume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
  hostPath: {path: %s}
`

// neighbour is what the platform tells of events: a receiver of webhooks.
const neighbour = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: receiver}
spec:
  selector: {matchLabels: {app: receiver}}
  template:
    metadata: {labels: {app: receiver}}
    spec:
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: receiver
          image: %[1]s
          imagePullPolicy: IfNotPresent
          args: [--addr=0.0.0.0:8443, --control=0.0.0.0:8080, --name=receiver.%[2]s.svc]
          ports: [{name: https, containerPort: 8443}, {name: control, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /stats, port: control}, periodSeconds: 1}
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
---
apiVersion: v1
kind: Service
metadata: {name: receiver}
spec:
  selector: {app: receiver}
  ports: [{name: https, port: 443, targetPort: https}, {name: control, port: 80, targetPort: control}]
`
