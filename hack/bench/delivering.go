package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/id"
)

const (
	// publishers' organizations, and so endpoints.
	endpoints = 50
	// delivered is how many events a run brings.
	delivered = 40_000
	// commitOf is how many events one commit records under load: what a class
	// of people entered at once, or a conversation that ends, brings.
	commitOf = 20
)

func well(int) endpoint.Behaviour { return endpoint.Behaviour{} }

// delivering measures events from their commit to their arrival.
func delivering(ctx context.Context, f *fixture) error {
	p, err := f.newPost(ctx, "Post", endpoints, well)
	if err != nil {
		return err
	}
	for _, measure := range []func(context.Context, *post) error{idle, loaded, committing} {
		if err := measure(ctx, p); err != nil {
			return err
		}
	}
	return p.close()
}

// idle sends an event now and then.
func idle(ctx context.Context, p *post) error {
	const n = 400
	if err := p.publish(ctx, p.orgs[0], 1); err != nil { // connections are made
		return err
	}
	if err := p.await(1); err != nil {
		return err
	}
	p.forget()
	if err := p.pace(ctx, p.orgs[:1], 40, n/40*time.Second); err != nil {
		return err
	}
	if err := p.await(n * 9 / 10); err != nil {
		return err
	}
	took := p.times(p.orgs)
	report("Delivery/idle", len(took), figure{percentile(took, .5), "p50-ms"}, figure{percentile(took, .99), "p99-ms"})
	return nil
}

// loaded brings events as quickly as it can, beside the bare loop that signs
// and posts the same.
func loaded(ctx context.Context, p *post) error {
	for _, perCommit := range []int{1, commitOf} {
		p.forget()
		before, err := p.f.cost(ctx, p.worker)
		if err != nil {
			return err
		}
		began := time.Now()
		publishing, err := p.burst(ctx, p.orgs, delivered, perCommit)
		if err != nil {
			return err
		}
		if err := p.await(delivered); err != nil {
			return err
		}
		all := time.Since(began)
		after, err := p.f.cost(ctx, p.worker)
		if err != nil {
			return err
		}
		floor, err := p.bare()
		if err != nil {
			return err
		}
		took := p.times(p.orgs)
		rate := delivered / all.Seconds()
		per := func(n float64) float64 { return n * 10_000 / delivered }
		report(fmt.Sprintf("Delivery/load-%d-a-commit", perCommit), delivered,
			figure{rate, "delivered/s"}, figure{delivered / publishing.Seconds(), "committed/s"},
			figure{rate / floor, "of-floor"}, figure{floor, "floor/s"},
			figure{percentile(took, .5), "p50-ms"}, figure{percentile(took, .99), "p99-ms"},
			figure{(after.rows - before.rows) / delivered, "row-writes/message"},
			figure{per(after.commits - before.commits), "commits/10k"},
			figure{per(after.worker - before.worker), "worker-cpu-s/10k"},
			figure{per(after.database - before.database), "database-cpu-s/10k"},
			figure{per(after.self - before.self), "publisher+receiver-cpu-s/10k"})
	}
	return nil
}

// committing records events that nobody receives.
func committing(ctx context.Context, p *post) error {
	quiet := &post{f: p.f}
	for i := range endpoints {
		org, _, err := p.f.newOrg(ctx, fmt.Sprintf("Quiet %d", i))
		if err != nil {
			return err
		}
		quiet.orgs = append(quiet.orgs, org)
	}
	for _, perCommit := range []int{1, commitOf} {
		took, err := quiet.burst(ctx, quiet.orgs, delivered/2, perCommit)
		if err != nil {
			return err
		}
		report(fmt.Sprintf("Emit/%d-a-commit", perCommit), delivered/2, figure{delivered / 2 / took.Seconds(), "committed/s"})
	}
	return nil
}

// bare is the floor: a loop that signs and posts a body over as many kept
// connections as there are endpoints, and nothing else. It answers how many a
// second.
func (p *post) bare() (float64, error) {
	const n = 20_000
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: p.receiver.RootCAs(), MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: endpoints,
	}}
	defer client.CloseIdleConnections()
	body := []byte(`{"id":"` + id.EventAt(time.Now()).String() + `","type":"member.added","apiVersion":"2026-10-01",` +
		`"organizationId":"org_0683mPq2v9XKf1sTn7ZQ4b","createdAt":"2026-10-01T00:00:00.123456Z","data":{"addedAt":"2026-10-01T00:00:00.123456Z",` +
		`"changedBy":"key_0683mPq2v9XKf1sTn7ZQ4b","externalId":"4711","memberRole":"learner","membershipId":"mem_0683mPq2v9XKf1sTn7ZQ4b",` +
		`"personId":"per_0683mPq2v9XKf1sTn7ZQ4b","portalId":"portal_0683mPq2v9XKf1sTn7ZQ4b","unitId":null}}`)
	p.receiver.Set("/bare", endpoint.Behaviour{Secret: string(secret)})
	url := p.receiver.URL("/bare")
	began := time.Now()
	err := inParallelBy(endpoints, n, func(int) error { return signAndPost(client, url, body) })
	return n / time.Since(began).Seconds(), err
}

func signAndPost(client *http.Client, url string, body []byte) error {
	stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, stamp+".")
	mac.Write(body)
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Service-Signature": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
		"X-Service-Timestamp": {stamp}, "X-Service-Event": {"member.added"}, "X-Service-Delivery-Id": {"whd_bare"},
		"X-Service-Event-Id": {string(body[7:33])},
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the bare loop was answered %d", response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
