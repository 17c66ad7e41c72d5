package operatortest

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// Requests notes what a client asks of the server, and can end a process at any
// request, as far as the server sees it.
type Requests struct {
	mu     sync.Mutex
	writes []string
	// left are the requests until the end, or the writes where the last one reaches the
	// server and lost is not set; none is left after. A negative number is no end.
	left int
	lost bool
	over bool
	// ended is whether it was over when it was restarted.
	ended bool
}

// NewRequests notes requests and lets all of them by. Wrap goes into a rest.Config.
func NewRequests() *Requests { return &Requests{left: -1} }

// errEnded is what a client of an ended process would have got.
var errEnded = errors.New("the process ended")

// Wrap notes what a transport carries.
func (r *Requests) Wrap(to http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		carry, answer := r.next(request)
		if !carry {
			return nil, errEnded
		}
		response, err := to.RoundTrip(request)
		if err == nil && !answer {
			_ = response.Body.Close()
			return nil, errEnded
		}
		return response, err
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// next says whether a request is carried to the server, and its answer back.
func (r *Requests) next(request *http.Request) (carry, answer bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	write := request.Method != http.MethodGet
	switch {
	case r.over:
		return false, false
	case !r.lost && !write:
	case r.left == 0:
		r.over = true
		if r.lost {
			return false, false
		}
	case r.left > 0:
		r.left--
	}
	if write {
		r.writes = append(r.writes, request.Method+" "+request.URL.Path)
	}
	return true, !r.over
}

// Writes are the requests since it was asked last that change something.
func (r *Requests) Writes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	writes := r.writes
	r.writes = nil
	return writes
}

// EndAt ends the process after the next n requests, at one that does not reach the
// server, or, unless lost, after the next n writes, at one whose answer does not come
// back. To a server a read without an answer is none.
func (r *Requests) EndAt(n int, lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.lost, r.over = n, lost, false
}

// Restart lets everything by again.
func (r *Requests) Restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = r.over
	r.left, r.over = -1, false
}

// EndEverywhere runs a test once for each request that it makes, with the process ending
// there: before the request reaches the server, and, if it is a write, after that. What the test does with
// its client until it calls Restart may end anywhere. The last run ends nowhere.
func EndEverywhere(t *testing.T, test func(t *testing.T, r *Requests)) {
	t.Helper()
	for _, lost := range []bool{true, false} {
		for n, ended := 0, true; ended; n++ {
			ok := t.Run(fmt.Sprintf("request %d, lost %v", n, lost), func(t *testing.T) {
				r := NewRequests()
				r.EndAt(n, lost)
				test(t, r)
				ended = r.ended
			})
			if !ok {
				return
			}
		}
	}
}
