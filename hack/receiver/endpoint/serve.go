package endpoint

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	h := s.hook(r.URL.Path)
	b := h.behaviour.Load()
	why, t := s.take(h, b, r)
	switch {
	case why != "":
		http.Error(w, why, http.StatusUnauthorized)
	case b.fails(t):
		w.WriteHeader(http.StatusInternalServerError)
	default:
		s.answer(w, r, b)
	}
}

// take reads, verifies and records a request. It answers why the request is
// refused, if it is, and otherwise whose turn it was.
func (s *Server) take(h *hook, b *Behaviour, r *http.Request) (why string, t turn) {
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	if _, err := body.ReadFrom(r.Body); err != nil {
		panic(http.ErrAbortHandler) // it went away before all was sent
	}
	got := Request{At: time.Now(), Path: r.URL.Path, Header: r.Header, Body: body.Bytes()}
	got.DeliveryID = r.Header.Get(headerDelivery)
	if s.options.CountOnly || json.Valid(got.Body) {
		got.EventID, got.Type = peek(got.Body)
	}
	if b.Secret != "" || b.PreviousSecret != "" {
		got.Why = verify(b, r.Method, &got)
		got.Verified = got.Why == ""
	}
	if !s.options.CountOnly {
		got.Body = bytes.Clone(got.Body)
	}
	t = h.record(got)
	if s.options.OnRequest != nil && got.Why == "" {
		s.options.OnRequest(got)
	}
	return got.Why, t
}
