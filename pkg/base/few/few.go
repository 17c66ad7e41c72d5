// Package few keeps figures from telling of few people: neither by themselves, nor by what can be worked
// out of all that were ever told.
package few

// Least is how many people a figure is about at least: those of five and fewer are told nobody.
const Least = 6

// May says whether a figure about so many people may be told: about nobody, or about enough.
func May(n int64) bool { return n == 0 || n >= Least }
