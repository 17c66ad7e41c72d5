package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"time"

	"visavis.dev/pkg/visits/live/livetest"
)

// staticRole makes this binary the floor of a page: net/http's own file server.
const staticRole = "static"

func serveStatic(addr, folder string) error {
	return http.ListenAndServe(addr, http.FileServer(http.Dir(folder)))
}

// page measures a published portal's page beside the same bytes out of a file, from
// the request to the first byte and in pages a second. The two take turns.
func page(ctx context.Context, f *fixture) error {
	_, key, err := f.newOrg(ctx, "Page")
	if err != nil {
		return err
	}
	portal, err := f.startPortal(unlimited...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, portal.stop()) }()
	address, err := f.publish(ctx, string(key), portal.url)
	if err != nil {
		return err
	}
	static, err := f.startStatic(address)
	if err != nil {
		return err
	}
	defer func() { _ = static.cmd.Process.Kill() }()
	subjects := []struct{ name, url string }{{"static", static.url + "/page.html"}, {"portal", address}}
	for range rounds {
		var rate, p99 [2]float64
		for i, s := range subjects {
			first, all, err := firstBytes(s.url, span)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rate[i] = float64(len(first)) / all.Seconds()
			p99[i] = first[len(first)*99/100].Seconds() * 1000
			report("Page/"+s.name, len(first), figure{rate[i], "req/s"},
				figure{first[len(first)/2].Seconds() * 1000, "first-byte-p50-ms"}, figure{p99[i], "first-byte-p99-ms"})
		}
		report("Page/ratio", 1, figure{rate[1] / rate[0], "throughput-x"}, figure{p99[1] / p99[0], "p99-x"})
	}
	return nil
}

// publish makes a portal from the template of a course and answers where its page is.
func (f *fixture) publish(ctx context.Context, key, base string) (address string, err error) {
	api, err := f.startAPI(append(unlimited, "--portal-url", base)...)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, api.stop()) }()
	a := livetest.API{Base: api.url + "/v1", Key: key}
	persona, err := a.Persona(ctx, "Amara", nil, nil)
	if err != nil {
		return "", err
	}
	var made struct {
		ID  string `json:"id"`
		URL string `json:"url"`
	}
	err = a.Call(ctx, http.MethodPost, "/portals", map[string]any{
		"name": "Bench", "templateKey": "museum_guide", "personaId": persona, "languages": []string{"en"},
		"privacy": map[string]any{"privacyUrl": "https://example.com/privacy"}, "visitors": map[string]any{}, "publish": true,
	}, &made)
	return made.URL, err
}

// firstBytes is load, timed to each answer's first byte.
func firstBytes(url string, span time.Duration) (took []time.Duration, all time.Duration, err error) {
	times := make(chan time.Duration, 4*callers)
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for t := range times {
			took = append(took, t)
		}
	}()
	_, all, err = loadWith(func() (*http.Request, error) {
		began := time.Now()
		trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { times <- time.Since(began) }}
		return http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), http.MethodGet, url, nil)
	}, span)
	close(times)
	<-collected
	slices.Sort(took)
	return took, all, err
}

// startStatic serves what an address answers out of a file.
func (f *fixture) startStatic(address string) (*process, error) {
	response, err := http.Get(address)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %w", address, response.StatusCode, err)
	}
	folder := filepath.Join(f.folder, "static")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "page.html"), body, 0o600)); err != nil {
		return nil, err
	}
	return startSelf(staticRole, folder, "/page.html")
}
