package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"visavis.dev/pkg/store/apikey"
)

const cachedOrganizations = 10_000

// memory measures a process when idle, and with 10,000 organizations cached:
// each has made one request that reads its shard.
func memory(ctx context.Context, f *fixture) error {
	keys, err := f.manyOrgs(ctx)
	if err != nil {
		return err
	}
	p, err := f.startAPI(unlimited...)
	if err != nil {
		return err
	}
	idle, err := p.resident()
	if err != nil {
		return err
	}
	report("Memory/idle", 1, figure{idle, "MiB"})
	if err := askAll(p, keys); err != nil {
		return err
	}
	full, err := p.resident()
	if err != nil {
		return err
	}
	report("Memory/10000-organizations", 1, figure{full, "MiB"}, figure{(full - idle) * 1024 / cachedOrganizations, "KiB/org"})
	return p.stop()
}

func (f *fixture) manyOrgs(ctx context.Context) ([]apikey.Secret, error) {
	keys := make([]apikey.Secret, cachedOrganizations)
	return keys, inParallel(len(keys), func(n int) (err error) {
		_, keys[n], err = f.newOrg(ctx, fmt.Sprintf("Memory %d", n))
		return err
	})
}

func askAll(p *process, keys []apikey.Secret) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	return inParallel(len(keys), func(n int) error {
		status, err := ask(client, p.url+"/v1/me", string(keys[n]))
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		return err
	})
}

// inParallel does n things, some at a time, and answers the last failure.
func inParallel(n int, do func(int) error) error { return inParallelBy(callers, n, do) }

// inParallelBy does n things, so many at a time.
func inParallelBy(atOnce, n int, do func(int) error) error {
	var (
		next    atomic.Int64
		failure atomic.Pointer[error]
		group   sync.WaitGroup
	)
	for range atOnce {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	group.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}
