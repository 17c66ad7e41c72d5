package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

const (
	// hostileBytes is a document of random words that a pack still takes, and
	// hostileDocuments more of them than fit.
	hostileBytes     = 4 << 20
	hostileDocuments = 8
	// aThousandPages is how many passages they have.
	aThousandPages = 2_500
)

// searchMemory measures what a process takes to search a pack of random words, as
// large as one may be, beside the bytes of its text; and how long a search takes in
// a pack of a thousand pages, beside a scan of the postings that it reads.
func searchMemory(ctx context.Context, f *fixture) error {
	if err := thousandPages(); err != nil {
		return err
	}
	org, key, err := f.newOrg(ctx, "Hostile")
	if err != nil {
		return err
	}
	base, text, err := f.hostilePack(ctx, org)
	if err != nil {
		return err
	}
	api, err := f.startAPI(unlimited...)
	if err != nil {
		return err
	}
	idle, err := api.resident()
	if err != nil {
		return err
	}
	began := time.Now()
	status, err := send(http.DefaultClient, func() (*http.Request, error) {
		return question(fmt.Sprintf("%s/v1/knowledge/bases/%s/search", api.url, base), key)
	})
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("the search: status %d", status))
	}
	took := time.Since(began)
	peak, err := api.peak()
	if err != nil {
		return err
	}
	report("SearchMemory/hostile", 1, figure{text, "text-MiB"}, figure{peak - idle, "peak-MiB"},
		figure{(peak - idle) / text, "peak-x"}, figure{took.Seconds() * 1000, "cold-ms"})
	return api.stop()
}

// peak is the most memory that the process had, in MiB.
func (p *process) peak() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmHWM")
}

// hostilePack fills a pack with random words until it is full, and answers how many
// MiB of text it took.
func (f *fixture) hostilePack(ctx context.Context, org id.Org) (id.KnowledgeBase, float64, error) {
	b := knowledge.Base{ID: id.NewKnowledgeBase(), Name: "Hostile", CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}
	err := f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := knowledge.InsertBase(ctx, tx, b, plan.Terms{}, activity.Actor{By: "bench", At: b.CreatedAt})
		return err
	})
	if err != nil {
		return b.ID, 0, err
	}
	for range hostileDocuments {
		if err := f.addText(ctx, org, b.ID, randomWords(hostileBytes)); err != nil {
			return b.ID, 0, err
		}
	}
	if err := f.readDocuments(ctx, 1, hostileDocuments); err != nil {
		return b.ID, 0, err
	}
	found, err := knowledge.GetBase(ctx, f.backend.Tenants, org, b.ID)
	if err != nil || found.Ready == 0 || found.Failed == 0 {
		return b.ID, 0, errors.Join(err, fmt.Errorf("%d documents were taken and %d refused", found.Ready, found.Failed))
	}
	return b.ID, float64(found.Ready) * hostileBytes / (1 << 20), nil
}

func randomWords(bytes int) string {
	text := make([]byte, bytes)
	for i := range text {
		if text[i] = byte('a' + rand.IntN(26)); i%9 == 8 {
			text[i] = ' '
		}
	}
	return string(text)
}

// thousandPages measures a search of eight words in a pack of a thousand pages.
func thousandPages() error {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.07, 8, vocabulary-1)
	x := search.New()
	for range aThousandPages / perDocument {
		if err := x.Add(id.NewDocument(), nil, "xx", search.Analyze("xx", madeUp(zipf)).Marshal()); err != nil {
			return err
		}
	}
	var took, floor []time.Duration
	for range searches {
		question, words := "", map[uint64]bool{}
		for range 8 {
			w := zipf.Uint64()
			words[w] = true
			question += wordOf(w) + " "
		}
		start := time.Now()
		hits := x.Search(search.Query{Language: "xx", Text: question, Limit: hits})
		took = append(took, time.Since(start))
		runtime.KeepAlive(hits)
		floor = append(floor, scan(x, words))
	}
	percentiles("SearchMemory/1000-pages-floor", floor)
	percentiles("SearchMemory/1000-pages", took)
	return nil
}
