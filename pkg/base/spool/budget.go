// Package spool takes the bodies of requests in without letting their bytes fill
// the process: past a threshold they lie in a temporary file, long texts in them
// are read from there when they are needed, and a budget bounds what all requests
// hold at a time.
package spool

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
)

// ErrOverBudget says that the requests under way hold as many bytes as they may.
var ErrOverBudget = errors.New("the requests under way hold as many bytes as they may")

const (
	// unlimitedTotal is the budget of a process whose memory has no limit.
	unlimitedTotal = 256 << 20
	// DefaultDisk is the budget of what lies in files. Half of the folder that the chart
	// gives them stays free.
	DefaultDisk = 512 << 20
	// leastTotal holds some of the largest bodies.
	leastTotal = 64 << 20
	// memoryPart is the part of the memory limit that is the budget, and
	// holderPart the part of the budget that one holder may take.
	memoryPart, holderPart = 4, 4
)

// DefaultTotal is a quarter of the process's memory limit (GOMEMLIMIT), and at
// least 64 MiB; 256 MiB without a limit.
func DefaultTotal() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return unlimitedTotal
	}
	return max(limit/memoryPart, leastTotal)
}

// Budget bounds the bytes that the requests of a process hold. One holder, an
// organization or an address without a key, has a quarter of it at most. What is
// larger than that is let in where it is the only one.
type Budget struct {
	mu          sync.Mutex
	total, used int64
	byHolder    map[string]int64
}

// NewBudget makes a budget of so many bytes.
func NewBudget(total int64) *Budget {
	return &Budget{total: total, byHolder: map[string]int64{}}
}

// Used is how many bytes are held.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Reservation is what one request holds of a budget. It is used by one goroutine
// at a time.
type Reservation struct {
	budget *Budget
	holder string
	bytes  int64
}

// Reserve begins a reservation of nothing.
func (b *Budget) Reserve(holder string) *Reservation { return &Reservation{budget: b, holder: holder} }

// Grow adds bytes to the reservation, or answers ErrOverBudget and leaves it as it is.
func (r *Reservation) Grow(n int64) error {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	others, ofHolder := b.used-r.bytes, b.byHolder[r.holder]-r.bytes
	after := r.bytes + n
	if others > 0 && others+after > b.total || ofHolder > 0 && ofHolder+after > b.total/holderPart {
		return ErrOverBudget
	}
	b.add(r, n)
	return nil
}

// Take adds bytes to the reservation, whatever is held: for so few that refusing them
// would save nothing.
func (r *Reservation) Take(n int64) {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(r, n)
}

// Shrink gives bytes back until so many are held.
func (r *Reservation) Shrink(to int64) {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(r, min(to-r.bytes, 0))
}

// add changes what a reservation holds. The lock is held.
func (b *Budget) add(r *Reservation, n int64) {
	r.bytes += n
	b.used += n
	if b.byHolder[r.holder] += n; b.byHolder[r.holder] == 0 {
		delete(b.byHolder, r.holder)
	}
}

// Bytes is how many bytes the reservation holds.
func (r *Reservation) Bytes() int64 { return r.bytes }

// Release gives everything back. It may be called again, and of nil.
func (r *Reservation) Release() {
	if r != nil {
		r.Shrink(0)
	}
}
