package main

import (
	"context"
	"time"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/id"
)

const (
	// sharing is how many endpoints share a worker, half of which hang later.
	sharing = 10
	// offered is the events a second while endpoints hang.
	offered = 400
	watched = 20 * time.Second
)

// isolation measures what healthy endpoints notice of hanging ones, and a
// single event of another organization's burst.
func isolation(ctx context.Context, f *fixture) error {
	p, err := f.newPost(ctx, "Sharing", sharing, well)
	if err != nil {
		return err
	}
	healthy := p.orgs[:sharing/2]
	undisturbed, err := p.watch(ctx, p.orgs, healthy)
	if err != nil {
		return err
	}
	for _, org := range p.orgs[sharing/2:] {
		p.receiver.Set("/"+org.Bare(), endpoint.Behaviour{Hang: true})
	}
	disturbed, err := p.watch(ctx, p.orgs, healthy)
	if err != nil {
		return err
	}
	report("Isolation/half-hanging", len(disturbed),
		figure{percentile(undisturbed, .5), "undisturbed-p50-ms"}, figure{percentile(undisturbed, .99), "undisturbed-p99-ms"},
		figure{percentile(disturbed, .5), "p50-ms"}, figure{percentile(disturbed, .99), "p99-ms"},
		figure{percentile(disturbed, .99) / percentile(undisturbed, .99), "p99-ratio"})
	if err := p.besideABurst(ctx, healthy); err != nil {
		return err
	}
	return p.close()
}

// watch offers events to all at a rate and answers the times of some.
func (p *post) watch(ctx context.Context, all, some []id.Org) ([]time.Duration, error) {
	p.forget()
	if err := p.pace(ctx, all, offered, watched); err != nil {
		return nil, err
	}
	<-time.After(time.Second)
	return p.times(some), nil
}

// besideABurst sends single events of one organization while another has
// 100,000 to deliver.
func (p *post) besideABurst(ctx context.Context, orgs []id.Org) error {
	const events = 100_000
	alone, err := p.watchOne(ctx, orgs[1], 10*time.Second)
	if err != nil {
		return err
	}
	p.forget()
	if _, err := p.burst(ctx, orgs[:1], events, 500); err != nil {
		return err
	}
	left := events - p.all.Load()
	beside, err := p.watchOne(ctx, orgs[1], 3*time.Second)
	if err != nil {
		return err
	}
	report("Isolation/beside-a-burst", len(beside), figure{float64(left), "of-the-burst-left"},
		figure{percentile(alone, .99), "alone-p99-ms"}, figure{percentile(beside, .5), "p50-ms"}, figure{percentile(beside, .99), "p99-ms"})
	return p.await(events)
}

func (p *post) watchOne(ctx context.Context, org id.Org, span time.Duration) ([]time.Duration, error) {
	if err := p.pace(ctx, []id.Org{org}, 20, span); err != nil {
		return nil, err
	}
	took := p.times([]id.Org{org})
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.took, org)
	return took, nil
}
