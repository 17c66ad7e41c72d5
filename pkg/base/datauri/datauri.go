// Package datauri reads data: URIs (RFC 2397) with base64 bodies.
package datauri

import (
	"encoding/base64"
	"errors"
	"mime"
	"strings"
)

// Errors of Parse.
var (
	ErrMalformed = errors.New("not a base64 data: URI")
	ErrTooLarge  = errors.New("the data is too large")
)

// Is says whether a text claims to be a data: URI.
func Is(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "data:") }

// Parse reads the media type and at most limit bytes.
func Parse(s string, limit int) (mediaType string, data []byte, err error) {
	if !Is(s) {
		return "", nil, ErrMalformed
	}
	head, body, ok := strings.Cut(s[5:], ",")
	if !ok {
		return "", nil, ErrMalformed
	}
	head, ok = strings.CutSuffix(head, ";base64")
	if !ok {
		return "", nil, ErrMalformed
	}
	mediaType, _, err = mime.ParseMediaType(head)
	if err != nil {
		return "", nil, ErrMalformed
	}
	// Four characters hold three bytes; decide before decoding.
	if len(body)/4*3 > limit+2 {
		return "", nil, ErrTooLarge
	}
	data, err = base64.StdEncoding.Strict().DecodeString(body)
	if err != nil {
		return "", nil, ErrMalformed
	}
	if len(data) > limit {
		return "", nil, ErrTooLarge
	}
	return mediaType, data, nil
}
