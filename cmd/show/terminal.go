package show

import (
	"io"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// Terminal writes to where people read without what moves their cursor or colors
// their screen: names and addresses are whatever callers of the API chose.
func Terminal(w io.Writer) io.Writer {
	return transform.NewWriter(w, runes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}))
}
