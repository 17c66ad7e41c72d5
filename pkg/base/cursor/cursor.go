// Package cursor makes the opaque cursors of lists. A cursor carries the
// position where a page ended and a signature over that position and the list
// it belongs to, so one of another list, with other filters, of another
// organization, or altered, is recognised (spec, Endpoints).
package cursor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// Pattern is the form of every cursor (spec, Endpoints).
const Pattern = "^[A-Za-z0-9_-]{1,200}$"

// ErrForeign says that a cursor was not made for this list.
var ErrForeign = errors.New("the cursor does not belong to this list and its filters")

const tagSize = 16

// Codec makes and reads cursors with a secret that all pods share.
type Codec struct{ secret []byte }

// New makes a codec. The secret is 32 random bytes.
func New(secret []byte) *Codec { return &Codec{secret} }

// NewSecret makes a secret for New.
func NewSecret() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: the program ends instead
	return secret
}

// Seal makes a cursor of a position in a list. The position's JSON must be
// short: a cursor has at most 200 characters.
func (c *Codec) Seal(list string, position any) (string, error) {
	body, err := json.Marshal(position)
	if err != nil {
		return "", err
	}
	s := base64.RawURLEncoding.EncodeToString(append(c.tag(list, body), body...))
	if len(s) > 200 {
		return "", errors.New("the position is too long for a cursor")
	}
	return s, nil
}

// Open reads the position out of a cursor of the same list.
func (c *Codec) Open(list, cursor string, position any) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// Decoding would skip line breaks.
	if err != nil || len(raw) < tagSize || strings.ContainsAny(cursor, "\r\n") {
		return ErrForeign
	}
	tag, body := raw[:tagSize], raw[tagSize:]
	if !hmac.Equal(tag, c.tag(list, body)) || json.Unmarshal(body, position) != nil {
		return ErrForeign
	}
	return nil
}

func (c *Codec) tag(list string, body []byte) []byte {
	mac := hmac.New(sha256.New, c.secret)
	// The list's hash has a fixed length, so no list can borrow from a body.
	sum := sha256.Sum256([]byte(list))
	mac.Write(sum[:])
	mac.Write(body)
	return mac.Sum(nil)[:tagSize]
}
