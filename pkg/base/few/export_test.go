package few

// TellFrom is Tell with another number of people than Least.
func (c *Classes) TellFrom(least int, sets [][]Record) bool {
	_, may := c.tell(least, sets)
	return may
}
