// Package metadata bounds what customers note on their things: a few short texts
// by key, which the platform keeps and gives back without a look at them.
package metadata

import "unicode/utf8"

// The bounds, in characters.
const (
	MaxKeys        = 20
	MaxKeyLength   = 40
	MaxValueLength = 500
)

// TooMany says that there are more keys than MaxKeys.
func TooMany(m map[string]string) bool { return len(m) > MaxKeys }

// Fits says whether an entry is within the bounds.
func Fits(key, value string) bool {
	return key != "" && utf8.RuneCountInString(key) <= MaxKeyLength && utf8.RuneCountInString(value) <= MaxValueLength
}
