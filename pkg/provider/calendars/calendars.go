// Package calendars is what calendars have in common, whichever protocol they are spoken to in: when
// they are busy, and the events that are written into them.
package calendars

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Calendar is one that an account has.
type Calendar struct {
	// ID is its path at a CalDAV server, or its id at Google.
	ID   string
	Name string
	// Writable says that events can be written into it, as far as the server says.
	Writable bool
}

// LongestID is how long the id of a calendar is at most, and longestName its name, in bytes.
const (
	LongestID   = 1024
	longestName = 200
)

// NameOf is what a server calls a calendar, in one line.
func NameOf(text string) string {
	name := strings.Join(strings.Fields(text), " ")
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "")
	}
	return name
}

// Span is a time from one moment until before another.
type Span struct{ From, To time.Time }

// Event is one that is written. Its key names it: writing it twice makes one.
type Event struct {
	Key     Key
	Span    Span
	Summary string
	// Description and Location can be empty.
	Description, Location string
	// Tentative says that somebody is yet to confirm it.
	Tentative bool
	// Sequence counts its changes: one that is there with a higher one stays as it is.
	Sequence int64
	// WrittenAt is when it is written.
	WrittenAt time.Time
}

// Key names an event of ours in every calendar.
type Key string

// suffix ends the keys of events, so that nobody else's are taken for ours.
const suffix = "@visavis"

// KeyOf is the key of the event of something.
func KeyOf(u uuid.UUID) Key { return Key(strings.ReplaceAll(u.String(), "-", "")) }

// UID is what iCalendar calls the event (RFC 5545, 3.8.4.7).
func (k Key) UID() string { return string(k) + suffix }

// Of is the thing whose event it is; false for a key that is none of ours.
func (k Key) Of() (uuid.UUID, bool) {
	u, err := uuid.Parse(string(k))
	return u, err == nil && KeyOf(u) == k
}

// KeyOfUID is the key of an event by its UID; false for one that is not ours.
func KeyOfUID(uid string) (Key, bool) {
	name, ours := strings.CutSuffix(uid, suffix)
	if !ours {
		return "", false
	}
	_, ours = Key(name).Of()
	return Key(name), ours
}

// Reading is what was read of a calendar.
type Reading struct {
	// Busy is when it is, but for our own events; in order, and apart from each other.
	Busy []Span
	// Ours are our own events that it has and that are not cancelled, by their keys.
	Ours map[Key]Span
	// Merged says that Busy holds our own events too, of which nothing else is known.
	Merged bool
	// Until is up to when Busy is whole: the end of what was asked for, or earlier where that is more
	// than is kept.
	Until time.Time
}

// Service is an account's calendars. Errors are upstream.Error, context.Canceled, or faults of ours.
type Service interface {
	// Calendars lists them.
	Calendars(ctx context.Context) ([]Calendar, error)
	// Read reads when a calendar is busy. Days without a zone, and times whose zone is not known, are
	// in zone.
	Read(ctx context.Context, calendar string, within Span, zone *time.Location) (Reading, error)
	// Find is when an event of ours is; nil where it is there no more, or cancelled. The error is ErrUnclear where it is there,
	// but at no one time.
	Find(ctx context.Context, calendar string, k Key, zone *time.Location) (*Span, error)
	// Write makes an event, or changes the one that is there. Newer says that one with a higher
	// sequence is there, which stays.
	Write(ctx context.Context, calendar string, e Event) (newer bool, err error)
	// Remove takes an event of ours away that has at most a sequence; one that is not there is gone already. Newer says that
	// one with a higher sequence is there, which stays.
	Remove(ctx context.Context, calendar string, k Key, sequence int64) (newer bool, err error)
}

// ErrUnclear says that an event of ours was made a series, or several.
var ErrUnclear = errors.New("the event is there, but at no one time")

// MaxSpans is how many times of a calendar are kept.
const MaxSpans = 5000

// Merge puts times in order, and those that touch together, within a time. Until is up to when they
// are whole.
func Merge(all []Span, within Span) (merged []Span, until time.Time) {
	slices.SortFunc(all, func(a, b Span) int { return a.From.Compare(b.From) })
	for _, s := range all {
		if !s.From.Before(within.To) || !s.To.After(within.From) || !s.To.After(s.From) {
			continue
		}
		if n := len(merged); n > 0 && !s.From.After(merged[n-1].To) {
			if s.To.After(merged[n-1].To) {
				merged[n-1].To = s.To
			}
			continue
		}
		if len(merged) == MaxSpans {
			return merged, s.From
		}
		merged = append(merged, s)
	}
	return merged, within.To
}

// Without are times but for others.
func Without(all []Span, others []Span) []Span {
	slices.SortFunc(others, func(a, b Span) int { return a.From.Compare(b.From) })
	var left []Span
	for _, s := range all {
		for _, o := range others {
			if !o.To.After(s.From) || !o.From.Before(s.To) {
				continue
			}
			if o.From.After(s.From) {
				left = append(left, Span{s.From, o.From})
			}
			s.From = o.To
		}
		if s.To.After(s.From) {
			left = append(left, s)
		}
	}
	return left
}
