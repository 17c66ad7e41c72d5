package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// secret signs every webhook of the bench, and the receiver verifies it.
const secret webhook.Secret = "whsec_bench"

// post is a receiver in this process and the organizations that deliver to it,
// one webhook each, through one worker process.
type post struct {
	f        *fixture
	receiver *endpoint.Server
	orgs     []id.Org
	worker   *process

	mu sync.Mutex
	// took are the times from events to their arrivals, of the organizations
	// that are measured.
	took map[id.Org][]time.Duration
	of   map[string]id.Org
	all  atomic.Int64
}

// newPost makes n organizations with a webhook each and starts a worker.
func (f *fixture) newPost(ctx context.Context, name string, n int, behaviour func(i int) endpoint.Behaviour) (*post, error) {
	p := &post{f: f, took: map[id.Org][]time.Duration{}, of: map[string]id.Org{}}
	var err error
	if p.receiver, err = endpoint.Start(endpoint.Options{CountOnly: true, OnRequest: p.arrived}); err != nil {
		return nil, err
	}
	for i := range n {
		org, _, err := f.newOrg(ctx, fmt.Sprintf("%s %d", name, i))
		if err != nil {
			return nil, err
		}
		path := "/" + org.Bare()
		p.orgs, p.of[path] = append(p.orgs, org), org
		b := behaviour(i)
		b.Secret = string(secret)
		p.receiver.Set(path, b)
		if err := f.newWebhook(ctx, org, p.receiver.URL(path)); err != nil {
			return nil, err
		}
	}
	return p, p.start()
}

func (p *post) start() error {
	ca := filepath.Join(p.f.folder, "receiver-ca.pem")
	if err := os.WriteFile(ca, p.receiver.CA(), 0o600); err != nil {
		return err
	}
	var err error
	p.worker, err = p.f.startWorker("--allow-address", "127.0.0.0/8", "--trust-ca", ca)
	return err
}

func (p *post) close() error {
	defer p.receiver.Close()
	return p.worker.stop()
}

func (f *fixture) newWebhook(ctx context.Context, org id.Org, url string) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := webhook.Insert(ctx, tx, f.backend.Vault, webhook.Webhook{
			ID: id.NewWebhook(), URL: url, Events: []string{event.Any}, Active: true, APIVersion: contract.Latest,
			CreatedAt: now, UpdatedAt: now,
		}, secret, plan.Terms{}, nil, activity.Actor{By: "bench", At: now})
		return err
	})
}

// arrived notes how long an event took; its id tells when it happened.
func (p *post) arrived(r endpoint.Request) {
	p.all.Add(1)
	e, err := id.ParseEvent(r.EventID)
	if err != nil {
		return
	}
	took := r.At.Sub(e.Time())
	p.mu.Lock()
	defer p.mu.Unlock()
	org := p.of[r.Path]
	p.took[org] = append(p.took[org], took)
}

// forget begins a new measurement.
func (p *post) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.took)
	p.all.Store(0)
}

// times are the times of some organizations' events, in order.
func (p *post) times(orgs []id.Org) (all []time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, org := range orgs {
		all = append(all, p.took[org]...)
	}
	slices.Sort(all)
	return all
}

// publish records events of an organization in one commit.
func (p *post) publish(ctx context.Context, org id.Org, n int) error {
	drafts := make([]event.Draft, n)
	for i := range drafts {
		drafts[i] = event.Draft{Type: event.MemberAdded, At: time.Now(), Fields: map[string]any{
			"membershipId": "mem_0683mPq2v9XKf1sTn7ZQ4b", "personId": "per_0683mPq2v9XKf1sTn7ZQ4b", "portalId": "portal_0683mPq2v9XKf1sTn7ZQ4b",
			"memberRole": "learner", "changedBy": "key_0683mPq2v9XKf1sTn7ZQ4b", "externalId": "4711", "addedAt": time.Now().UTC(),
		}}
	}
	return p.f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := event.Record(ctx, tx, drafts...)
		return err
	})
}

// burst publishes events as quickly as it can, so many a commit, the
// organizations in turn, and answers how long that took.
func (p *post) burst(ctx context.Context, orgs []id.Org, events, perCommit int) (time.Duration, error) {
	began := time.Now()
	err := inParallel(events/perCommit, func(i int) error { return p.publish(ctx, orgs[i%len(orgs)], perCommit) })
	return time.Since(began), err
}

// pace publishes one event at a time at a rate, the organizations in turn, for
// a while.
func (p *post) pace(ctx context.Context, orgs []id.Org, perSecond int, span time.Duration) error {
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	var (
		group   sync.WaitGroup
		failure atomic.Pointer[error]
	)
	end := time.Now().Add(span)
	for i := 0; time.Now().Before(end); i++ {
		<-ticker.C
		group.Go(func() {
			if err := p.publish(ctx, orgs[i%len(orgs)], 1); err != nil {
				failure.Store(&err)
			}
		})
	}
	group.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}

// await waits until so many events arrived.
func (p *post) await(n int64) error {
	deadline := time.Now().Add(5 * time.Minute)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for p.all.Load() < n {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d events arrived", p.all.Load(), n)
		}
		<-ticker.C
	}
	return nil
}

// percentile of sorted times, in milliseconds.
func percentile(times []time.Duration, of float64) float64 {
	if len(times) == 0 {
		return 0
	}
	at := min(int(float64(len(times))*of), len(times)-1)
	return float64(times[at].Microseconds()) / 1000
}
