package id

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// An identifier made by At is a UUIDv7 whose time is told to the microsecond:
// 48 bits of milliseconds, and where RFC 9562 leaves twelve bits to the maker,
// the microseconds within.

// At makes an identifier of a moment, which sorts by it.
func At[K Kind](t time.Time) ID[K] {
	i := First[K](t)
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends instead
	i[8] |= random[0] & 0x3f
	copy(i[9:], random[1:])
	return i
}

// First is the smallest identifier that At can make of a moment.
func First[K Kind](t time.Time) ID[K] {
	us := max(t.UnixMicro(), 0)
	var i ID[K]
	binary.BigEndian.PutUint64(i[:8], uint64(us/1000)<<16|0x7000|uint64(us%1000))
	i[8] = 0x80
	return i
}

// Time is the moment of an identifier that At made, in UTC.
func (i ID[K]) Time() time.Time {
	head := binary.BigEndian.Uint64(i[:8])
	return time.UnixMicro(int64(head>>16)*1000 + int64(head&0xfff)).UTC()
}

// Next is the identifier right after this one in their order.
func (i ID[K]) Next() ID[K] {
	for at := len(i) - 1; at >= 0; at-- {
		i[at]++
		if i[at] != 0 {
			break
		}
	}
	return i
}
