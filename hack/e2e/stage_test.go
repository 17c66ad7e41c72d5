package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/node"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

const (
	// image is of the product, nextImage of the same under another name, to upgrade to.
	image, nextImage = "visavis:e2e", "visavis:e2e-next"
	// receiverImage is of a receiver of webhooks, ingressImage of an ingress controller.
	receiverImage, ingressImage = "receiver:e2e", "traefik:e2e"

	// hostEnv names this machine's address for pods.
	hostEnv = "VISAVIS_CLUSTER_HOST"
)

// images is what the names of the images begin with where the cluster has them of a
// registry: registry.example.com/team/.
var images = os.Getenv("VISAVIS_E2E_IMAGES")

// stage is a test's place in the cluster.
type stage struct {
	*testing.T
	namespace string
}

// enter makes a namespace for a test, which goes with all in it at the end.
func enter(t *testing.T) stage {
	t.Helper()
	if os.Getenv("VISAVIS_E2E") == "" {
		t.Skip("no cluster to test on: run make e2e")
	}
	s := stage{t, "e2e-" + strings.ToLower(rand.Text()[:10])}
	s.kubectl("create", "namespace", s.namespace)
	t.Cleanup(func() {
		if t.Failed() {
			s.report()
		}
		s.kubectl("delete", "namespace", s.namespace, "--wait=false")
	})
	return s
}

// kubectl runs it in the test's namespace and answers what it prints.
func (s stage) kubectl(arguments ...string) string {
	s.Helper()
	out, err := s.try("kubectl", "", arguments...)
	require.NoError(s, err)
	return out
}

// apply makes the objects of a manifest.
func (s stage) apply(manifest string) {
	s.Helper()
	_, err := s.try("kubectl", manifest, "apply", "-f", "-")
	require.NoError(s, err)
}

// refused is what the API server says to a manifest it must not take.
func (s stage) refused(manifest string) string {
	s.Helper()
	_, err := s.try("kubectl", manifest, "apply", "-f", "-")
	require.Error(s, err)
	return err.Error()
}

// helm runs it in the test's namespace and answers what it prints.
func (s stage) helm(arguments ...string) string {
	s.Helper()
	out, err := s.try("helm", "", arguments...)
	require.NoError(s, err)
	return out
}

// try runs a program of the cluster's; a failure holds what it said.
func (s stage) try(program, stdin string, arguments ...string) (string, error) {
	var out, said bytes.Buffer
	// Not the test's context, which has ended when what it made is removed.
	cmd := exec.CommandContext(context.Background(), program, append([]string{"--namespace", s.namespace}, arguments...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, said.Bytes())
	}
	return out.String(), nil
}

// eventually waits until a check holds, and says why it never did.
func (s stage) eventually(within time.Duration, check func() error) {
	s.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			require.NoError(s, err, "not within %s", within)
		case <-s.Context().Done():
			require.NoError(s, errors.Join(err, s.Context().Err()))
		case <-tick.C:
		}
	}
}

// report logs what a person would look at first.
func (s stage) report() {
	for _, arguments := range [][]string{
		{"get", "all", "-o", "wide"},
		{"get", "events", "--sort-by=.lastTimestamp"},
		{"describe", "pods"},
		{"logs", "--selector", "app.kubernetes.io/name=visavis", "--all-containers", "--prefix", "--tail=40"},
	} {
		out, err := s.try("kubectl", "", arguments...)
		s.Logf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// reach is an address where this process reaches a port of a Service: the
// Service's own where this machine has a route to it, else a forwarded one.
func (s stage) reach(service string, port int) string {
	s.Helper()
	if os.Getenv("KUBECONFIG") == node.Kubeconfig() {
		ip := s.kubectl("get", "service", service, "-o", "jsonpath={.spec.clusterIP}")
		return net.JoinHostPort(ip, fmt.Sprint(port))
	}
	return s.forward("service/"+service, port)
}
