// Package health says whether the databases answer. Asking is cheap: an
// answer is kept for a second, however many ask.
package health

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

const (
	kept = time.Second
	// patience is how long a check waits for databases to answer: probes wait no longer
	// than three seconds themselves. For those that take longer, what they answered last
	// holds until answerWithin, which is as long as a caller would wait.
	patience     = time.Second
	answerWithin = 10 * time.Second
	// goneWithin is how long the directory may take to say whether it has a shard.
	goneWithin = time.Second
)

// theDirectory stands for the directory among the databases. No shard has that name.
const theDirectory = ""

// State is what answered.
type State struct {
	Directory bool
	// Shards are those this process has used, that the directory still has and that had
	// the time to answer or not, by name.
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
	probes    probes

	mu    sync.Mutex
	state State
	at    time.Time
}

// New checks these databases.
func New(d *directory.Directory, t *tenant.Tenants) *Checker {
	return &Checker{directory: d, tenants: t, probes: probes{by: map[string]*probe{}}}
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
	shards := c.tenants.Opened()
	asked := []<-chan struct{}{c.probes.ask(ctx, theDirectory, c.directory.DB, func() bool { return false })}
	for name, db := range shards {
		asked = append(asked, c.probes.ask(ctx, name, db, func() bool { return c.gone(name) }))
	}
	await(asked, patience)
	c.probes.retain(func(name string) bool { return name == theDirectory || shards[name] != nil })
	s := State{Directory: c.probes.of(theDirectory).up, Shards: map[string]bool{}}
	for name := range shards {
		if p := c.probes.of(name); p.known && !p.gone {
			s.Shards[name] = p.up
		}
	}
	return s
}

// gone says whether the directory has a shard no more: its database may be away.
func (c *Checker) gone(shard string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), goneWithin)
	defer cancel()
	_, err := c.directory.ShardURL(ctx, shard)
	return errors.Is(err, directory.ErrUnknown)
}
