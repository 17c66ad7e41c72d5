package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// The secret of a key is "vsk_live_" or "vsk_test_", 32 random base62 digits
// (190 bits) and a checksum of 6 more over all before it. A scanner finds it
// with Pattern, and a mistyped one is refused without asking the database.
const (
	prefixLive  = "vsk_live_"
	prefixTest  = "vsk_test_"
	randomWidth = 32
	sumWidth    = 6

	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	// Pattern matches a secret anywhere in a text.
	Pattern = `\bvsk_(live|test)_[0-9A-Za-z]{38}\b`
)

// Secret is a key's secret in the clear. It is shown once and never stored.
type Secret string

// Environment says what a key is for: the real thing or trying out.
type Environment string

// The environments.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// NewSecret makes a random secret.
func NewSecret(e Environment) Secret {
	prefix := prefixLive
	if e == Test {
		prefix = prefixTest
	}
	body := prefix + randomDigits(randomWidth)
	return Secret(body + checksum(body))
}

// randomDigits draws evenly: bytes past the last multiple of 62 are drawn again.
func randomDigits(n int) string {
	out := make([]byte, 0, n)
	buf := make([]byte, 2*n)
	for len(out) < n {
		_, _ = rand.Read(buf) // never fails: the program ends instead
		for _, b := range buf {
			if b < 62*4 && len(out) < n {
				out = append(out, digits[b%62])
			}
		}
	}
	return string(out)
}

func checksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var out [sumWidth]byte
	for i := sumWidth - 1; i >= 0; i-- {
		out[i] = digits[sum%62]
		sum /= 62
	}
	return string(out[:])
}

// ParseSecret says whether a string has the form and checksum of a secret.
func ParseSecret(s string) (Secret, bool) {
	if len(s) != len(prefixLive)+randomWidth+sumWidth ||
		!strings.HasPrefix(s, prefixLive) && !strings.HasPrefix(s, prefixTest) {
		return "", false
	}
	body, sum := s[:len(s)-sumWidth], s[len(s)-sumWidth:]
	// The checksum is no secret: it follows from the rest.
	return Secret(s), checksum(body) == sum
}

// Hash is what is stored of a secret. A plain SHA-256 is enough, because
// nobody can guess among 190 random bits.
func (s Secret) Hash() Hash { return sha256.Sum256([]byte(s)) }

// Last4 is what a person may see of a secret to tell keys apart.
func (s Secret) Last4() string { return string(s[len(s)-4:]) }

// Hash is the SHA-256 of a secret.
type Hash [sha256.Size]byte
