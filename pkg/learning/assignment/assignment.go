// Package assignment keeps the work that is set for people: whose it is, until when, how far
// each of them got, and that they are reminded (spec, Assignments).
//
// Each person an assignment is for has a row. Workers keep the rows to those whom it is for, a
// batch at a time (Walk), and whoever begins work that they just got is entered with that. How
// far somebody got follows from their sessions, results and completions alone (Follow), so that
// noting it twice changes nothing.
package assignment

import (
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
)

// Kind is what is to be done.
type Kind string

// The kinds. Each is done in sessions of a kind: a conversation, a practice, an assessment.
const (
	Learn    Kind = "learn"
	Practice Kind = "practice"
	Assess   Kind = "assess"
)

// State is where an assignment stands.
type State string

// The states. They follow from the clock, but for archived.
const (
	Scheduled State = "scheduled"
	Open      State = "open"
	Closed    State = "closed"
	Archived  State = "archived"
)

// States lists every state.
func States() []State { return []State{Scheduled, Open, Closed, Archived} }

// Assignment is work that is set for people.
type Assignment struct {
	ID      id.Assignment
	Title   string
	Subject id.Subject
	Portal  id.Portal
	Kind    Kind
	State   State
	// Units and those that lie in them, People, or Everyone who learns on the portal.
	Units    []id.Unit
	People   []id.Person
	Everyone bool
	// OpensAt is nil for at once, DueAt and ClosesAt for never.
	OpensAt, DueAt, ClosesAt *time.Time
	// Timezone is the zone of its calendar.
	Timezone string
	// EveryMonths has it recur; nil for once.
	EveryMonths *int64
	// The times of the first of a row; Occurrence counts those before this one.
	FirstOpensAt, FirstDueAt, FirstClosesAt *time.Time
	Occurrence                              int64
	// AttemptsAllowed and PassPercent stand in the place of the subject's; nil for those.
	AttemptsAllowed, PassPercent *int64
	Required                     bool
	// Reminders are days before it is due.
	Reminders   []int64
	RemindAllAt *time.Time
	// TurnAt is when the clock changes something of it next, and WalkAt when its people are looked
	// through; nil for never.
	TurnAt, WalkAt *time.Time
	// WalkAfter is after whom the walk through its people goes on; zero for the first.
	WalkAfter            id.Person
	Places               int64
	ArchivedAt           *time.Time
	CreatedBy            string
	ExternalID           *string
	Metadata             map[string]string
	Edition              int64
	CreatedAt, UpdatedAt time.Time
	Counts               Counts
}

// Counts are how many people an assignment is for, and how far they got. Who is excused is in
// none.
type Counts struct {
	// Passed counts those with a released result that passed.
	Assigned, Started, Completed, Overdue, Passed int64
}

const columns = `a.id, a.title, a.subject_id, a.portal_id, a.kind, a.state, a.unit_ids, a.person_ids, a.everyone, a.opens_at, a.due_at,
	a.closes_at, a.timezone, a.every_months, a.first_opens_at, a.first_due_at, a.first_closes_at, a.occurrence, a.attempts_allowed,
	a.pass_percent, a.required, a.reminders, a.remind_all_at, a.turn_at, a.walk_at, a.walk_after, a.places, a.archived_at, a.created_by, a.external_id,
	a.metadata, a.edition, a.created_at, a.updated_at`

const counted = `, c.assigned, c.started, c.completed, c.overdue, c.passed`

func (a *Assignment) places() []any {
	return []any{
		&a.ID, &a.Title, &a.Subject, &a.Portal, &a.Kind, &a.State, &a.Units, &a.People, &a.Everyone, &a.OpensAt, &a.DueAt, &a.ClosesAt,
		&a.Timezone, &a.EveryMonths, &a.FirstOpensAt, &a.FirstDueAt, &a.FirstClosesAt, &a.Occurrence, &a.AttemptsAllowed, &a.PassPercent,
		&a.Required, &a.Reminders, &a.RemindAllAt, &a.TurnAt, &a.WalkAt, &a.WalkAfter, &a.Places, &a.ArchivedAt, &a.CreatedBy, &a.ExternalID, &a.Metadata,
		&a.Edition, &a.CreatedAt, &a.UpdatedAt,
	}
}

func scan(row pgx.CollectableRow) (a Assignment, err error) {
	c := &a.Counts
	return a, row.Scan(append(a.places(), &c.Assigned, &c.Started, &c.Completed, &c.Overdue, &c.Passed)...)
}

func scanBare(row pgx.CollectableRow) (a Assignment, err error) { return a, row.Scan(a.places()...) }

// The nouns that errors of this package are about.
const (
	Noun      errdefs.Noun = "assignment"
	GrantNoun errdefs.Noun = "attempt grant"
)

// The reasons of this package's conflicts.
const (
	ReasonArchived    = "archived"
	ReasonNotAssigned = "not_assigned"
	ReasonNotOpen     = "assignment_not_open"
	ReasonExcused     = "excused"
	ReasonOther       = "assignment_of_other"
	ReasonUnlimited   = "unlimited_attempts"
	ReasonOver        = "assignment_over"
)

func (a *Assignment) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: Noun, ID: a.ID.String(), Reason: reason, Message: message}
}

// StateAt is where it stands at a moment.
func (a *Assignment) StateAt(now time.Time) State {
	switch {
	case a.ArchivedAt != nil:
		return Archived
	case a.ClosesAt != nil && !now.Before(*a.ClosesAt):
		return Closed
	case a.OpensAt != nil && now.Before(*a.OpensAt):
		return Scheduled
	}
	return Open
}

// opened is when it opened, or will.
func (a *Assignment) opened() time.Time {
	if a.OpensAt != nil {
		return *a.OpensAt
	}
	return a.CreatedAt
}

// archivedAfter is how long an assignment stays in lists once it is closed.
const archivedAfter = 90 * 24 * time.Hour

// NextAt is when the next of it opens; nil where it does not recur.
func (a *Assignment) NextAt() *time.Time {
	if a.EveryMonths == nil {
		return nil
	}
	first := a.CreatedAt
	if a.FirstOpensAt != nil {
		first = *a.FirstOpensAt
	}
	return new(AddMonths(first, int((a.Occurrence+1)**a.EveryMonths), zone(a.Timezone)))
}

// turnsAt is when the clock changes something of it after a moment; nil for never.
func (a *Assignment) turnsAt(after time.Time) (next *time.Time) {
	if a.ArchivedAt != nil {
		return a.NextAt()
	}
	var archive *time.Time
	if a.ClosesAt != nil {
		archive = new(a.ClosesAt.Add(archivedAfter))
	}
	for _, t := range []*time.Time{a.OpensAt, a.DueAt, a.ClosesAt, archive} {
		if t != nil && t.After(after) && (next == nil || t.Before(*next)) {
			next = t
		}
	}
	// What recurs does so even where that is late.
	if t := a.NextAt(); t != nil && (next == nil || t.Before(*next)) {
		next = t
	}
	return next
}
