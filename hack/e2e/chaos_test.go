package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/cluster/node"
)

// unhurried are limits that the tests' own load does not meet.
const unhurried = `limits: {read: 100000/100000, write: 100000/100000, heavy: 100000/100000}`

// tell has a webhook told n times of something, and answers how often the API
// acknowledged it.
func (p *platform) tell(key, webhook string, n int) (acknowledged int64) {
	p.Helper()
	var done atomic.Int64
	work := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range work {
				if a, err := p.call(key, "POST", "/webhooks/"+webhook+"/test", ""); err == nil && a.status == http.StatusAccepted {
					done.Add(1)
				}
			}
		})
	}
	for range n {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
	return done.Load()
}

// workers are the pods that work for the shard.
func (p *platform) workers() []string {
	p.Helper()
	return strings.Fields(p.kubectl("get", "pods", "-l", "app.kubernetes.io/component=worker,visavis.dev/shard="+p.shard,
		"--field-selector", "status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}"))
}

func workerDies(p *platform) {
	p.apply(busy)
	p.ready("organisation", "acme")
	key := p.secret("acme-api-key", "key")
	p.apply(hook(p, "load", "/load"))
	p.ready("webhook", "load")
	p.receiver("PUT", "/behaviour?path=/load", "latency:20ms,secret:"+p.secret("load-signing", "secret"))
	webhook := p.field("webhook", "load", "{.status.id}")

	const rounds, each = 3, 300
	var acknowledged int64
	for range rounds {
		told := make(chan int64, 1)
		go func() { told <- p.tell(key, webhook, each) }()
		p.eventually(20*time.Second, func() error {
			if got := p.received("/load"); int64(got.Events) <= acknowledged {
				return fmt.Errorf("nothing is under way: %+v", got)
			}
			return nil
		})
		for _, pod := range p.workers() {
			p.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
		}
		acknowledged += <-told
	}
	p.eventually(2*time.Minute, func() error {
		got := p.received("/load")
		if int64(got.Events) < acknowledged {
			return fmt.Errorf("%d of %d arrived", got.Events, acknowledged)
		}
		require.Zero(p, got.Unverified)
		return nil
	})
	p.Logf("%d acknowledged, with %d kills: %+v", acknowledged, rounds, p.received("/load"))
	require.EqualValues(p, rounds*each, acknowledged, "a worker's end is nothing to the API")
}

func limitsAreExact(p *platform) {
	const limit = 90
	p.apply(fmt.Sprintf(`
apiVersion: visavis.dev/v1alpha1
kind: Organisation
metadata: {name: tight}
spec: {name: Tight, slug: tight, plan: enterprise, limits: {read: %d/1000}, apiKey: {fullAccess: true}}
`, limit))
	p.ready("organisation", "tight")
	p.kubectl("scale", "deployment/visavis-api", "--replicas=3")
	p.kubectl("rollout", "status", "deployment/visavis-api", "--timeout=120s")
	key := p.secret("tight-api-key", "key")

	// A window is a minute; all of it happens in one.
	if into := time.Now().Second(); into > 40 {
		p.Logf("waiting for the next minute")
		<-time.After(time.Duration(61-into) * time.Second)
	}
	began := time.Now()
	var granted, refused, other atomic.Int64
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for range 20 {
				a, err := p.call(key, "GET", "/me", "")
				switch {
				case err == nil && a.status == http.StatusOK:
					granted.Add(1)
				case err == nil && a.status == http.StatusTooManyRequests:
					refused.Add(1)
				default:
					other.Add(1)
				}
			}
		})
	}
	all.Wait()
	p.Logf("of 240 requests on three pods %d were granted, %d refused, in %v", granted.Load(), refused.Load(), time.Since(began).Round(time.Millisecond))
	require.EqualValues(p, limit, granted.Load())
	require.Zero(p, other.Load())
	p.kubectl("delete", "organisation", "tight", "--timeout=120s")
	p.kubectl("scale", "deployment/visavis-api", "--replicas=2")
}

func operatorDies(p *platform) {
	const kills, each = 10, 5
	for i := range kills {
		var batch strings.Builder
		for n := range each {
			batch.WriteString("---" + hook(p, fmt.Sprintf("many-%d-%d", i, n), fmt.Sprintf("/many/%d/%d", i, n)))
		}
		p.apply(batch.String())
		<-time.After(time.Duration(i) * 150 * time.Millisecond)
		if i == kills/2 {
			p.pauseServer(20 * time.Second)
		}
		p.kubectl("delete", "pods", "-l", "app.kubernetes.io/component=operator", "--grace-period=0", "--force")
	}
	p.kubectl("rollout", "status", "deployment/visavis-operator", "--timeout=120s")
	for i := range kills {
		for n := range each {
			p.ready("webhook", fmt.Sprintf("many-%d-%d", i, n))
		}
	}
	// Each resource has one row, and the shard one Deployment of workers.
	seen := map[string]int{}
	for _, url := range p.webhooks(p.secret("acme-api-key", "key")) {
		if _, path, found := strings.Cut(url, "/many/"); found {
			seen[path]++
		}
	}
	require.Len(p, seen, kills*each)
	for path, n := range seen {
		require.Equal(p, 1, n, path)
	}
	require.Equal(p, p.shard+"-worker", strings.TrimSpace(p.kubectl("get", "deployments", "-l", "app.kubernetes.io/component=worker",
		"-o", "jsonpath={.items[*].metadata.name}")))
	var names []string
	for i := range kills {
		for n := range each {
			names = append(names, fmt.Sprintf("many-%d-%d", i, n))
		}
	}
	p.kubectl(append([]string{"delete", "webhook", "--timeout=120s"}, names...)...)
}

// pauseServer stops the API server from doing anything for a while, where it is ours.
func (p *platform) pauseServer(d time.Duration) {
	p.Helper()
	if os.Getenv("KUBECONFIG") != node.Kubeconfig() {
		p.Log("the API server is not ours to pause")
		return
	}
	id := apiServer(p)
	require.NoError(p, syscall.Kill(id, syscall.SIGSTOP))
	<-time.After(d)
	require.NoError(p, syscall.Kill(id, syscall.SIGCONT))
	p.eventually(time.Minute, func() error {
		_, err := p.try("kubectl", "", "get", "--raw", "/readyz")
		return err
	})
}

// apiServer is the process of the cluster's API server.
func apiServer(p *platform) int {
	p.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(p, err)
	for _, path := range all {
		line, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		program, rest, _ := strings.Cut(string(line), "\x00")
		if strings.HasPrefix(filepath.Base(program), "kube-apiserver") && strings.Contains(rest, filepath.Dir(node.Kubeconfig())) {
			id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(p, err)
			return id
		}
	}
	require.Fail(p, "the API server's process is not to be found")
	return 0
}

func upgradeFailsNoRequest(p *platform) {
	key := p.secret("acme-api-key", "key")
	p.kubectl("rollout", "status", "deployment/visavis-api", "--timeout=120s")
	call := func(method, path string, want int) func() error {
		return func() error {
			a, err := p.call(key, method, path, "")
			if err == nil && a.status != want {
				err = errors.New(a.text)
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			return nil
		}
	}
	read := call("GET", "/me", http.StatusOK)
	var requests atomic.Int64
	failures := make(chan string, 1000)
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, ask := range []func() error{
		read, read, read,
		call("POST", "/webhooks/"+p.field("webhook", "load", "{.status.id}")+"/test", http.StatusAccepted),
		func() error { return p.page(museumPage) },
		func() error { return p.page(museumSlug) },
	} {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				requests.Add(1)
				if err := ask(); err != nil {
					failures <- err.Error()
				}
			}
		})
	}
	before := p.kubectl("get", "deployment", p.shard+"-worker", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	p.helm("upgrade", "visavis", "../../charts/visavis", "--reuse-values", "--set", "image.tag=e2e-next", "--wait", "--timeout", "5m")
	// The operator rolls the shard's pods after it migrated the shard.
	p.eventually(3*time.Minute, func() error {
		for _, role := range []string{"worker", "portal"} {
			image := p.kubectl("get", "deployment", p.shard+"-"+role, "-o", "jsonpath={.spec.template.spec.containers[0].image}")
			if image != images+nextImage {
				return fmt.Errorf("%s runs %s, not %s", role, image, images+nextImage)
			}
		}
		return nil
	})
	require.NotEqual(p, images+nextImage, before)
	for _, role := range []string{"worker", "portal"} {
		p.kubectl("rollout", "status", "deployment/"+p.shard+"-"+role, "--timeout=180s")
	}
	p.ready("shard", p.shard)
	close(stop)
	all.Wait()
	close(failures)
	for failure := range failures {
		p.Errorf("%s", failure)
	}
	p.Logf("%d requests while everything was replaced", requests.Load())
}

func workersFollowTheBacklog(p *platform) {
	key := p.secret("acme-api-key", "key")
	p.apply(hook(p, "slow", "/slow"))
	p.ready("webhook", "slow")
	p.receiver("PUT", "/behaviour?path=/slow", "latency:4s")
	webhook := p.field("webhook", "slow", "{.status.id}")
	size := func() string {
		return p.kubectl("get", "deployment", p.shard+"-worker", "-o", "jsonpath={.spec.replicas}")
	}
	p.eventually(2*time.Minute, func() error {
		if n := size(); n != "1" {
			return fmt.Errorf("%s workers with nothing to do", n)
		}
		return nil
	})
	began := time.Now()
	const many = 3000
	require.EqualValues(p, many, p.tell(key, webhook, many))
	p.eventually(3*time.Minute, func() error {
		if n := size(); n != "3" {
			return fmt.Errorf("%s workers: %s", n, p.kubectl("get", "shard", p.shard, "-o", "jsonpath={.status}"))
		}
		return nil
	})
	p.Logf("three workers after %v", time.Since(began).Round(time.Second))
	p.receiver("PUT", "/behaviour?path=/slow", "")
	p.eventually(2*time.Minute, func() error {
		if got := p.received("/slow"); got.Events < many {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	quiet := time.Now()
	p.eventually(10*time.Minute, func() error {
		if n := size(); n != "1" {
			return fmt.Errorf("still %s workers", n)
		}
		return nil
	})
	p.Logf("one worker again %v after the last delivery", time.Since(quiet).Round(time.Second))
}
