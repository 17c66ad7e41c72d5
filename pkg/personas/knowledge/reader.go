package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/search"
)

// Reader reads documents: it is what the jobs of the kind knowledge_sync do.
type Reader struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	// Fetch gets an address and the pages it leads to, each to a function.
	Fetch Fetch
	// Extract gets the text of a document, in a process of its own where it is a stranger's.
	Extract extract.Read
	Clock   clock.PassiveClock
	Log     *slog.Logger // nil for nowhere

	// building has a value for every index that is built: no more than there are
	// processors, as each takes several times the memory of its text.
	building chan struct{}
}

// Fetch gets the pages of an address. An error with a code is a *crawl.Error.
type Fetch func(ctx context.Context, url string, o crawl.Options, each func(crawl.Page) error) error

// Work is what to run the jobs with.
func (r *Reader) Work() job.Work {
	r.building = make(chan struct{}, runtime.GOMAXPROCS(0))
	return job.Work{Prepare: r.prepare, GiveUp: giveUp, Failures: maxFailures}
}

const (
	// maxFetched bounds what is fetched of an address, all its pages together.
	maxFetched = 50 << 20
	// maxChunks bounds the passages of a document, and maxText the text of those of an
	// address.
	maxChunks = 50_000
	maxText   = 32 << 20
	// maxTries is how often an address is tried before it failed, and firstWait
	// how long after the first try; each further wait is four times as long.
	maxTries  = 4
	firstWait = 30 * time.Second
	// maxCrashes is how often this process itself may end, for whatever reason, while it
	// reads a document before that counts as the cause. A document that ends the process of
	// its own (Extract) failed at once, and maxKills is how often that may be killed by
	// somebody else.
	maxCrashes = 5
	maxKills   = 3
	// maxFailures is for what is not the document's fault, such as a bucket that is away:
	// a day of tries.
	maxFailures = 2880
)

// failure is why a document cannot be read.
type failure struct {
	code      Code
	retryable bool
	cause     error
}

func (f *failure) Error() string { return string(f.code) }

func (f *failure) Unwrap() error { return f.cause }

// reading is what was read of a document.
type reading struct {
	title, contentType string
	bytes              int64
	sha256             []byte
	// fresh is the original, stored just now; zero when it was there before.
	fresh    id.File
	pages    *int64
	chunks   []Chunk
	language *string
	// forms are what an index adds, and weight is theirs.
	forms  [][]byte
	weight search.Weight
	// fetchedAt is nil for what was not fetched; same says that what was
	// fetched is what was read before.
	fetchedAt *time.Time
	same      bool
}

// tries is how far a job got: how many tries at fetching failed, and of how many the
// process that read was killed.
type tries struct {
	Failed int64 `json:"failed"`
	Killed int64 `json:"killed,omitempty"`
}

func (t tries) sum() int64 { return t.Failed + t.Killed }

// prepare reads a document and answers the step that commits it.
func (r *Reader) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		what task
		so   tries
	)
	if err := errors.Join(json.Unmarshal(j.Input, &what), json.Unmarshal(j.Progress, &so)); err != nil {
		return nil, err
	}
	d, err := GetDocument(ctx, r.Tenants, j.Org, what.Document)
	switch {
	case errdefs.IsAbsent(err, DocumentNoun), err == nil && d.Job != j.ID:
		return forgotten, nil
	case err != nil:
		return nil, err
	case j.Attempts-so.sum() > maxCrashes:
		return failed(what, &failure{code: Unreadable}), nil
	}
	got, err := r.read(ctx, j.Org, d)
	if err == nil && !got.same {
		err = r.keep(ctx, j.Org, d, got)
	}
	if errdefs.IsGone(err, DocumentNoun) {
		return forgotten, nil
	}
	if broken, ok := errors.AsType[*failure](err); ok {
		if so.Failed++; broken.retryable && so.Failed < maxTries {
			return later(so), nil
		}
		return failed(what, broken), nil
	}
	if errors.Is(err, extract.ErrKilled) {
		if so.Killed++; so.Killed < maxKills {
			return later(so), nil
		}
		return failed(what, &failure{code: Unreadable, cause: err}), nil
	}
	if err != nil {
		return nil, err
	}
	return r.finished(what, got), nil
}

// read gets a document's text and analyses it.
func (r *Reader) read(ctx context.Context, org id.Org, d Document) (*reading, error) {
	var (
		got *reading
		err error
	)
	if d.Kind == Address {
		got, err = r.fetch(ctx, org, d)
	} else {
		got, err = r.open(ctx, org, d)
	}
	if err != nil || got.same {
		return got, err
	}
	if len(got.chunks) > maxChunks {
		return nil, &failure{code: TooLarge}
	}
	title := d.Title
	if !d.Titled && got.title != "" {
		title = clip(got.title)
	}
	passages := make([]search.Text, len(got.chunks))
	for i := range got.chunks {
		c := &got.chunks[i]
		c.ID, c.Position = id.NewChunk(), int64(i)
		passages[i] = c.text(title)
	}
	language := search.Detect(sample(got.chunks))
	if language != "" {
		got.language = &language
	}
	select {
	case r.building <- struct{}{}:
		defer func() { <-r.building }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if got.forms, got.weight, err = search.Build(language, passages); errors.Is(err, search.ErrTooLarge) {
		return nil, &failure{code: TooComplex, cause: err}
	}
	return got, err
}

// keep writes what was read, where the pack has room for it. Whether it still
// has is seen again when it is committed.
func (r *Reader) keep(ctx context.Context, org id.Org, d Document, got *reading) error {
	err := r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		room, _, err := hasRoom(ctx, tx, &d, got.weight, MaxPackBytes)
		if err == nil && !room {
			err = &failure{code: PackFull}
		}
		return err
	}, tenant.Idempotent(true))
	if err != nil {
		return err
	}
	return d.write(ctx, r.Tenants, org, got.chunks, got.forms)
}

// sampleBytes is how much of a text tells its language.
const sampleBytes = 20_000

// sample is some of a document's text.
func sample(chunks []Chunk) string {
	var text []byte
	for _, c := range chunks {
		if len(text) > sampleBytes {
			break
		}
		text = append(append(text, c.Text...), '\n')
	}
	return string(text)
}

// open reads a document whose original is stored.
func (r *Reader) open(ctx context.Context, org id.Org, d Document) (*reading, error) {
	original, size, err := r.Files.Open(ctx, org, d.File)
	if err != nil {
		return nil, err
	}
	defer original.Close()
	text, err := r.Extract(ctx, d.ContentType, size, original)
	if err != nil {
		return nil, asFailure(ctx, err)
	}
	got := &reading{title: text.Title, contentType: d.ContentType, bytes: d.Bytes, sha256: d.SHA256, chunks: chunksOf(text, "")}
	if text.Pages > 0 {
		pages := int64(text.Pages)
		got.pages = &pages
	}
	if len(got.chunks) == 0 {
		return nil, &failure{code: Empty}
	}
	return got, nil
}

// chunksOf cuts a text into passages.
func chunksOf(text extract.Document, url string) []Chunk {
	cut := extract.Chunks(text)
	chunks := make([]Chunk, len(cut))
	for i, c := range cut {
		chunks[i] = Chunk{Heading: c.Heading, Text: c.Text}
		if c.Page > 0 {
			page := int64(c.Page)
			chunks[i].Page = &page
		}
		if url != "" {
			chunks[i].URL = &url
		}
	}
	return chunks
}

// asFailure says what the errors of package extract are to a document. That the time was
// up, or that nobody could read it now, is the runner's business.
func asFailure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, extract.ErrUnsupported):
		return &failure{code: Unsupported, cause: err}
	case errors.Is(err, extract.ErrEmpty):
		return &failure{code: Empty, cause: err}
	case errors.Is(err, extract.ErrTooLarge):
		return &failure{code: TooLarge, cause: err}
	case errors.Is(err, extract.ErrTooComplex):
		return &failure{code: TooComplex, cause: err}
	case errors.Is(err, extract.ErrUnreadable):
		return &failure{code: Unreadable, cause: err}
	}
	return err
}
