package assignments

import (
	"context"
	"fmt"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// Input is the request for a new assignment.
type Input struct{ Body AssignmentInput }

// AssignmentInput is an assignment to be made.
type AssignmentInput struct {
	Title           string                   `json:"title" minLength:"1" maxLength:"200" doc:"What it is called, for people; reminders name it."`
	SubjectID       string                   `json:"subjectId" minLength:"1" maxLength:"80" doc:"What it is about."`
	Kind            assignment.Kind          `json:"kind" enum:"learn,practice,assess" doc:"How it is done."`
	Audience        AudienceInput            `json:"audience" doc:"Whom it is for; at least somebody is named."`
	OpensAt         *time.Time               `json:"opensAt,omitempty" nullable:"true" doc:"When it opens; at once unless given."`
	DueAt           *time.Time               `json:"dueAt,omitempty" nullable:"true" doc:"When it is due, after opensAt; never unless given."`
	ClosesAt        *time.Time               `json:"closesAt,omitempty" nullable:"true" doc:"When it closes, not before dueAt; never unless given."`
	Timezone        string                   `json:"timezone,omitempty" maxLength:"60" doc:"The time zone by whose calendar it recurs, as the IANA names it; UTC unless given."`
	Recurring       route.OptNull[Recurring] `json:"recurring,omitzero" doc:"How it recurs; once unless given."`
	AttemptsAllowed *int64                   `json:"attemptsAllowed,omitempty" minimum:"1" maximum:"1000" nullable:"true" doc:"How many attempts everybody has, of the kind assess; as many as the subject says unless given."`
	PassPercent     *int64                   `json:"passPercent,omitempty" minimum:"0" maximum:"100" nullable:"true" doc:"What it takes to pass, of the kind assess; what the subject says unless given."`
	Required        bool                     `json:"required,omitempty" doc:"Whether it must be done, for your own use."`
	Reminders       []int64                  `json:"reminders,omitempty" maxItems:"10" doc:"On which days before it is due, 0 to 90, people are reminded by mail who are not done."`
	ExternalID      *string                  `json:"externalId,omitempty" maxLength:"200" nullable:"true" doc:"The assignment's id in your own system; null for none."`
	Metadata        map[string]string        `json:"metadata,omitempty" doc:"20 keys of 40 characters at most, with values of 500."`
}

// AudienceInput is whom an assignment is to be for.
type AudienceInput struct {
	UnitIDs   []string `json:"unitIds,omitempty" maxItems:"100" doc:"Learners in these units of the portal, and in those that lie in them."`
	PersonIDs []string `json:"personIds,omitempty" maxItems:"1000" doc:"These people, as long as they have a place on the portal."`
	Everyone  bool     `json:"everyone,omitempty" doc:"Every learner of the portal."`
}

// apply writes an audience into an assignment.
func (in AudienceInput) apply(to *assignment.Assignment) (err error) {
	to.Everyone = in.Everyone
	if to.Units, err = parseAll(id.ParseUnit, "unitIds", "unit", in.UnitIDs); err != nil {
		return err
	}
	to.People, err = parseAll(id.ParsePerson, "personIds", "person", in.PersonIDs)
	return err
}

func parseAll[T comparable](parse func(string) (T, error), name, what string, sent []string) ([]T, error) {
	all := make([]T, len(sent))
	for i, s := range sent {
		one, err := parse(s)
		if err != nil {
			return nil, problem.Missing(what).WithParam(fmt.Sprintf("body.audience.%s[%d]", name, i))
		}
		all[i] = one
	}
	return all, nil
}

// checkReminders bounds the days of reminders.
func checkReminders(days []int64) error {
	for i, n := range days {
		if n < 0 || n > assignment.MaxReminderDays {
			return problem.Invalid(fmt.Sprintf("body.reminders[%d]", i), "A reminder is 0 to %d days before it is due.", assignment.MaxReminderDays)
		}
	}
	return nil
}

// moment is a time of a body as it is kept: to the microsecond.
func moment(name string, t *time.Time) (*time.Time, error) {
	if t == nil {
		return nil, nil
	}
	return new(t.UTC().Truncate(time.Microsecond)), route.CheckTime("body."+name, *t)
}

func (b *AssignmentInput) assignment() (a assignment.Assignment, err error) {
	a = assignment.Assignment{
		Title: b.Title, Kind: b.Kind, Timezone: b.Timezone, AttemptsAllowed: b.AttemptsAllowed, PassPercent: b.PassPercent, Required: b.Required,
		Reminders: b.Reminders, ExternalID: b.ExternalID, Metadata: b.Metadata,
	}
	if a.Timezone == "" {
		a.Timezone = "UTC"
	}
	a.EveryMonths = b.Recurring.Value.months()
	if a.Subject, err = id.ParseSubject(b.SubjectID); err != nil {
		return a, problem.Missing("subject").WithParam("body.subjectId")
	}
	if err := b.Audience.apply(&a); err != nil {
		return a, err
	}
	if a.OpensAt, err = moment("opensAt", b.OpensAt); err != nil {
		return a, err
	}
	if a.DueAt, err = moment("dueAt", b.DueAt); err != nil {
		return a, err
	}
	if a.ClosesAt, err = moment("closesAt", b.ClosesAt); err != nil {
		return a, err
	}
	if err := checkReminders(b.Reminders); err != nil {
		return a, err
	}
	return a, route.CheckMetadata(b.Metadata)
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Assignment, error) {
	wanted, err := in.Body.assignment()
	if err != nil {
		return Assignment{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Assignment, error) {
		made, err := assignment.Create(ctx, tx, wanted, c.Actor())
		if errdefs.IsNotFound(err, subject.Noun) {
			err = route.At(err, "body.subjectId")
		}
		c.SetVersion(made.Edition)
		return show(c, made), err
	})
}

// UpdateInput is the request for a change of an assignment.
type UpdateInput struct {
	Path
	route.Edition
	Body AssignmentChange
}

// AssignmentChange is what to change of an assignment.
type AssignmentChange struct {
	Title           route.Opt[string]            `json:"title,omitzero" minLength:"1" maxLength:"200" doc:"What it is called, for people."`
	Audience        route.Opt[AudienceInput]     `json:"audience,omitzero" doc:"In place of whom it was for."`
	OpensAt         route.OptNull[time.Time]     `json:"opensAt,omitzero" doc:"When it opens; null for at once."`
	DueAt           route.OptNull[time.Time]     `json:"dueAt,omitzero" doc:"When it is due; null for never, which takes the reminders along."`
	ClosesAt        route.OptNull[time.Time]     `json:"closesAt,omitzero" doc:"When it closes; null for never. A closed one opens again by a later time."`
	Timezone        route.Opt[string]            `json:"timezone,omitzero" minLength:"1" maxLength:"60" doc:"The time zone by whose calendar it recurs."`
	Recurring       route.OptNull[Recurring]     `json:"recurring,omitzero" doc:"How it recurs; null for once."`
	AttemptsAllowed route.OptNull[int64]         `json:"attemptsAllowed,omitzero" minimum:"1" maximum:"1000" doc:"How many attempts everybody has; null for as many as the subject says."`
	PassPercent     route.OptNull[int64]         `json:"passPercent,omitzero" minimum:"0" maximum:"100" doc:"What it takes to pass, of results that begin from now on; null for what the subject says."`
	Required        route.Opt[bool]              `json:"required,omitzero" doc:"Whether it must be done, for your own use."`
	Reminders       route.Opt[[]int64]           `json:"reminders,omitzero" maxItems:"10" doc:"In place of the days that there were; none for no reminders."`
	ExternalID      route.OptNull[string]        `json:"externalId,omitzero" maxLength:"200" doc:"The assignment's id in your own system; null for none."`
	Metadata        route.Opt[map[string]string] `json:"metadata,omitzero" doc:"In place of what there was: 20 keys of 40 characters at most, with values of 500."`
}

// apply is an assignment with what was sent of it.
func (b AssignmentChange) apply(a assignment.Assignment) (assignment.Assignment, error) {
	if b.Audience.Set {
		if err := b.Audience.Value.apply(&a); err != nil {
			return a, err
		}
	}
	if b.Title.Set {
		a.Title = b.Title.Value
	}
	if b.Timezone.Set {
		a.Timezone = b.Timezone.Value
	}
	if b.Recurring.Set {
		a.EveryMonths = b.Recurring.Value.months()
	}
	if b.AttemptsAllowed.Set {
		a.AttemptsAllowed = b.AttemptsAllowed.Value
	}
	if b.PassPercent.Set {
		a.PassPercent = b.PassPercent.Value
	}
	if b.Required.Set {
		a.Required = b.Required.Value
	}
	return b.applyRest(a)
}

func (b AssignmentChange) applyRest(a assignment.Assignment) (assignment.Assignment, error) {
	var err error
	for _, t := range []struct {
		name string
		sent route.OptNull[time.Time]
		to   **time.Time
	}{{"opensAt", b.OpensAt, &a.OpensAt}, {"dueAt", b.DueAt, &a.DueAt}, {"closesAt", b.ClosesAt, &a.ClosesAt}} {
		if !t.sent.Set {
			continue
		}
		if *t.to, err = moment(t.name, t.sent.Value); err != nil {
			return a, err
		}
	}
	if a.DueAt == nil { // nothing is left to remind of
		a.Reminders = []int64{}
	}
	if b.Reminders.Set {
		a.Reminders = b.Reminders.Value
		if err := checkReminders(a.Reminders); err != nil {
			return a, err
		}
	}
	if b.ExternalID.Set {
		a.ExternalID = b.ExternalID.Value
	}
	if b.Metadata.Set {
		a.Metadata = b.Metadata.Value
	}
	if a.Metadata == nil {
		a.Metadata = map[string]string{}
	}
	return a, route.CheckMetadata(b.Metadata.Value)
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Assignment, error) {
	which, err := in.assignment()
	if err != nil {
		return Assignment{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Assignment, error) {
		before, err := assignment.Lock(ctx, tx, which)
		if err != nil {
			return Assignment{}, err
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Assignment{}, err
		}
		read, err := assignment.Read(ctx, tx, which)
		if err != nil {
			return Assignment{}, err
		}
		before.Counts = read.Counts
		after, err := in.Body.apply(before)
		if err != nil {
			return Assignment{}, err
		}
		now, err := assignment.Update(ctx, tx, before, after, c.Actor())
		c.SetVersion(now.Edition)
		return show(c, now), err
	})
}
