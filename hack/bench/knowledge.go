package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/extract"
)

const (
	knownDocuments = 10_000
	// documentWords is about two passages.
	documentWords = 300
	knownWords    = 20_000
	knownReaders  = 4
)

// knowing measures POST /knowledge/bases/{id}/search in a pack of 10,000
// documents, beside GET of that pack through the same API, and how long a
// process takes to answer its first search.
func knowing(ctx context.Context, f *fixture) error {
	org, key, err := f.newOrg(ctx, "Knowledge")
	if err != nil {
		return err
	}
	began := time.Now()
	base, err := f.fillPack(ctx, org)
	if err != nil {
		return err
	}
	report("Knowledge/read", knownDocuments, figure{knownDocuments / time.Since(began).Seconds(), "documents/s"})
	api, err := f.startAPI(append(unlimited, "--rates=read=100000000/100000000,search=100000000/100000000")...)
	if err != nil {
		return err
	}
	url := fmt.Sprintf("%s/v1/knowledge/bases/%s", api.url, base)
	ask := func() (*http.Request, error) { return question(url+"/search", key) }
	began = time.Now()
	if status, err := send(http.DefaultClient, ask); err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("the first search: status %d", status))
	}
	report("Knowledge/cold", 1, figure{time.Since(began).Seconds() * 1000, "ms"})
	for range rounds {
		floor, _, err := load(url, string(key), span)
		if err != nil {
			return err
		}
		took, _, err := loadWith(ask, span)
		if err != nil {
			return err
		}
		p := func(all []time.Duration, n int) float64 { return all[len(all)*n/100].Seconds() * 1000 }
		report("Knowledge/floor", len(floor), figure{p(floor, 50), "p50-ms"}, figure{p(floor, 95), "p95-ms"})
		report("Knowledge/search", len(took), figure{p(took, 50), "p50-ms"}, figure{p(took, 95), "p95-ms"})
		report("Knowledge/ratio", 1, figure{p(took, 50) / p(floor, 50), "p50-x"}, figure{p(took, 95) / p(floor, 95), "p95-x"})
	}
	return api.stop()
}

// word is a word of the knownWords, the first of which are the most frequent.
func word() string {
	n := int(float64(knownWords) * rand.Float64() * rand.Float64() * rand.Float64())
	return fmt.Sprintf("w%sx", strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(n)))
}

func words(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = word()
	}
	return strings.Join(all, " ") + "."
}

func question(url string, key apikey.Secret) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"query":%q}`, words(5))))
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+string(key))
		r.Header.Set("Content-Type", "application/json")
	}
	return r, err
}

// fillPack makes a pack and reads its documents, as the API and its workers do.
func (f *fixture) fillPack(ctx context.Context, org id.Org) (id.KnowledgeBase, error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	b := knowledge.Base{ID: id.NewKnowledgeBase(), Name: "Bench", CreatedAt: now}
	err := f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := knowledge.InsertBase(ctx, tx, b, plan.Terms{}, activity.Actor{By: "bench", At: b.CreatedAt})
		return err
	})
	if err != nil {
		return b.ID, err
	}
	if err := together(knownReaders, knownDocuments, func() error { return f.addText(ctx, org, b.ID, words(documentWords)) }); err != nil {
		return b.ID, err
	}
	return b.ID, f.readDocuments(ctx, knownReaders, knownDocuments)
}

// readDocuments reads so many documents, as several workers do.
func (f *fixture) readDocuments(ctx context.Context, readers, documents int) error {
	var left atomic.Int64
	left.Store(int64(documents))
	return together(readers, readers, func() error {
		reader := knowledge.Reader{Tenants: f.backend.Tenants, Files: f.backend.Files, Extract: extract.Here, Clock: clock.RealClock{}}
		runner := job.Runner{
			Tenants: f.backend.Tenants, Works: map[job.Kind]job.Work{job.KnowledgeSync: reader.Work()},
			Clock: clock.RealClock{}, Log: slog.Default(),
		}
		for left.Load() > 0 {
			n, err := runner.Advance(ctx, "shard-1")
			if err != nil {
				return err
			}
			left.Add(int64(-n))
		}
		return nil
	})
}

// together runs something n times, several at a time.
func together(several, n int, fn func() error) error {
	var (
		group sync.WaitGroup
		left  atomic.Int64
		errs  = make([]error, several)
	)
	left.Store(int64(n))
	for i := range several {
		group.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				errs[i] = fn()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func (f *fixture) addText(ctx context.Context, org id.Org, b id.KnowledgeBase, text string) error {
	sum := sha256.Sum256([]byte(text))
	stored, err := f.backend.Files.Put(ctx, org, "text/plain", []byte(text))
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	d := knowledge.Document{
		ID: id.NewDocument(), Base: b, Kind: knowledge.Text, Title: words(3), ContentType: "text/plain", Bytes: int64(len(text)),
		SHA256: sum[:], File: stored, Tags: []string{}, Refresh: knowledge.Never, CreatedAt: now, UpdatedAt: now,
	}
	return f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, _, err := knowledge.Add(ctx, tx, d, plan.Terms{}, activity.Actor{By: "bench", At: d.CreatedAt}); err != nil {
			return err
		}
		return f.backend.Files.Keep(ctx, tx, stored)
	})
}
