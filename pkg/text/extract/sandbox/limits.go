package sandbox

import "time"

// Limits bound a child.
type Limits struct {
	// Memory is how many bytes of its own it may take beside the program.
	Memory int64
	// Processor is how long it may compute, and Time how long it may take in all.
	Processor, Time time.Duration
}

// programBytes is what of the program itself a child has in memory, beside what it shares
// with its parent.
const programBytes = 64 << 20

// Footprint is how many bytes of memory a child takes at most.
func (l Limits) Footprint() int64 { return l.Memory + programBytes }

// Default is what a document may take. No document that package extract reads in full
// takes half of it.
func Default() Limits {
	return Limits{Memory: 512 << 20, Processor: time.Minute, Time: 5 * time.Minute}
}

// maxAnswer bounds what a child writes, in bytes: the longest text with its headings, as
// JSON writes it.
const maxAnswer = 128 << 20
