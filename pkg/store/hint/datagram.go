package hint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
)

// A datagram is a version, when it was signed in milliseconds since 1970 (8 bytes), its
// sender's random number (8 bytes), hints, and the HMAC-SHA256 of all of that. A hint is its kinds, the length of the shard's name and
// the name.
const (
	version      = 1
	headerLength = 1 + 8 + 8
	// datagramLength keeps a datagram in one packet on every usual network.
	datagramLength = 1200
	// nameLength bounds a shard's name.
	nameLength = 255
	// freshFor is how old a datagram may be, or how far ahead its sender's clock. One that
	// is sent again within it costs a look.
	freshFor = 30 * time.Second
)

// The reasons to drop a datagram.
var (
	errForged    = errors.New("not signed with the deployment's secret")
	errStale     = errors.New("signed too long ago, or by a clock that is ahead")
	errMalformed = errors.New("not a list of hints")
)

// given is a hint.
type given struct {
	shard string
	kinds Kinds
}

// seal makes datagrams of hints.
func seal(secret []byte, now time.Time, from uint64, hints map[string]Kinds) (datagrams [][]byte) {
	var d []byte
	end := func() {
		if len(d) > headerLength {
			datagrams = append(datagrams, sign(secret, d))
		}
		d = binary.BigEndian.AppendUint64([]byte{version}, uint64(now.UnixMilli()))
		d = binary.BigEndian.AppendUint64(d, from)
	}
	end()
	for shard, kinds := range hints {
		if len(shard) > nameLength {
			continue
		}
		if len(d)+2+len(shard)+sha256.Size > datagramLength {
			end()
		}
		d = append(d, byte(kinds), byte(len(shard)))
		d = append(d, shard...)
	}
	end()
	return datagrams
}

func sign(secret, d []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write(d) // never fails
	return mac.Sum(d)
}

// open reads the hints of a datagram, but for those that the reader sent itself.
func open(secret []byte, now time.Time, own uint64, d []byte) ([]given, error) {
	at := len(d) - sha256.Size
	if at < headerLength {
		return nil, errMalformed
	}
	if !hmac.Equal(sign(secret, d[:at:at]), d) {
		return nil, errForged
	}
	if d[0] != version {
		return nil, errMalformed
	}
	signed := time.UnixMilli(int64(binary.BigEndian.Uint64(d[1:])))
	if now.Sub(signed).Abs() > freshFor {
		return nil, errStale
	}
	if binary.BigEndian.Uint64(d[1+8:]) == own {
		return nil, nil
	}
	var hints []given
	for rest := d[headerLength:at]; len(rest) > 0; {
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return nil, errMalformed
		}
		end := 2 + int(rest[1])
		hints = append(hints, given{string(rest[2:end]), Kinds(rest[0])})
		rest = rest[end:]
	}
	return hints, nil
}
