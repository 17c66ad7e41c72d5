package health

import "time"

// Forget makes the next check ask anew.
func (c *Checker) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
}
