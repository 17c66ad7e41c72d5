package id

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// An identifier made by At is a UUIDv7 whose time is told to the microsecond:
// 48 bits of milliseconds, and where RFC 9562 leaves twelve bits to the maker,
// the microseconds within.

// At makes an identifier of a moment, which sorts by it.
func At[K Kind](t time.Time) ID[K] {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends instead
	return timed[K](t, random)
}

// NamedAt makes the identifier of something of a moment that has a name, such as the
// uid of what declares it: the same one each time.
func NamedAt[K Kind](t time.Time, name string) ID[K] {
	var k K
	sum := sha256.Sum256([]byte(k.Prefix() + "/" + name))
	return timed[K](t, [8]byte(sum[:8]))
}

func timed[K Kind](t time.Time, tail [8]byte) ID[K] {
	i := First[K](t)
	i[8] |= tail[0] & 0x3f
	copy(i[9:], tail[1:])
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
