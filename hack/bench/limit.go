package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	processes = 3
	requests  = 1500
	limit     = 600
	runs      = 20
	// windowRoom is how much of a minute must be left for a run to fit.
	windowRoom = 8 * time.Second
)

// exactLimit sends 1,500 requests of one key to three processes within one
// window: exactly 600 must be answered.
func exactLimit(ctx context.Context, f *fixture) error {
	var apis []*process
	for range processes {
		p, err := f.startAPI(append(unlimited, "--pods=3")...)
		if err != nil {
			return err
		}
		apis = append(apis, p)
	}
	exact := 0
	for n := range runs {
		_, key, err := f.newOrg(ctx, fmt.Sprintf("Limit %d", n))
		if err != nil {
			return err
		}
		awaitRoom()
		before, err := trips(apis)
		if err != nil {
			return err
		}
		answered, err := burst(apis, string(key))
		if err != nil {
			return err
		}
		after, err := trips(apis)
		if err != nil {
			return err
		}
		if answered == limit {
			exact++
		}
		report("ExactLimit/run", requests, figure{float64(answered), "answered"},
			figure{(after - before) / requests * 1000, "trips/1000req"})
	}
	report("ExactLimit/all", runs, figure{float64(exact), "exact-runs"})
	for _, p := range apis {
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}

// awaitRoom waits for the next minute when this one is nearly over.
func awaitRoom() {
	now := time.Now()
	next := now.Truncate(time.Minute).Add(time.Minute)
	if left := next.Sub(now); left < windowRoom {
		<-time.After(left + 100*time.Millisecond)
	}
}

func trips(apis []*process) (sum float64, err error) {
	for _, p := range apis {
		n, err := p.metric("visavis_limits_trips_total")
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// burst sends the requests and counts those that were answered 2xx.
func burst(apis []*process, key string) (int64, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var (
		next, answered atomic.Int64
		group          sync.WaitGroup
		failure        atomic.Pointer[error]
	)
	for range callers * processes {
		group.Go(func() {
			for n := next.Add(1); n <= requests; n = next.Add(1) {
				status, err := ask(client, apis[int(n)%len(apis)].url+"/v1/languages", key)
				switch {
				case err != nil:
					failure.Store(&err)
				case status == http.StatusOK:
					answered.Add(1)
				case status != http.StatusTooManyRequests:
					err := fmt.Errorf("status %d", status)
					failure.Store(&err)
				}
			}
		})
	}
	group.Wait()
	if err := failure.Load(); err != nil {
		return 0, *err
	}
	return answered.Load(), nil
}
