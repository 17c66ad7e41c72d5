// Package queue carries sound, and orders of what to do with it, to the goroutine that owns
// them: in their order, without anybody waiting.
package queue

import "sync"

// orders bounds the orders that wait: far more than anybody gives who is heard.
const orders = 1024

// Queue is a queue of one reader. Its other methods may be called by any goroutine.
type Queue[T any] struct {
	wake chan struct{}
	most int

	mu     sync.Mutex
	items  []item[T]
	sounds int // how many of the items are sound
}

type item[T any] struct {
	what  T
	sound bool
}

// New makes a queue in which so many pieces of sound wait at most.
func New[T any](most int) *Queue[T] {
	return &Queue[T]{wake: make(chan struct{}, 1), most: most}
}

// Sound puts a piece of sound in; it is left out where too many wait, which false says.
func (q *Queue[T]) Sound(what T) bool { return q.put(item[T]{what, true}) }

// Order puts in what is not to be left out, after all that came before; false says that
// there are too many all the same.
func (q *Queue[T]) Order(what T) bool { return q.put(item[T]{what, false}) }

func (q *Queue[T]) put(i item[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case i.sound && q.sounds >= q.most, !i.sound && len(q.items)-q.sounds >= orders:
		return false
	case i.sound:
		q.sounds++
	}
	q.items = append(q.items, i)
	q.ring()
	return true
}

// Wake receives while there is something to take.
func (q *Queue[T]) Wake() <-chan struct{} { return q.wake }

// Take takes the oldest item; false where there is none.
func (q *Queue[T]) Take() (what T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return what, false
	}
	first := q.items[0]
	q.items[0] = item[T]{}
	q.items = q.items[1:]
	if first.sound {
		q.sounds--
	}
	if len(q.items) > 0 {
		q.ring()
	}
	return first.what, true
}

func (q *Queue[T]) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
