// Package card is a message for a chat, before it has the form of one: what it is about, short facts
// and longer texts, a link, and what it is known by.
package card

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Card is one message.
type Card struct {
	// Title says what it is about, in words of this program's.
	Title string
	// Who is whose it is, for a notification; empty where nobody is to be named.
	Who string
	// Facts are short, and Texts what somebody said. Both can hold a stranger's words.
	Facts, Texts []Fact
	// Link leads to what it is about; empty for none.
	Link string
	// Note is what it is known by.
	Note string
}

// Fact is something by its name.
type Fact struct{ Name, Value string }

// Add adds a fact, unless it is empty.
func Add(all []Fact, name, value string) []Fact {
	if value = Clean(value); value == "" {
		return all
	}
	return append(all, Fact{name, value})
}

// Clean leaves out of a stranger's words what changes how others read: control characters but line breaks,
// and what turns the direction of writing.
func Clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text))
}

// Cut bounds a text, in characters.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// Line is the card in a line, for a notification.
func (c Card) Line() string {
	if c.Who == "" {
		return c.Title
	}
	return c.Title + ": " + strings.ReplaceAll(c.Who, "\n", " ")
}
