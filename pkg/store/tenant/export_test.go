package tenant

import "time"

// LookNow has the next use of a shard look whether it is where it was, and waits for that.
func (t *Tenants) LookNow() {
	t.looking.Wait()
	t.mu.Lock()
	t.looked = time.Time{}
	t.lookAgain()
	t.mu.Unlock()
	t.looking.Wait()
}
