package few

// TellFrom is Tell with another number of people than Least.
func (c *Classes) TellFrom(least int, sets [][]Record) bool { return c.tell(least, sets) }
