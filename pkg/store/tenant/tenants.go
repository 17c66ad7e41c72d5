package tenant

import (
	"context"
	"errors"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/hint"
)

// Tenants finds organizations' databases and keeps a pool for each shard.
type Tenants struct {
	directory *directory.Directory
	pool      database.PoolOptions
	hints     *hint.Hub

	mu     sync.Mutex
	shards map[string]*shard
	// looked is when it was looked last whether the shards are where they were, busy is
	// set while it is, and looking waits for that.
	looked  time.Time
	busy    bool
	looking sync.WaitGroup
}

// New makes a Tenants whose pools have these options. Close it when done.
func New(d *directory.Directory, pool database.PoolOptions) *Tenants {
	return &Tenants{directory: d, pool: pool, shards: map[string]*shard{}}
}

// HintBy has workers told of what is committed for them. It is called before the first use.
func (t *Tenants) HintBy(h *hint.Hub) { t.hints = h }

// Hints are those of HintBy; nil without.
func (t *Tenants) Hints() *hint.Hub { return t.hints }

// ShardOf is the shard that an organization lives on, as far as this process knows. What
// is done there follows the organization if it has moved; this says whose work it is.
func (t *Tenants) ShardOf(ctx context.Context, org id.Org) (string, error) {
	route, err := t.directory.Route(ctx, org)
	return route.Shard, err
}

const (
	// maxRoutes is how many routes one call follows at once; after that it
	// goes on as one that waits at a fence.
	maxRoutes = 4
	// fencedFor is how long a call waits at a fence before it is answered
	// 503 capacity; fencedPoll is how often it looks.
	fencedFor  = 2 * time.Second
	fencedPoll = 50 * time.Millisecond
)

// onShard runs work against the organization's shard, following the
// organization when it has moved and waiting a little while it moves.
func (t *Tenants) onShard(ctx context.Context, org id.Org, work func(*database.DB, directory.Route) error) error {
	deadline := time.Now().Add(fencedFor)
	for routes := 1; ; {
		route, err := t.directory.Route(ctx, org)
		if err != nil {
			return err
		}
		db, err := t.Shard(ctx, route.Shard)
		if err != nil {
			return err
		}
		err = work(db, route)
		var stale *staleRoute
		switch {
		case errors.Is(err, errFenced) && time.Now().Before(deadline):
			if err := pause(ctx, fencedPoll); err != nil {
				return err
			}
		case errors.As(err, &stale) && (routes < maxRoutes || time.Now().Before(deadline)):
			t.follow(stale)
			if routes++; routes > maxRoutes {
				if err := pause(ctx, fencedPoll); err != nil {
					return err
				}
			}
		default:
			return err
		}
	}
}

func (t *Tenants) follow(stale *staleRoute) {
	if stale.next == nil {
		t.directory.Forget(stale.org)
		return
	}
	t.directory.Learn(stale.org, *stale.next)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Unavailable says whether an error of this package or of the database under
// it means "not right now".
func Unavailable(err error) bool {
	var stale *staleRoute
	return errors.Is(err, errFenced) || errors.As(err, &stale) || database.Unavailable(err)
}
