package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/stretchr/testify/require"
)

// another is a second Shard, with a database of its own.
const another = `
apiVersion: visavis.dev/v1alpha1
kind: Shard
metadata: {name: %s}
spec: {database: {secretName: another}, workers: {minReplicas: 1}, portals: {minReplicas: 1}}
`

// An organization moves to another shard and back while events happen all the time.
func organizationMoves(p *platform) {
	const each = 150
	other := p.shard + "-b"
	p.kubectl("create", "secret", "generic", "another", "--from-literal=url="+p.database("another"))
	p.apply(fmt.Sprintf(another, other))
	p.Cleanup(func() {
		out, err := exec.CommandContext(context.Background(), "kubectl", "delete", "shard", other, "--ignore-not-found", "--timeout=60s").CombinedOutput()
		if err != nil {
			p.Logf("%v: %s", err, out)
		}
	})
	p.ready("shard", other)

	key, webhook := p.secret("acme-api-key", "key"), p.field("webhook", "express", "{.status.id}")
	told := int64(p.received("/express").Events)
	for _, to := range []string{other, p.shard} {
		acknowledged := make(chan int64, 1)
		go func() { acknowledged <- p.tell(key, webhook, each) }()
		began := time.Now()
		p.kubectl("patch", "organisation", "acme", "--type=merge", "-p", `{"spec":{"shard":"`+to+`"}}`)
		p.eventually(2*time.Minute, func() error {
			if at := p.field("organisation", "acme", "{.status.shard}"); at != to {
				return fmt.Errorf("it lives on %s: %s", at, p.field("organisation", "acme", `{.status.conditions[?(@.type=="Moving")].message}`))
			}
			return nil
		})
		p.Logf("on %s after %s", to, time.Since(began).Round(100*time.Millisecond))
		p.ready("organisation", "acme")
		n := <-acknowledged
		require.EqualValues(p, each, n, "what is written meanwhile waits a moment")
		told += n
		p.arrived("/express", told)
	}
	// Nobody lives there any more, and what was left there goes with it.
	p.kubectl("delete", "shard", other, "--timeout=90s")
}
