package assignment

import (
	"context"
	"reflect"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// The bounds of an assignment.
const (
	MaxUnits     = 100
	MaxPeople    = 1000
	MaxReminders = 10
	// MaxReminderDays is how many days before it is due somebody is reminded at the earliest.
	MaxReminderDays = 90
	MaxEveryMonths  = 120
	// MaxYearsBefore and MaxYearsAfter are how far from now its times lie at most.
	MaxYearsBefore = 10
	MaxYearsAfter  = 100
)

// platform is who makes what recurs.
const platform = "platform"

// Create sets work. The id, the portal and the times are set here. The error is errdefs.NotFound
// of the subject, or an errdefs.Invalid.
func Create(ctx context.Context, tx *tenant.Tx, a Assignment, who activity.Actor) (Assignment, error) {
	s, err := subject.Find(ctx, tx, a.Subject)
	if err != nil {
		return a, err
	}
	if s.State == subject.Archived {
		return a, subject.Noun.NotFound(a.Subject)
	}
	a.ID, a.Portal, a.CreatedBy, a.CreatedAt, a.UpdatedAt, a.Edition = id.NewAssignment(), s.Portal, who.By, who.At, who.At, 1
	a.FirstOpensAt, a.FirstDueAt, a.FirstClosesAt = a.OpensAt, a.DueAt, a.ClosesAt
	if a.Metadata == nil {
		a.Metadata = map[string]string{}
	}
	if err := a.checkBounds(nil, who.At); err != nil {
		return a, err
	}
	if err := a.check(); err != nil {
		return a, err
	}
	if err := a.checkAudience(ctx, tx); err != nil {
		return a, err
	}
	a.skip(who.At)
	if err := a.insert(ctx, tx, who.At); err != nil {
		return a, err
	}
	who.Log(tx, "assignment.created", "assignment", a.ID, a.about())
	return a, nil
}

// insert enters a new assignment with the first of its people, and tells of it.
func (a *Assignment) insert(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	tx.Touch("assignment_count", a.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO assignment_count (org_id, assignment_id, assigned, started, completed, overdue, passed) VALUES ($1, $2, 0, 0, 0, 0, 0)`,
		tx.Org, a.ID); err != nil {
		return err
	}
	size, err := a.size(ctx, tx, now)
	if err != nil {
		return err
	}
	event.Emit(tx, a.created(size)) // before what is told of its people
	return a.walk(ctx, tx, now)
}

// created is assignment.created.
func (a *Assignment) created(size int64) event.Draft {
	fields := map[string]any{
		"assignmentId": a.ID.String(), "subjectId": a.Subject.String(), "portalId": a.Portal.String(), "assigneeCount": size, "kind": a.Kind,
		"createdBy": a.CreatedBy, "createdAt": a.CreatedAt.UTC(),
	}
	switch {
	case a.Everyone:
		fields["audience"] = "everyone"
	case len(a.Units) > 0:
		fields["audience"] = "unit"
	default:
		fields["audience"] = "person"
	}
	if len(a.Units) == 1 {
		fields["unitId"] = a.Units[0].String()
	}
	if len(a.People) == 1 {
		fields["personId"] = a.People[0].String()
	}
	if a.DueAt != nil {
		fields["dueAt"] = a.DueAt.UTC()
	}
	return event.Draft{Type: event.AssignmentCreated, At: a.CreatedAt, Fields: fields, Subject: a.Subject}
}

func (a *Assignment) about() map[string]any {
	return map[string]any{"subjectId": a.Subject, "portalId": a.Portal}
}

// check checks what an assignment says, but for whom it is. The error is an errdefs.Invalid.
func (a *Assignment) check() error {
	if err := a.checkTimes(); err != nil {
		return err
	}
	switch {
	case a.Kind != Assess && a.AttemptsAllowed != nil:
		return errdefs.InvalidField("attemptsAllowed", "is only for the kind assess")
	case a.Kind != Assess && a.PassPercent != nil:
		return errdefs.InvalidField("passPercent", "is only for the kind assess")
	case a.EveryMonths != nil && *a.EveryMonths < 1:
		return errdefs.InvalidField("recurring.everyMonths", "must be given")
	case len(a.Reminders) > 0 && a.DueAt == nil:
		return errdefs.InvalidField("reminders", "are days before dueAt, which is not given")
	}
	if _, err := time.LoadLocation(a.Timezone); err != nil || a.Timezone == "" || a.Timezone == "Local" {
		return errdefs.InvalidField("timezone", "is no time zone, such as Europe/Berlin")
	}
	a.Reminders = slices.Compact(slices.Sorted(slices.Values(a.Reminders)))
	a.Units, a.People, a.Reminders = listed(a.Units), listed(a.People), listed(a.Reminders)
	return nil
}

func (a *Assignment) checkTimes() error {
	before := func(x, y *time.Time) bool { return x == nil || y == nil || x.Before(*y) }
	switch {
	case !before(a.OpensAt, a.DueAt):
		return errdefs.InvalidField("dueAt", "must lie after opensAt")
	case !before(a.OpensAt, a.ClosesAt):
		return errdefs.InvalidField("closesAt", "must lie after opensAt")
	case a.DueAt != nil && a.ClosesAt != nil && a.ClosesAt.Before(*a.DueAt):
		return errdefs.InvalidField("closesAt", "must not lie before dueAt")
	}
	return nil
}

// checkBounds refuses times far from now that differ from those before, nil for none: rounds
// without end would come of them, or years that nobody can write.
func (a *Assignment) checkBounds(before *Assignment, now time.Time) error {
	if before == nil {
		before = &Assignment{}
	}
	for _, t := range []struct {
		name     string
		was, now *time.Time
	}{{"opensAt", before.OpensAt, a.OpensAt}, {"dueAt", before.DueAt, a.DueAt}, {"closesAt", before.ClosesAt, a.ClosesAt}} {
		if t.now == nil || sameTime(t.was, t.now) {
			continue
		}
		if t.now.Before(now.AddDate(-MaxYearsBefore, 0, 0)) || t.now.After(now.AddDate(MaxYearsAfter, 0, 0)) {
			return errdefs.InvalidField(t.name, "must lie within %d years before now and %d after", MaxYearsBefore, MaxYearsAfter)
		}
	}
	return nil
}

func sameTime(x, y *time.Time) bool {
	return x == nil && y == nil || x != nil && y != nil && x.Equal(*y)
}

// checkAudience: it is for somebody, the units are the portal's, and the people of the
// organization, each named once. It rides unit_pkey and person_pkey. The error is an errdefs.Invalid.
func (a *Assignment) checkAudience(ctx context.Context, tx *tenant.Tx) error {
	if !a.Everyone && len(a.Units) == 0 && len(a.People) == 0 {
		return errdefs.InvalidField("audience", "must name units, people or everyone")
	}
	var units, people int
	if err := tx.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM unit WHERE org_id = $1 AND id = ANY($2) AND portal_id = $3),
			(SELECT count(*) FROM person WHERE org_id = $1 AND id = ANY($4) AND state <> 'erased')`,
		tx.Org, listed(a.Units), a.Portal, listed(a.People)).Scan(&units, &people); err != nil {
		return err
	}
	switch {
	case repeats(a.Units):
		return errdefs.InvalidField("audience.unitIds", "must name each unit once")
	case repeats(a.People):
		return errdefs.InvalidField("audience.personIds", "must name each person once")
	case units != len(a.Units):
		return errdefs.AbsentField(unit.OfPortal, "audience.unitIds")
	case people != len(a.People):
		return errdefs.AbsentField(person.Noun, "audience.personIds")
	}
	return nil
}

func repeats[T comparable](all []T) bool {
	distinct := make(map[T]bool, len(all))
	for _, one := range all {
		distinct[one] = true
	}
	return len(distinct) < len(all)
}

// sameAudience says whether two are for the same. What was deleted since is left in neither.
func sameAudience(a, b *Assignment) bool {
	return a.Everyone == b.Everyone && slices.Equal(a.Units, b.Units) && slices.Equal(a.People, b.People)
}

// end stops one that was archived with the time from recurring, which is all that can change of it.
func (a *Assignment) end(ctx context.Context, tx *tenant.Tx, after Assignment, who activity.Actor) (Assignment, error) {
	ended := *a
	ended.EveryMonths = nil
	if after.Metadata == nil {
		after.Metadata = ended.Metadata
	}
	if !reflect.DeepEqual(ended, after) {
		return *a, a.conflict(ReasonArchived, "The assignment is archived.")
	}
	if a.EveryMonths == nil {
		return *a, nil
	}
	ended.UpdatedAt, ended.Edition = who.At, a.Edition+1
	who.Log(tx, "assignment.updated", "assignment", a.ID, a.about())
	return ended, ended.save(ctx, tx, who.At, nil)
}

// Update makes of an assignment that Lock found what after says; where that is the same, nothing
// changes. The error is an errdefs.Invalid or a conflict (ReasonArchived).
func Update(ctx context.Context, tx *tenant.Tx, before, after Assignment, who activity.Actor) (Assignment, error) {
	if before.ArchivedAt != nil {
		return before.end(ctx, tx, after, who)
	}
	if err := after.check(); err != nil || reflect.DeepEqual(before, after) {
		return before, err
	}
	// Of those whom it is for, some can have been deleted since.
	if !sameAudience(&before, &after) {
		if err := after.checkAudience(ctx, tx); err != nil {
			return before, err
		}
	}
	if err := after.checkBounds(&before, who.At); err != nil {
		return before, err
	}
	every := func(a Assignment) int64 {
		if a.EveryMonths == nil {
			return 0
		}
		return *a.EveryMonths
	}
	if !sameTime(before.OpensAt, after.OpensAt) || !sameTime(before.DueAt, after.DueAt) || !sameTime(before.ClosesAt, after.ClosesAt) ||
		every(before) != every(after) {
		after.FirstOpensAt, after.FirstDueAt, after.FirstClosesAt, after.Occurrence = new(after.opened()), after.DueAt, after.ClosesAt, 0
		after.skip(who.At)
	}
	after.Edition, after.UpdatedAt, after.WalkAfter = before.Edition+1, who.At, id.Person{}
	if err := after.walk(ctx, tx, who.At); err != nil {
		return before, err
	}
	who.Log(tx, "assignment.updated", "assignment", after.ID, after.about())
	return after, nil
}

// Archive takes an assignment that Lock found out of lists for good: nobody begins it any more,
// nor does it recur. What was done stays. Doing so again changes nothing.
func Archive(ctx context.Context, tx *tenant.Tx, a Assignment, who activity.Actor) error {
	if a.ArchivedAt != nil && a.EveryMonths == nil {
		return nil
	}
	if a.ArchivedAt == nil {
		a.ArchivedAt = &who.At
	}
	a.EveryMonths, a.UpdatedAt, a.Edition = nil, who.At, a.Edition+1
	who.Log(tx, "assignment.archived", "assignment", a.ID, a.about())
	return a.save(ctx, tx, who.At, nil)
}
