package id

import (
	"math/bits"

	"github.com/google/uuid"
)

const (
	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	// width is the number of base62 digits that hold 128 bits.
	width = 22
)

var values = func() (v [256]int8) {
	for i := range v {
		v[i] = -1
	}
	for i := range len(digits) {
		v[digits[i]] = int8(i)
	}
	return v
}()

// encode writes 16 bytes as 22 digits, most significant first, so that the
// text sorts (bytewise) as the UUID does.
func encode(u uuid.UUID) string {
	hi, lo := halves(u)
	var out [width]byte
	for i := width - 1; i >= 0; i-- {
		var rem uint64
		hi, rem = hi/62, hi%62
		lo, rem = bits.Div64(rem, lo, 62)
		out[i] = digits[rem]
	}
	return string(out[:])
}

// decode reads exactly what encode writes; a number beyond 128 bits is
// refused, so each id has one spelling.
func decode(s string) (uuid.UUID, bool) {
	if len(s) != width {
		return uuid.UUID{}, false
	}
	var hi, lo uint64
	for i := range width {
		v := values[s[i]]
		if v < 0 {
			return uuid.UUID{}, false
		}
		over, h := bits.Mul64(hi, 62)
		carry, l := bits.Mul64(lo, 62)
		l, c1 := bits.Add64(l, uint64(v), 0)
		h, c2 := bits.Add64(h, carry, c1)
		if over != 0 || c2 != 0 {
			return uuid.UUID{}, false
		}
		hi, lo = h, l
	}
	var u uuid.UUID
	for i := range 8 {
		u[i] = byte(hi >> (56 - 8*i))
		u[8+i] = byte(lo >> (56 - 8*i))
	}
	return u, true
}

func halves(u uuid.UUID) (hi, lo uint64) {
	for i := range 8 {
		hi = hi<<8 | uint64(u[i])
		lo = lo<<8 | uint64(u[8+i])
	}
	return hi, lo
}
