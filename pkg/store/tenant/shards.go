package tenant

import (
	"context"
	"maps"
	"sync"
	"time"

	"visavis.dev/pkg/store/database"
)

// lookEvery is how often it is looked whether the shards are where they were.
const lookEvery = 15 * time.Second

// shard is a shard's database, and where the directory had it last.
type shard struct {
	*database.DB
	url string
}

// Shard is a shard's database. New connections go where the directory has it, and those
// that are open go back to where it was for no longer than lookEvery and what is under
// way.
func (t *Tenants) Shard(ctx context.Context, name string) (*database.DB, error) {
	t.mu.Lock()
	s, ok := t.shards[name]
	t.lookAgain()
	t.mu.Unlock()
	if ok {
		return s.DB, nil
	}
	url, err := t.directory.ShardURL(ctx, name)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.shards[name]; ok {
		return s.DB, nil
	}
	o := audited(t.pool)
	o.URL = func(ctx context.Context) (string, error) { return t.directory.ShardURL(ctx, name) }
	db, err := database.Open(url, o)
	if err != nil {
		return nil, err
	}
	t.shards[name] = &shard{db, url}
	return db, nil
}

// lookAgain looks, beside everything else, whether a shard has another URL by now. The
// lock is held.
func (t *Tenants) lookAgain() {
	if now := time.Now(); !t.busy && now.Sub(t.looked) >= lookEvery {
		t.busy, t.looked = true, now
		known := maps.Clone(t.shards)
		t.looking.Go(func() { t.look(known) })
	}
}

// look leaves the connections to where a shard was: what they commit there would be lost.
func (t *Tenants) look(known map[string]*shard) {
	ctx, cancel := context.WithTimeout(context.Background(), lookEvery)
	defer cancel()
	for name, s := range known {
		url, err := t.directory.ShardURL(ctx, name)
		if err == nil && url != s.url {
			s.url = url
			s.Reset()
		}
	}
	t.mu.Lock()
	t.busy = false
	t.mu.Unlock()
}

// Forget makes the next use of a shard ask the directory where its database is. What
// is under way there goes on.
func (t *Tenants) Forget(name string) {
	t.mu.Lock()
	s := t.shards[name]
	delete(t.shards, name)
	t.mu.Unlock()
	t.directory.ForgetShard(name)
	if s != nil {
		go s.Close() // it waits for what is under way
	}
}

// Opened lists the shards that have been used so far, by name.
func (t *Tenants) Opened() map[string]*database.DB {
	t.mu.Lock()
	defer t.mu.Unlock()
	opened := make(map[string]*database.DB, len(t.shards))
	for name, s := range t.shards {
		opened[name] = s.DB
	}
	return opened
}

// Close closes every pool. One whose database does not answer keeps no other waiting.
func (t *Tenants) Close() {
	t.looking.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	var group sync.WaitGroup
	for _, s := range t.shards {
		group.Go(s.Close)
	}
	group.Wait()
}
