package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// alone is what a spec says that is to have a worker of its own.
const alone = "delivery: Dedicated, "

// busy is acme without limits that the tests' own load would meet.
var busy = strings.Replace(acme, "plan: enterprise", "plan: enterprise, "+unhurried, 1)

func webhookHasItsOwnWorker(p *platform) {
	const each = 200
	key := p.secret("acme-api-key", "key")
	shared := hook(p, "express", "/express")
	p.apply(strings.Replace(shared, "events:", alone+"events:", 1))
	p.ready("webhook", "express")
	p.condition("webhook", "express", "Dedicated", "True")
	p.receiver("PUT", "/behaviour?path=/express", "secret:"+p.secret("express-signing", "secret"))
	webhook := p.field("webhook", "express", "{.status.id}")
	own := p.ownWorker(webhook)
	told := int64(0)
	tell := func() {
		p.Helper()
		told += p.tell(key, webhook, each)
		p.arrived("/express", told)
	}

	tell()
	p.deliveredAll(webhook, each)

	// The shard's workers are away, with the operator, who would bring them back.
	p.away("visavis-operator")
	p.away(p.shard + "-worker")
	tell()
	p.deliveredAll(webhook, 2*each)
	p.kubectl("scale", "deployment/visavis-operator", "--replicas=2")
	p.eventually(time.Minute, func() error {
		if n := p.field("deployment", p.shard+"-worker", "{.status.readyReplicas}"); n != "1" {
			return fmt.Errorf("%q shared workers are ready", n)
		}
		return nil
	})

	// Without its Deployment it gets another.
	was := p.field("deployment", own, "{.metadata.uid}")
	p.kubectl("delete", "deployment", own)
	p.eventually(time.Minute, func() error {
		if is, err := p.try("kubectl", "", "get", "deployment", own, "-o", "jsonpath={.metadata.uid}"); err != nil || is == was {
			return fmt.Errorf("no Deployment %s came in its place: %w", own, err)
		}
		return nil
	})
	p.kubectl("rollout", "status", "deployment/"+own, "--timeout=60s")
	tell()
	p.deliveredAll(webhook, each)

	// It goes back under load.
	acknowledged := make(chan int64, 1)
	go func() { acknowledged <- p.tell(key, webhook, 3*each) }()
	p.arrived("/express", told+1)
	p.apply(shared)
	p.ready("webhook", "express")
	p.ends(own)
	told += <-acknowledged
	p.arrived("/express", told)
	require.EqualValues(p, 6*each, told, "whoever delivers is nothing to the API")
	require.NotContains(p, p.field("webhook", "express", "{.status.conditions[*].type}"), "Dedicated")
	p.Logf("%d acknowledged: %+v", told, p.received("/express"))
}

func organizationHasItsOwnWorker(p *platform) {
	const each = 200
	key := p.secret("acme-api-key", "key")
	webhook := p.field("webhook", "express", "{.status.id}")
	told := int64(p.received("/express").Events)
	p.apply(strings.Replace(busy, "plan:", alone+"plan:", 1))
	p.ready("organisation", "acme")
	org := p.field("organisation", "acme", "{.status.id}")
	own := p.ownWorker(org)

	// Its webhooks come to it within seconds.
	p.eventually(time.Minute, func() error {
		told += p.tell(key, webhook, 1)
		p.arrived("/express", told)
		if p.delivered(org) == 0 {
			return fmt.Errorf("%s delivered nothing", own)
		}
		return nil
	})
	before := p.delivered(org)
	told += p.tell(key, webhook, each)
	p.arrived("/express", told)
	p.eventually(10*time.Second, func() error {
		// acme has another webhook, which is told of everything.
		if n := p.delivered(org) - before; n < each {
			return fmt.Errorf("%s delivered %d of %d", own, n, each)
		}
		return nil
	})

	acknowledged := make(chan int64, 1)
	go func() { acknowledged <- p.tell(key, webhook, each) }()
	p.apply(busy)
	p.ready("organisation", "acme")
	p.ends(own)
	n := <-acknowledged
	require.EqualValues(p, each, n)
	p.arrived("/express", told+n)
}

// ownWorker waits for the Deployment that delivers for a holder alone, and answers its name.
func (p *platform) ownWorker(holder string) (name string) {
	p.Helper()
	p.eventually(time.Minute, func() error {
		name = strings.TrimSpace(p.kubectl("get", "deployments", "-l", "visavis.dev/lane="+holder, "-o", "jsonpath={.items[*].metadata.name}"))
		if name == "" {
			return fmt.Errorf("%s has no worker of its own", holder)
		}
		return nil
	})
	p.kubectl("rollout", "status", "deployment/"+name, "--timeout=60s")
	return name
}

// away takes all pods of a Deployment away and waits until none is left.
func (p *platform) away(deployment string) {
	p.Helper()
	selector := p.kubectl("get", "deployment", deployment, "-o",
		`go-template={{range $k, $v := .spec.selector.matchLabels}}{{$k}}={{$v}},{{end}}`)
	p.kubectl("scale", "deployment/"+deployment, "--replicas=0")
	p.kubectl("wait", "--for=delete", "pods", "-l", strings.TrimSuffix(selector, ","), "--timeout=60s")
}

// ends waits until a Deployment is gone.
func (p *platform) ends(deployment string) {
	p.Helper()
	p.kubectl("wait", "--for=delete", "deployment/"+deployment, "--timeout=60s")
}

// arrived waits until the receiver has as many events on a path, and no signature was wrong.
func (p *platform) arrived(path string, n int64) {
	p.Helper()
	p.eventually(time.Minute, func() error {
		got := p.received(path)
		require.Zero(p, got.Unverified)
		if int64(got.Events) < n {
			return fmt.Errorf("%d of %d arrived", got.Events, n)
		}
		return nil
	})
}

// deliveredAll waits until a holder's own worker says that it delivered n times, and
// not more. It counts a delivery after the receiver does.
func (p *platform) deliveredAll(holder string, n int) {
	p.Helper()
	p.eventually(10*time.Second, func() error {
		if got := p.delivered(holder); got != n {
			return fmt.Errorf("its own worker delivered %d of %d", got, n)
		}
		return nil
	})
}

// delivered is how many deliveries the pods of a holder's own worker carried out, as
// they tell it themselves.
func (p *platform) delivered(holder string) int {
	p.Helper()
	return p.figure("visavis.dev/lane="+holder, `visavis_delivery_attempts_total\{outcome="delivered".*\}`)
}

// figure is the sum of a series, a regular expression, over the pods that a selector selects.
func (p *platform) figure(selector, series string) (n int) {
	p.Helper()
	line := regexp.MustCompile(`(?m)^` + series + ` (\d+)$`)
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	for pod := range strings.FieldsSeq(p.kubectl("get", "pods", "-l", selector, "--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}")) {
		response, err := http.Get("http://" + p.forwardWhile(ctx, "pod/"+pod, 8081) + "/metrics")
		require.NoError(p, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(p, err)
		require.NoError(p, response.Body.Close())
		for _, line := range line.FindAllSubmatch(text, -1) {
			figure, err := strconv.Atoi(string(line[1]))
			require.NoError(p, err)
			n += figure
		}
	}
	return n
}
