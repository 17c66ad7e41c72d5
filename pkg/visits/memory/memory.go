// Package memory keeps what personas remember of people between sessions (spec,
// Personas): what a conversation's goals collected, and what people said of
// themselves. Nothing is remembered that was not said.
//
// A persona remembers only where its privacy allows it, where the settings of the
// person's place do, and never a minor, nor what nobody may read. A job writes it
// after the end of a session; the next one of the same person and persona begins
// with it.
package memory

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"visavis.dev/pkg/base/id"
)

// The bounds of a memory.
const (
	// MaxItems is how many things are remembered of a person; the newest.
	MaxItems = 20
	// MaxText is the length of one in characters.
	MaxText = 200
	// Kept is how long a memory lasts that no session refreshes.
	Kept = 365 * 24 * time.Hour
)

// ByPerson is a persona's privacy that lets it remember people.
const ByPerson = "person"

// Item is one thing that is remembered.
type Item struct {
	// Key is the name of a goal's output; empty for what the person just said.
	Key     string     `json:"key,omitempty"`
	Text    string     `json:"text"`
	Session id.Session `json:"sessionId"`
	At      time.Time  `json:"at"`
}

// Line is the item as a model is told it.
func (i Item) Line() string {
	if i.Key == "" {
		return i.Text
	}
	return i.Key + ": " + i.Text
}

// Memory is what a persona remembers of a person, the newest first.
type Memory struct {
	Persona id.Persona
	Person  id.Person
	ID      id.Memory
	Items   []Item
	// Session is the one that wrote it last.
	Session              id.Session
	WrittenAt, ExpiresAt time.Time
}

// Merge adds to what is remembered, newest first. Of two that say the same, or
// that answer the same goal, the newer stays.
func Merge(before, fresh []Item) []Item {
	merged := []Item{}
	for _, item := range slices.Concat(fresh, before) {
		same := func(other Item) bool { return other.identity() == item.identity() }
		if len(merged) < MaxItems && !slices.ContainsFunc(merged, same) {
			merged = append(merged, item)
		}
	}
	return merged
}

// identity is what two items that say the same have in common.
func (i Item) identity() [2]string {
	if i.Key != "" {
		return [2]string{i.Key}
	}
	return [2]string{"", fold(i.Text)}
}

// fold is a text by its letters and digits alone.
func fold(text string) string { return strings.Join(wordsOf(text), " ") }

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// storable is a text on one line, or empty if it is too long to be remembered.
func storable(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")), " ")
	if len([]rune(text)) > MaxText {
		return ""
	}
	return text
}
