package route

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/idempotency"
)

// Handle declares an operation that answers one thing. The handler gets
// checked input and returns data in the newest contract, or a problem.
func Handle[I, O any](s *Service, o Operation, h func(context.Context, *Call, *I) (O, error)) {
	huma.Register(s.api, s.declare(o), func(ctx context.Context, in *I) (*answer[Envelope[O]], error) {
		c := callOf(ctx)
		return run(ctx, c, func() (Envelope[O], error) {
			data, err := h(ctx, c, in)
			return Envelope[O]{Data: data, RequestID: c.RequestID.String()}, err
		})
	})
}

// List declares an operation that answers a page of things.
func List[I, O any](s *Service, o Operation, h func(context.Context, *Call, *I) (Page[O], error)) {
	huma.Register(s.api, s.declare(o), func(ctx context.Context, in *I) (*answer[ListEnvelope[O]], error) {
		c := callOf(ctx)
		return run(ctx, c, func() (ListEnvelope[O], error) {
			page, err := h(ctx, c, in)
			if page.Items == nil {
				page.Items = []O{}
			}
			return ListEnvelope[O]{Data: page.Items, RequestID: c.RequestID.String(), NextCursor: page.Next}, err
		})
	})
}

// answer is what huma writes: a status and a body.
type answer[B any] struct {
	Status int
	Body   B
}

// run surrounds a handler with what happens once the input is known to be
// good: the idempotency key is claimed before, and let go when nothing came
// of the request.
func run[B any](ctx context.Context, c *Call, handler func() (B, error)) (*answer[B], error) {
	a := &answer[B]{Status: c.Op.status()}
	c.closeToPages()
	if err := c.refuseNulls(); err != nil {
		return answerError(c, a, err)
	}
	if err := c.begin(ctx); err != nil {
		return answerError(c, a, err)
	}
	// Also when the handler panics.
	defer c.abandon(ctx)
	body, err := handler()
	if err != nil {
		return answerError(c, a, err)
	}
	if c.claim != nil && c.committed == nil {
		panic("operation " + c.Op.ID + " is declared idempotent but did not answer through Commit")
	}
	a.Status, a.Body = c.status(), body
	if c.unchanged {
		a.Status = http.StatusNotModified
	}
	return a, nil
}

// answerError turns a handler's error into an answer: that of an earlier request
// with the same idempotency key, or a failure.
func answerError[B any](c *Call, a *answer[B], err error) (*answer[B], error) {
	if done, ok := errors.AsType[*idempotency.Done](err); ok {
		c.replayed = &done.Answer
		a.Status = done.Answer.Status
		c.SetHeader(replayedHeader, "true")
		return a, nil
	}
	return nil, c.failure(err)
}

// Blob is an answer that is not JSON.
type Blob struct {
	ContentType string
	// ETag identifies the bytes, with its quotes; empty where nothing does.
	ETag string
	// CacheControl says who may keep the answer and how long.
	CacheControl string
	// Download is the name to save the bytes under, which are then never shown
	// in place; empty for what may be.
	Download string
	// Data makes the bytes; it is not called when the caller has them already.
	Data func(context.Context) ([]byte, error)
	// Open is instead of Data for bytes that may be many: they are read as they are sent. size is
	// how many there are.
	Open func(context.Context) (content io.ReadCloser, size int64, err error)
}

// open opens the bytes.
func (b Blob) open(ctx context.Context) (content io.ReadCloser, size int64, err error) {
	if b.Open != nil {
		return b.Open(ctx)
	}
	data, err := b.Data(ctx)
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
}

// File declares an operation that answers bytes. It honours If-None-Match.
func File[I any](s *Service, o Operation, h func(context.Context, *Call, *I) (Blob, error)) {
	declared := s.declare(o)
	declared.Responses = map[string]*huma.Response{
		"200": {Description: "The file.", Content: map[string]*huma.MediaType{}},
		"304": {Description: "The caller has the file as it is."},
	}
	for _, ct := range o.Produces {
		declared.Responses["200"].Content[ct] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	huma.Register(s.api, declared, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		c := callOf(ctx)
		blob, err := h(ctx, c, in)
		if err != nil {
			return nil, c.failure(err)
		}
		if blob.ETag != "" && matches(c.request.Header.Get("If-None-Match"), blob.ETag) {
			return &huma.StreamResponse{Body: func(huma.Context) { c.serve(blob, true, nil, 0) }}, nil
		}
		content, size, err := blob.open(ctx)
		if err != nil {
			return nil, c.failure(err)
		}
		return &huma.StreamResponse{Body: func(huma.Context) {
			c.serve(blob, false, content, size)
			_ = content.Close() // it was only read
		}}, nil
	})
}

// serve writes a blob, or that the caller's copy is good.
func (c *Call) serve(b Blob, known bool, content io.Reader, size int64) {
	h := c.writer.Header()
	if b.ETag != "" {
		h.Set("ETag", b.ETag)
	}
	if b.CacheControl != "" {
		h.Set("Cache-Control", b.CacheControl)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	if b.Download != "" {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": b.Download}))
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	}
	if known {
		c.writer.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", b.ContentType)
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	c.writer.WriteHeader(http.StatusOK)
	_, _ = io.Copy(c.writer, content) // a caller that went away is nobody's fault
}

// matches says whether an If-None-Match header holds an ETag.
func matches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}

// Lookup reads an id of a path and answers 404 for anything that is not one
// of the wanted kind (General conventions, 3). what is a plain noun.
func Lookup[T any](parse func(string) (T, error), s, what string) (T, error) {
	v, err := parse(s)
	if err != nil {
		return v, problem.Missing(what).WithParam("path.id")
	}
	return v, nil
}

// QueryID reads an id that a filter gives; empty is the zero id. What is not
// one of the wanted kind is a bad request: lists are never 404 (spec, Webhooks,
// Rule 6; Events).
func QueryID[T any](parse func(string) (T, error), name, s string) (T, error) {
	var none T
	if s == "" {
		return none, nil
	}
	v, err := parse(s)
	if err != nil {
		return none, problem.Invalid("query."+name, "%s is not an id of that kind.", name)
	}
	return v, nil
}
