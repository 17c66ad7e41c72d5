package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The stage itself: whoever sees these fail need not look at the product.

func TestNodeIsReady(t *testing.T) {
	s := enter(t)
	require.Equal(t, "True", s.kubectl("get", "nodes", "-o", `jsonpath={.items[0].status.conditions[?(@.type=="Ready")].status}`))
	require.Contains(t, s.helm("list"), "NAMESPACE")
	require.Contains(t, s.refused("apiVersion: v1\nkind: Pod\nmetadata: {name: Capital}"), "Invalid value")
}

func TestProductRunsInAPod(t *testing.T) {
	s := enter(t)
	s.run("config", `["config"]`)
	s.completed("config")
	require.Contains(t, s.kubectl("logs", "config"), "VISAVIS_DATABASE")
}

// A pod finds a Service by its name and through it a database outside.
func TestDatabaseOutside(t *testing.T) {
	s := enter(t)
	url := s.database("database")
	s.run("migrate", fmt.Sprintf(`["migrate", "--database", %q]`, url))
	s.completed("migrate")
	require.NotEmpty(t, s.kubectl("logs", "migrate"))
}

// This process reaches pods through their Service.
func TestServiceIsReached(t *testing.T) {
	s := enter(t)
	s.apply(fmt.Sprintf(receiver, images+receiverImage))
	s.kubectl("rollout", "status", "deployment/receiver", "--timeout=60s")
	for _, address := range []string{s.reach("receiver", 80), s.forward("service/receiver", 80)} {
		s.eventually(20*time.Second, func() error {
			response, err := http.Get("http://" + address + "/stats")
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s", address, response.Status)
			}
			return nil
		})
	}
}

// run starts a pod of the product as strictly as production does. It tries again
// as a Job would: for a moment a new Service refuses what comes.
func (s stage) run(name, arguments string) {
	s.Helper()
	s.apply(fmt.Sprintf(pod, name, images+image, arguments))
}

// completed waits until a pod ended well, and tells what it said if it never did.
func (s stage) completed(name string) {
	s.Helper()
	s.eventually(time.Minute, func() error {
		phase := s.kubectl("get", "pod", name, "-o", "jsonpath={.status.phase}")
		if phase == "Succeeded" {
			return nil
		}
		said, err := s.try("kubectl", "", "logs", name)
		return errors.Join(fmt.Errorf("pod %s is %s: %s", name, phase, said), err)
	})
}

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: %[1]s}
spec:
  restartPolicy: OnFailure
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: visavis
      image: %[2]s
      imagePullPolicy: IfNotPresent
      args: %[3]s
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
`

const receiver = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: receiver}
spec:
  selector: {matchLabels: {app: receiver}}
  template:
    metadata: {labels: {app: receiver}}
    spec:
      containers:
        - name: receiver
          image: %s
          imagePullPolicy: IfNotPresent
          args: [--addr=0.0.0.0:8443, --control=0.0.0.0:8080]
          ports: [{name: control, containerPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: receiver}
spec:
  selector: {app: receiver}
  ports: [{name: control, port: 80, targetPort: control}]
`
