// Package lru keeps what was used last, up to a size. It is golang-lru behind an interface: a
// struct with a field of one of that library's generic types has every package that the struct
// reaches compile all of the type's methods once more, which was half of what many packages took.
package lru

import lru "github.com/hashicorp/golang-lru/v2"

// Cache is safe for concurrent use.
type Cache[K comparable, V any] interface {
	// Get is the value of a key, which was used just now.
	Get(key K) (value V, ok bool)
	// Peek is the value of a key, which is used no later for that.
	Peek(key K) (value V, ok bool)
	// Add keeps a value, and says whether another one had to go.
	Add(key K, value V) (evicted bool)
	// PeekOrAdd is the value that is there, or else keeps this one.
	PeekOrAdd(key K, value V) (previous V, ok, evicted bool)
	// Remove forgets a key, and says whether it was there.
	Remove(key K) (present bool)
	// Contains says whether a key is there, which is used no later for that.
	Contains(key K) bool
	// Len is how many keys there are.
	Len() int
}

// New makes a cache of so many keys. The error says that the size is below one.
func New[K comparable, V any](size int) (Cache[K, V], error) { return lru.New[K, V](size) }
