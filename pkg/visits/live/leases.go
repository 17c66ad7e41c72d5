package live

import (
	"slices"
	"sync"

	"github.com/google/uuid"
)

// leases are what this process is to the others: a lease on each shard, under an id. The
// id is the same everywhere, since sessions move from shard to shard, until the lease on
// a shard is lost: there the process goes on under another one.
type leases struct {
	mu sync.Mutex
	// first is the id of shards where none was lost.
	first   uuid.UUID
	byShard map[string]*shardLeases
}

// shardLeases are the ids of this process on a shard.
type shardLeases struct {
	// current is what sessions are taken under from now on.
	current uuid.UUID
	// held are those that were taken there, and lost those that ran out.
	held, lost []uuid.UUID
}

func newLeases() *leases {
	return &leases{first: uuid.New(), byShard: map[string]*shardLeases{}}
}

// on is what there is of a shard; the lock is held.
func (l *leases) on(shard string) *shardLeases {
	if l.byShard[shard] == nil {
		l.byShard[shard] = &shardLeases{current: l.first}
	}
	return l.byShard[shard]
}

// current is the id to take sessions of a shard under.
func (l *leases) current(shard string) uuid.UUID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.on(shard).current
}

// mine says whether an id is this process's.
func (l *leases) mine(pod uuid.UUID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.byShard {
		if s.current == pod || slices.Contains(s.held, pod) {
			return true
		}
	}
	return pod == l.first
}

// wanted are the ids to hold on a shard: its current one, and those that run sessions,
// which may come there from another shard.
func (l *leases) wanted(shard string, owners map[uuid.UUID]bool) []uuid.UUID {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.on(shard)
	ids := []uuid.UUID{s.current}
	for owner := range owners {
		if owner != s.current && !slices.Contains(s.lost, owner) {
			ids = append(ids, owner)
		}
	}
	return ids
}

func (l *leases) holds(shard string, pod uuid.UUID) bool {
	return slices.Contains(l.held(shard), pod)
}

// held are the ids that are held on a shard.
func (l *leases) held(shard string) []uuid.UUID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.on(shard).held)
}

// shards are those where something is held.
func (l *leases) shards() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, 0, len(l.byShard))
	for name := range l.byShard {
		names = append(names, name)
	}
	return names
}

// taken notes that an id is held on a shard.
func (l *leases) taken(shard string, pod uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.on(shard); !slices.Contains(s.held, pod) {
		s.held = append(s.held, pod)
	}
}

// retain forgets what is held on a shard but is not wanted any more: it runs out.
func (l *leases) retain(shard string, wanted []uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.on(shard)
	s.held = slices.DeleteFunc(s.held, func(id uuid.UUID) bool { return !slices.Contains(wanted, id) })
}

// lost notes that the lease of an id ran out on a shard.
func (l *leases) lost(shard string, pod uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.on(shard)
	s.lost = append(s.lost, pod)
	s.held = slices.DeleteFunc(s.held, func(id uuid.UUID) bool { return id == pod })
	if s.current == pod {
		s.current = uuid.New()
	}
}
