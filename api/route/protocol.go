package route

import (
	"context"
	"errors"
	"net/http"
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
		next.ServeHTTP(c.writer, c.request)
	}))
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
