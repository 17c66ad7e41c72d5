// Package errdefs has the errors that the rules of every noun return for what a caller
// may get wrong: what is named is not there, is gone, or stands in the way. Package
// api/route answers them, in one place; who wants to know asks with the functions here,
// through whatever an error was wrapped in.
package errdefs

import (
	"errors"
	"fmt"
	"strings"
)

// Noun is the noun that an error is about, as people read it: "knowledge pack".
type Noun string

// NotFound says that an id names nothing.
type NotFound struct {
	Noun Noun
	// ID is what was asked for, as its id is written.
	ID string
}

// NotFound says that the id names none of the noun.
func (n Noun) NotFound(id fmt.Stringer) error { return NotFound{n, id.String()} }

func (e NotFound) Error() string { return "no such " + thing(e.Noun, e.ID) }

// Is says whether target is the error of this id, or without an id that of any of its noun.
func (e NotFound) Is(target error) bool { return target == NotFound{Noun: e.Noun} }

// IsNotFound says whether there is none of a noun.
func IsNotFound(err error, n Noun) bool { return errors.Is(err, NotFound{Noun: n}) }

// Gone says that what an id names was there once.
type Gone struct {
	Noun Noun
	// ID is what was asked for, as its id is written.
	ID string
	// How it went, as in "was deleted"; empty for that.
	How string
}

// Gone says that what the id names was deleted.
func (n Noun) Gone(id fmt.Stringer) error { return Gone{Noun: n, ID: id.String()} }

func (e Gone) Error() string { return "the " + thing(e.Noun, e.ID) + " was " + e.Participle() }

// Participle is how it went.
func (e Gone) Participle() string {
	if e.How == "" {
		return "deleted"
	}
	return e.How
}

// Is says whether target is the error of this id, or without an id that of any of its noun.
func (e Gone) Is(target error) bool { return target == Gone{Noun: e.Noun} }

// IsGone says whether one of a noun is gone.
func IsGone(err error, n Noun) bool { return errors.Is(err, Gone{Noun: n}) }

// IsAbsent says whether there is none of a noun, were there one once or not.
func IsAbsent(err error, n Noun) bool { return IsNotFound(err, n) || IsGone(err, n) }

// Archived says that something is kept as it was and cannot be changed any more.
type Archived struct {
	Noun Noun
	ID   string
}

// Archived says that what the id names is archived.
func (n Noun) Archived(id fmt.Stringer) error { return Archived{n, id.String()} }

func (e Archived) Error() string { return "the " + thing(e.Noun, e.ID) + " is archived" }

// Is says whether target is the error of this id, or without an id that of any of its noun.
func (e Archived) Is(target error) bool { return target == Archived{Noun: e.Noun} }

// IsArchived says whether one of a noun is archived.
func IsArchived(err error, n Noun) bool { return errors.Is(err, Archived{Noun: n}) }

// Conflict says that something does not stand where this can be done to it.
type Conflict struct {
	Noun Noun
	// ID is what the caller named that this cannot be done to; empty where no single
	// input is at fault.
	ID string
	// Reason is a code of details.reason, and Message a sentence that people may read.
	Reason, Message string
	// Details are more that a caller is told, by name.
	Details map[string]any
}

// InUse is the conflict of what cannot be deleted because something else needs it.
func (n Noun) InUse(id fmt.Stringer, format string, args ...any) *Conflict {
	return &Conflict{Noun: n, ID: id.String(), Reason: ReasonInUse, Message: fmt.Sprintf(format, args...)}
}

// ReasonInUse is the reason of InUse.
const ReasonInUse = "in_use"

func (e *Conflict) Error() string { return string(e.Noun) + " " + e.Reason + ": " + e.Message }

// Is says whether target is a conflict of the same noun for the same reason.
func (e *Conflict) Is(target error) bool {
	other, ok := target.(*Conflict)
	return ok && e.Noun == other.Noun && e.Reason == other.Reason
}

// IsConflict says whether err is a conflict of a noun for a reason.
func IsConflict(err error, n Noun, reason string) bool {
	return errors.Is(err, &Conflict{Noun: n, Reason: reason})
}

// Invalid says which field of what a caller sent breaks a rule.
type Invalid struct {
	// Field is where it stands in the body: hosts[1].name. It is empty for the whole of what
	// was sent.
	Field string
	// Message goes on from the field as a sentence does, without its end: "is taken".
	Message string
	// Absent is what the field names and is not there; empty for another fault.
	Absent Noun
}

// InvalidField says how a field breaks a rule.
func InvalidField(field, format string, args ...any) error {
	return &Invalid{Field: field, Message: fmt.Sprintf(format, args...)}
}

// AbsentField says that what a field names is not there.
func AbsentField(n Noun, field string, args ...any) error {
	return &Invalid{Field: fmt.Sprintf(field, args...), Message: "names no " + string(n), Absent: n}
}

func (e *Invalid) Error() string { return strings.TrimSpace(e.Field + " " + e.Message) }

func thing(n Noun, id string) string {
	if id == "" {
		return string(n)
	}
	return string(n) + " " + id
}
