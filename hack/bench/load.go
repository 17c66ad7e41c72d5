package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// callers is how many connections ask at a time.
const callers = 8

// load asks the same over and over for a while and answers how long each
// request took, in order, and how long all of it did.
func load(url, key string, span time.Duration) (took []time.Duration, all time.Duration, err error) {
	return loadWith(func() (*http.Request, error) { return get(url, key) }, span)
}

// loadWith is load with requests of any kind.
func loadWith(request func() (*http.Request, error), span time.Duration) (took []time.Duration, all time.Duration, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		failure error
	)
	began := time.Now()
	for range callers {
		group.Go(func() {
			mine, err := askUntil(client, request, began.Add(span))
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			if err != nil {
				failure = err
			}
		})
	}
	group.Wait()
	slices.Sort(took)
	return took, time.Since(began), failure
}

func askUntil(client *http.Client, request func() (*http.Request, error), end time.Time) (took []time.Duration, err error) {
	for time.Now().Before(end) {
		began := time.Now()
		status, err := send(client, request)
		if err != nil || status != http.StatusOK {
			return took, fmt.Errorf("status %d: %w", status, err)
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

func ask(client *http.Client, url, key string) (int, error) {
	return send(client, func() (*http.Request, error) { return get(url, key) })
}

func get(url, key string) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return r, err
}

func send(client *http.Client, request func() (*http.Request, error)) (int, error) {
	r, err := request()
	if err != nil {
		return 0, err
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
