// Package health says whether the databases answer. Asking is cheap: an
// answer is kept for a second, however many ask.
package health

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/tenant"
)

const (
	kept        = time.Second
	pingTimeout = time.Second
)

// State is what answered.
type State struct {
	Directory bool
	// Shards are those this process has used and the directory still has, by name.
	Shards map[string]bool
}

// Ready says whether the process can answer for anybody: the directory or a
// shard it knows is there. While only the directory is away, requests are
// answered from the last known routes.
func (s State) Ready() bool {
	for _, up := range s.Shards {
		if up {
			return true
		}
	}
	return s.Directory && len(s.Shards) == 0
}

// Well says whether everything answers.
func (s State) Well() bool {
	for _, up := range s.Shards {
		if !up {
			return false
		}
	}
	return s.Directory
}

// Checker pings the databases.
type Checker struct {
	directory *directory.Directory
	tenants   *tenant.Tenants

	mu    sync.Mutex
	state State
	at    time.Time
}

// New checks these databases.
func New(d *directory.Directory, t *tenant.Tenants) *Checker {
	return &Checker{directory: d, tenants: t}
}

// Check is the state, at most a second old.
func (c *Checker) Check(ctx context.Context) State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) > kept {
		c.state, c.at = c.ping(ctx), time.Now()
	}
	return State{c.state.Directory, maps.Clone(c.state.Shards)}
}

func (c *Checker) ping(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	var (
		group errgroup.Group
		mu    sync.Mutex
		s     = State{Shards: map[string]bool{}}
	)
	group.Go(func() error {
		s.Directory = c.directory.DB.Ping(ctx) == nil
		return nil
	})
	for name, db := range c.tenants.Opened() {
		group.Go(func() error {
			up := db.Ping(ctx) == nil
			if !up && c.gone(name) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			s.Shards[name] = up
			return nil
		})
	}
	_ = group.Wait() // nothing in the group fails
	return s
}

// gone says whether the directory has a shard no more: its database may be away.
func (c *Checker) gone(shard string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	_, err := c.directory.ShardURL(ctx, shard)
	return errors.Is(err, directory.ErrUnknown)
}
