package tenant

// Forget makes the next use of a shard ask the directory where its database is. What
// is under way there goes on.
func (t *Tenants) Forget(shard string) {
	t.mu.Lock()
	db := t.shards[shard]
	delete(t.shards, shard)
	t.mu.Unlock()
	t.directory.ForgetShard(shard)
	if db != nil {
		go db.Close() // it waits for what is under way
	}
}
