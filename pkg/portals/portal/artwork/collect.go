package artwork

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/picture"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

const (
	// maxBytes bounds a picture as it is sent, and keptSide its longest side as it is
	// kept, in pixels.
	maxBytes = 4 << 20
	keptSide = 1600
	// patience is what all the pictures of a portal may take together; a request waits.
	patience = 12 * time.Second
	// atOnce are fetched of a portal at a time, and decoded by a process.
	atOnce, decodedAtOnce = 6, 2
)

// Collector fetches pictures.
type Collector struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Egress  *egress.Guard
	Clock   clock.PassiveClock

	decoding chan struct{}
}

// NewCollector makes a collector.
func NewCollector(t *tenant.Tenants, f *file.Store, g *egress.Guard, c clock.PassiveClock) *Collector {
	return &Collector{Tenants: t, Files: f, Egress: g, Clock: c, decoding: make(chan struct{}, decodedAtOnce)}
}

// Collect fetches the pictures of a portal's draft: all of them anew, or those that
// there is no copy of. What cannot be fetched is noted beside the picture and is no
// error; the error is errdefs.NotFound.
func (c *Collector) Collect(ctx context.Context, org id.Org, p id.Portal, anew bool) error {
	draft, shown, err := drafted(ctx, c.Tenants, org, p)
	if err != nil {
		return err
	}
	var known ByURL
	if err := c.Tenants.Read(ctx, org, func(r *tenant.Reads) { Queue(r, org, p, &known) }); err != nil {
		return err
	}
	wanted := slices.Concat(draft, shown)
	if !anew {
		draft = slices.DeleteFunc(draft, func(w Wish) bool { return !known[w.URL].File.IsZero() })
	}
	if len(draft) == 0 && !forsaken(known, wanted) {
		return nil
	}
	fetched, err := c.fetch(ctx, org, draft)
	if err != nil {
		return err
	}
	return c.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		return keep(ctx, tx, c.Files, p, fetched, wanted)
	})
}

// forsaken says whether there is a picture that nobody wants any more.
func forsaken(known ByURL, wanted []Wish) bool {
	for url := range known {
		if !slices.ContainsFunc(wanted, func(w Wish) bool { return w.URL == url }) {
			return true
		}
	}
	return false
}

// fetch fetches pictures, several at a time.
func (c *Collector) fetch(ctx context.Context, org id.Org, wanted []Wish) ([]Picture, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var (
		group  sync.WaitGroup
		places = make(chan struct{}, atOnce)
		found  = make([]Picture, len(wanted))
		failed = make([]error, len(wanted))
	)
	for i, w := range wanted {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			found[i] = Picture{URL: w.URL, FetchedAt: c.Clock.Now().UTC()}
			data, err := c.get(within, w.URL, &found[i])
			if err == nil {
				found[i].File, failed[i] = c.Files.Put(ctx, org, found[i].ContentType, data)
				return
			}
			found[i].Failure = sentence(err)
		})
	}
	group.Wait()
	return found, errors.Join(append(failed, ctx.Err())...)
}

// get fetches a picture and writes it anew: free of metadata, and of whatever is no
// picture.
func (c *Collector) get(ctx context.Context, url string, into *Picture) ([]byte, error) {
	response, err := c.Egress.Fetch(ctx, url, maxBytes)
	if err != nil {
		return nil, err
	}
	select {
	case c.decoding <- struct{}{}:
		defer func() { <-c.decoding }()
	case <-ctx.Done():
		return nil, egress.ErrTimeout
	}
	drawn, err := picture.DecodeGraphic(response.Body, keptSide)
	if err != nil {
		return nil, err
	}
	contentType, data, err := drawn.Encode()
	sum := sha256.Sum256(data)
	into.ContentType, into.sum = contentType, sum[:]
	return data, err
}

// sentence says to an author why there is no picture.
func sentence(err error) string {
	switch {
	case errors.Is(err, picture.ErrUnsupported):
		return "it is no PNG, JPEG or WebP picture"
	case errors.Is(err, picture.ErrBroken):
		return picture.ErrBroken.Error()
	case errors.Is(err, egress.ErrTooLarge):
		return "it is larger than 4 MB"
	case errors.Is(err, context.DeadlineExceeded):
		return egress.ErrTimeout.Error()
	}
	return err.Error() // those of package egress may be shown
}
