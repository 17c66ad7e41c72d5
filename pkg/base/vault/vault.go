// Package vault seals the secrets that must be read again, such as a webhook's
// signing secret, so that a copy of the database tells none. What only has to
// be recognised is hashed instead, and not here.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeySize is a key's length in bytes (AES-256).
const KeySize = 32

// ErrCannotOpen says that sealed bytes were made with another key, for another
// place, or altered.
var ErrCannotOpen = errors.New("sealed with a key that is not at hand, for another place, or altered")

// Vault seals with its first key and opens with any, so a key is replaced by
// putting another before it.
type Vault struct {
	sealing fingerprint
	keys    map[fingerprint]cipher.AEAD
}

// fingerprint tells which key sealed something, and nothing about the key.
type fingerprint [4]byte

// New makes a vault of one or more keys.
func New(keys ...[]byte) (*Vault, error) {
	if len(keys) == 0 {
		return nil, errors.New("a vault needs a key")
	}
	v := &Vault{keys: map[fingerprint]cipher.AEAD{}}
	for i, key := range keys {
		if len(key) != KeySize {
			return nil, fmt.Errorf("key %d of the vault has %d bytes, not %d", i+1, len(key), KeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("visavis vault key "), key...))
		f := fingerprint(sum[:len(fingerprint{})])
		if i == 0 {
			v.sealing = f
		}
		v.keys[f] = aead
	}
	return v, nil
}

// ParseKeys reads keys in base64, one a line, the one to seal with first.
// Empty lines and those that begin with # are passed over.
func ParseKeys(text string) ([][]byte, error) {
	var keys [][]byte
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != KeySize {
			// The line itself may be nearly a key: it is not quoted.
			return nil, fmt.Errorf("key %d is not %d bytes in base64", len(keys)+1, KeySize)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key")
	}
	return keys, nil
}

// NewKey makes a key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails: the program ends instead
	return key
}

// Seal encrypts a secret for a place, such as a row's key. Only there it opens.
func (v *Vault) Seal(place string, secret []byte) []byte {
	sealed := append([]byte(nil), v.sealing[:]...)
	return v.keys[v.sealing].Seal(sealed, nil, secret, []byte(place))
}

// Open decrypts what was sealed for a place. The error is ErrCannotOpen.
func (v *Vault) Open(place string, sealed []byte) ([]byte, error) {
	var f fingerprint
	if len(sealed) < len(f) {
		return nil, ErrCannotOpen
	}
	aead, ok := v.keys[fingerprint(sealed[:len(f)])]
	if !ok {
		return nil, ErrCannotOpen
	}
	secret, err := aead.Open(nil, nil, sealed[len(f):], []byte(place))
	if err != nil {
		return nil, ErrCannotOpen
	}
	return secret, nil
}
