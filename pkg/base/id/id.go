// Package id makes and reads the API's identifiers: a kind's prefix, an
// underscore and 22 base62 digits of a UUIDv7 ("av_0683mPq2v9XKf1sTn7ZQ4b").
//
// Each kind is a Go type of its own, so that an avatar's id cannot be passed
// where an organization's belongs. In the database an id is the bare UUID.
// The kinds stand in kinds.go; what an id refers to is nobody's business here.
package id

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// Kind is what an identifier names. Its prefix is part of the wire form.
type Kind interface {
	// Prefix is the wire prefix without the underscore, such as "av".
	Prefix() string
}

// ID identifies one thing of kind K. The zero ID names nothing.
type ID[K Kind] uuid.UUID

// ErrMalformed says that a string is not an identifier of the wanted kind:
// another kind's prefix, a wrong length, or characters outside base62. Callers
// answer it as "no such thing" (General conventions, 3).
var ErrMalformed = errors.New("not an id of this kind")

// New makes an identifier that sorts after those made before it.
func New[K Kind]() ID[K] {
	// NewV7 fails only when the system's randomness does, and then nothing
	// that needs an id can go on.
	return ID[K](uuid.Must(uuid.NewV7()))
}

// Named makes the identifier that belongs to a fixed name, the same in every
// process and release. Things that ship with the product have such ids.
func Named[K Kind](name string) ID[K] {
	var k K
	return ID[K](uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://visavis.dev/"+k.Prefix()+"/"+name)))
}

// Parse reads an identifier with or without its prefix (General conventions, 3). The zero ID,
// which names nothing, is none.
func Parse[K Kind](s string) (ID[K], error) {
	var k K
	u, ok := decode(strings.TrimPrefix(s, k.Prefix()+"_"))
	if !ok || u == uuid.Nil { // which would be taken for none
		return ID[K]{}, ErrMalformed
	}
	return ID[K](u), nil
}

// UUIDOf is the UUID of an identifier of whatever kind with its prefix, or of a UUID in the
// form that databases show.
func UUIDOf(s string) (uuid.UUID, error) {
	u, ok := decode(s[strings.LastIndexByte(s, '_')+1:])
	if !ok {
		var err error
		u, err = uuid.Parse(s)
		ok = err == nil
	}
	if !ok || u == uuid.Nil {
		return uuid.Nil, ErrMalformed
	}
	return u, nil
}

// String is the wire form: prefix, underscore, 22 base62 digits.
func (i ID[K]) String() string {
	var k K
	return k.Prefix() + "_" + i.Bare()
}

// Bare is the wire form without its prefix.
func (i ID[K]) Bare() string { return encode(uuid.UUID(i)) }

// IsZero says whether the identifier names nothing.
func (i ID[K]) IsZero() bool { return i == ID[K]{} }

// OrNil is the identifier, or nil for the zero one.
func (i ID[K]) OrNil() *ID[K] {
	if i.IsZero() {
		return nil
	}
	return &i
}

// MarshalText writes the wire form.
func (i ID[K]) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads what MarshalText writes, the zero ID too, with or without its prefix.
func (i *ID[K]) UnmarshalText(b []byte) error {
	var k K
	u, ok := decode(strings.TrimPrefix(string(b), k.Prefix()+"_"))
	if !ok {
		return fmt.Errorf("%w: %q", ErrMalformed, b)
	}
	*i = ID[K](u)
	return nil
}

// ScanUUID implements pgtype.UUIDScanner; NULL becomes the zero ID.
func (i *ID[K]) ScanUUID(v pgtype.UUID) error {
	*i = ID[K](v.Bytes)
	return nil
}

// UUIDValue implements pgtype.UUIDValuer; the zero ID becomes NULL.
func (i ID[K]) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: i, Valid: !i.IsZero()}, nil
}
