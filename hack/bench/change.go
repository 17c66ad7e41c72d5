package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/visits/live/livetest"
)

const (
	// changers is how many connections make changes at a time, each to a unit of its own.
	changers = 48
	// changes is how many a run makes.
	changes = 12_000
	// changeOrgs is how many organizations share the changers in the second run.
	changeOrgs = 48
	// paced is how many changes a second are made to tell the time to a webhook.
	paced = 20
)

// changer changes a unit over HTTP, again and again.
type changer struct {
	// api and bare are whom it asks, the API and the floor, each by the path of its own.
	api, bare         livetest.API
	apiPath, barePath string
	n                 int
}

// changing measures changes from HTTP to the webhook: PATCH /units/{id} through visavis api,
// delivered by visavis worker, beside a bare handler that commits the same rows.
func changing(ctx context.Context, f *fixture) error {
	api, err := f.startAPI(append(unlimited, "--rates", "write=100000000/100000000,read=100000000/100000000")...)
	if err != nil {
		return err
	}
	bare, err := f.startBare()
	if err != nil {
		return err
	}
	for _, orgs := range []int{1, changeOrgs} {
		if err := changingBy(ctx, f, api, bare, orgs); err != nil {
			return err
		}
	}
	return errors.Join(bare.cmd.Process.Kill(), api.stop())
}

// changingBy measures the changes of some organizations.
func changingBy(ctx context.Context, f *fixture, api, bare *process, orgs int) error {
	p, err := f.newPost(ctx, fmt.Sprintf("Changing %d", orgs), orgs, well)
	if err != nil {
		return err
	}
	var all []*changer
	for i := range changers {
		c, err := f.newChanger(ctx, p.orgs[i%orgs], api.url, bare.url)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	name := fmt.Sprintf("Change/%d-organizations", orgs)
	for range rounds / 2 {
		if err := p.change(ctx, name, all, api); err != nil {
			return err
		}
	}
	if err := p.pacedChanges(ctx, name, all[0]); err != nil {
		return err
	}
	return p.close()
}

// change makes changes as quickly as they are taken, waits until all arrived, and then makes
// as many at the floor.
func (p *post) change(ctx context.Context, name string, all []*changer, api *process) error {
	p.awaitSetup()
	before, err := p.f.cost(ctx, p.worker)
	if err != nil {
		return err
	}
	cpuBefore, err := readStat(api.cmd.Process.Pid)
	if err != nil {
		return err
	}
	p.forget()
	began := time.Now()
	if err := changeAll(all, func(c *changer) error { return c.change(ctx) }); err != nil {
		return err
	}
	accepting := time.Since(began)
	if err := p.await(changes); err != nil {
		return err
	}
	arriving := time.Since(began)
	cpuAfter, err := readStat(api.cmd.Process.Pid)
	if err != nil {
		return err
	}
	after, err := p.f.cost(ctx, p.worker)
	if err != nil {
		return err
	}
	took := p.times(p.orgs)
	began = time.Now()
	if err := changeAll(all, func(c *changer) error { return c.changeBare(ctx) }); err != nil {
		return err
	}
	floor := changes / time.Since(began).Seconds()
	per := func(n float64) float64 { return n * 10_000 / changes }
	rate := changes / accepting.Seconds()
	report(name, changes,
		figure{rate, "accepted/s"}, figure{changes / arriving.Seconds(), "arrived/s"},
		figure{rate / floor, "of-floor"}, figure{floor, "floor/s"},
		figure{percentile(took, .5), "p50-ms"}, figure{percentile(took, .99), "p99-ms"},
		figure{(after.rows - before.rows) / changes, "row-writes/change"}, figure{per(after.commits - before.commits), "commits/10k"},
		figure{per(cpuAfter.own - cpuBefore.own), "api-cpu-s/10k"}, figure{per(after.worker - before.worker), "worker-cpu-s/10k"},
		figure{per(after.database - before.database), "database-cpu-s/10k"})
	return nil
}

// awaitSetup waits until what the setup did has arrived.
func (p *post) awaitSetup() {
	for before := int64(-1); before != p.all.Load(); <-time.After(time.Second) {
		before = p.all.Load()
	}
}

// pacedChanges makes so many changes a second and tells how long each took to arrive, from
// when the change was made.
func (p *post) pacedChanges(ctx context.Context, name string, c *changer) error {
	p.awaitSetup()
	p.forget()
	const n = 15 * paced
	for range n {
		// At no fixed interval, which would keep step with the workers' own.
		<-time.After(rand.N(2 * time.Second / paced))
		if err := c.change(ctx); err != nil {
			return err
		}
	}
	if err := p.await(n); err != nil {
		return err
	}
	took := p.times(p.orgs)
	report(name+"-paced", n, figure{percentile(took, .5), "p50-ms"}, figure{percentile(took, .99), "p99-ms"})
	return nil
}

// changeAll makes changes at all units at a time.
func changeAll(all []*changer, change func(*changer) error) error {
	var (
		group   sync.WaitGroup
		left    atomic.Int64
		mu      sync.Mutex
		failure error
	)
	left.Store(changes)
	for _, c := range all {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := change(c); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
					return
				}
			}
		})
	}
	group.Wait()
	return failure
}

func (c *changer) rename(ctx context.Context, a livetest.API, path string) error {
	c.n++
	return a.Call(ctx, http.MethodPatch, path, map[string]any{"name": fmt.Sprintf("Class %d", c.n)}, nil)
}

func (c *changer) change(ctx context.Context) error { return c.rename(ctx, c.api, c.apiPath) }

func (c *changer) changeBare(ctx context.Context) error { return c.rename(ctx, c.bare, c.barePath) }

// newChanger makes a portal with a unit, so that no change waits for another's.
func (f *fixture) newChanger(ctx context.Context, org id.Org, api, bare string) (*changer, error) {
	key, err := f.newKey(ctx, org)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	c := &changer{
		api:  livetest.API{Base: api + "/v1", Key: string(key), Client: client},
		bare: livetest.API{Base: bare, Client: client},
	}
	var (
		faces, voices []struct{ ID string }
		portal, unit  struct{ ID string }
	)
	if err := c.api.Call(ctx, http.MethodGet, "/avatars?limit=1", nil, &faces); err != nil {
		return nil, err
	}
	if err := c.api.Call(ctx, http.MethodGet, "/voices?limit=1", nil, &voices); err != nil {
		return nil, err
	}
	if err := c.api.Call(ctx, http.MethodPost, "/portals", map[string]any{
		"name": "Academy " + id.NewUnit().Bare(), "templateKey": "museum_guide", "avatarId": faces[0].ID, "voiceId": voices[0].ID,
	}, &portal); err != nil {
		return nil, err
	}
	if err := c.api.Call(ctx, http.MethodPost, "/units", map[string]any{"portalId": portal.ID, "kind": "class", "name": "Class 0"}, &unit); err != nil {
		return nil, err
	}
	c.apiPath, c.barePath = "/units/"+unit.ID, fmt.Sprintf("/change/%s/%s", org, unit.ID)
	return c, nil
}
