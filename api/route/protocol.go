package route

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"visavis.dev/pkg/base/problem"
)

// Protocol serves another protocol at the path of an operation with one id, whose requests
// and answers have forms of that protocol's: it is in none of the API's documents. The chain
// before it is every operation's, with the body read and bounded. open makes the handler
// that answers a request; its error is answered in the API's form.
func (s *Service) Protocol(o Operation, open func(ctx context.Context, c *Call, id string) (http.Handler, error)) {
	s.route(BasePath+o.Path, &o, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		next, err := open(r.Context(), c, r.PathValue("id"))
		if err != nil {
			c.refuse(err)
			return
		}
		w := &plainRefusals{ResponseWriter: c.writer}
		next.ServeHTTP(w, c.request)
		if w.refused != "" {
			c.refuse(problem.New(w.refused, "The request is none of this protocol: %s.", w.words()).WithParam("body"))
		}
	}))
}

// plainRefusals passes on what a protocol's library answers, but for refusals in plain words, which every failure of
// the API has in its own form.
type plainRefusals struct {
	http.ResponseWriter
	refused problem.Code
	text    []byte
}

// refusalsOf are the codes of what a library refuses, by status.
var refusalsOf = map[int]problem.Code{
	http.StatusBadRequest: problem.InvalidRequest, http.StatusNotFound: problem.NotFound, http.StatusRequestEntityTooLarge: problem.TooLarge,
	http.StatusUnsupportedMediaType: problem.UnsupportedMediaType,
}

// WriteHeader implements http.ResponseWriter.
func (w *plainRefusals) WriteHeader(status int) {
	code, known := refusalsOf[status]
	if kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); known && kind == "text/plain" {
		w.refused = code
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *plainRefusals) Write(b []byte) (int, error) {
	if w.refused == "" {
		return w.ResponseWriter.Write(b)
	}
	w.text = append(w.text, b...)
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *plainRefusals) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// words is what the library said, without what it says of its own types.
func (w *plainRefusals) words() string {
	text, _, _ := strings.Cut(strings.TrimSpace(string(w.text)), ": json:")
	return strings.TrimSuffix(strings.ToValidUTF8(text, ""), ".")
}

// identified says whether the caller of a request proved before who they are, by a key of another protocol.
func (s *Service) identified(r *http.Request) bool {
	o, match := s.find(r.Method, r.URL.Path)
	return o != nil && o.Identifies != nil && o.Identifies(r, match.URLParam("id"))
}

// Told is an error in words for a caller of another protocol, as the API would tell it. What
// the caller is not told is logged. Unlike what else there is of a call it may be asked
// while the answer is written.
func (c *Call) Told(ctx context.Context, err error) string {
	p := c.Problem(err)
	if p.Code.Status() >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		c.service.Log.ErrorContext(ctx, "request failed", "error", p)
	}
	return p.Message
}
