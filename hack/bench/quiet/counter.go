package quiet

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Counter counts what the clients of a configuration ask an API server. The zero
// Counter is ready.
type Counter struct {
	mu     sync.Mutex
	begun  []time.Time
	writes int
}

// Count is a configuration whose clients' requests are counted as they leave.
func (c *Counter) Count(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{c, next} })
	return config
}

type counted struct {
	*Counter
	next http.RoundTripper
}

// RoundTrip is part of http.RoundTripper.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.begun = append(c.begun, time.Now())
	if r.Method != http.MethodGet {
		c.writes++
	}
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

// Requests counts all of them.
func (c *Counter) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.begun)
}

// Writes counts those that change something.
func (c *Counter) Writes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

// Busiest is the most requests that began within any window of a length.
func (c *Counter) Busiest(length time.Duration) int {
	c.mu.Lock()
	begun := slices.Clone(c.begun)
	c.mu.Unlock()
	slices.SortFunc(begun, time.Time.Compare)
	most, first := 0, 0
	for i, at := range begun {
		for !at.Before(begun[first].Add(length)) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
