package inbox

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerSchedules(s *route.Service) {
	list := route.Operation{
		ID: "listSchedules", Group: group, Method: http.MethodGet, Path: "/schedules", Class: "read", Scope: scope.InboxRead, Since: contract.V20261001,
		Summary: "The schedules in whose hours times are offered, newest first",
		Description: "A schedule has weekly hours with exceptions, in a time zone, and the kinds of appointments that are booked in them: by visitors " +
			"who talk with a persona whose tool booking names the schedule, by POST /inbox, and by candidates who are offered its times.",
	}
	route.List(s, list, a.listSchedules)

	get := list
	get.ID, get.Path, get.Summary, get.Description = "getSchedule", "/schedules/{id}", "One schedule", ""
	route.Handle(s, get, a.getSchedule)

	times := get
	times.ID, times.Path, times.Summary = "listTimes", "/schedules/{id}/times", "The times that are free"
	times.Description = "At most 500 of them, within 62 days. A time is free until somebody reserves it: who is too late is answered 409 conflict with the reason slot_taken."
	route.Handle(s, times, a.times)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createSchedule", http.MethodPost, "write", scope.InboxWrite
	create.Status, create.Idempotent, create.Feature = http.StatusCreated, true, feature
	create.Errors = []problem.Code{problem.NotFound}
	create.Description = "With a calendar its times are not offered, and appointments are written into it. What people move or delete there is moved or cancelled here."
	create.Summary = "Make a schedule"
	route.Handle(s, create, a.createSchedule)

	update := get
	update.ID, update.Method, update.Class, update.Scope = "updateSchedule", http.MethodPatch, "write", scope.InboxWrite
	update.Errors = []problem.Code{problem.VersionConflict}
	update.Summary, update.Description = "Change a schedule", "What is booked stays where it is."
	route.Handle(s, update, a.updateSchedule)

	remove := get
	remove.ID, remove.Method, remove.Class, remove.Scope = "deleteSchedule", http.MethodDelete, "write", scope.InboxWrite
	remove.Errors = []problem.Code{problem.Conflict}
	remove.Summary, remove.Description = "Delete a schedule", "While times of it are booked: 409 conflict with the reason in_use."
	route.Handle(s, remove, a.deleteSchedule)
}

// SchedulePath names a schedule.
type SchedulePath struct {
	ID string `path:"id" doc:"The schedule's id, with or without sched_."`
}

func (p *SchedulePath) schedule() (id.Schedule, error) {
	return route.Lookup(id.ParseSchedule, p.ID, string(slot.Noun))
}

// Schedule is the hours in which times are offered.
type Schedule struct {
	ID            id.Schedule                    `json:"id" doc:"Id of the schedule, with the prefix sched_."`
	Name          string                         `json:"name" doc:"What your team calls it."`
	Timezone      string                         `json:"timezone" doc:"The time zone of its hours, such as Europe/Berlin."`
	Hours         []ScheduleHours                `json:"hours" doc:"Hours of every week."`
	Exceptions    []ScheduleException            `json:"exceptions" doc:"Dates with hours of their own."`
	Kinds         []ScheduleKind                 `json:"kinds" doc:"The kinds of appointments."`
	StepMinutes   int64                          `json:"stepMinutes" doc:"How far apart times begin, in minutes."`
	NoticeMinutes int64                          `json:"noticeMinutes" doc:"How long before its beginning a time can be booked at the latest, in minutes."`
	HorizonDays   int64                          `json:"horizonDays" doc:"How many days ahead times are offered."`
	Capacity      int64                          `json:"capacity" doc:"How many appointments there are at the same time, at most."`
	Calendar      route.OrNull[ScheduleCalendar] `json:"calendar" doc:"A calendar of your own that appointments are kept in too; null for none."`
	CreatedAt     time.Time                      `json:"createdAt" doc:"When it was made, in UTC."`
	UpdatedAt     time.Time                      `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// ScheduleCalendar is a calendar that the appointments of a schedule are kept in too.
type ScheduleCalendar struct {
	ConnectionID id.Connection `json:"connectionId" doc:"The connection of kind calendar."`
	Calendar     string        `json:"calendar" doc:"What the server calls it: a path at CalDAV, an id at Google."`
	WhenUnread   string        `json:"whenUnread" enum:"offer,close" doc:"What holds while it cannot be read: offer what was free when it was last read, or close, an hour after that."`
	ReadAt       *time.Time    `json:"readAt" doc:"When it was last read, in UTC; null for not yet. Lists leave it out."`
	ErrorCode    *string       `json:"errorCode" doc:"Why it could not be read last: a code as of a connection's health, or no_connection; null for nothing. Lists leave it out."`
}

// ScheduleHours are hours of a day of every week.
type ScheduleHours struct {
	Day  string `json:"day" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" doc:"On which day of the week."`
	From string `json:"from" minLength:"5" maxLength:"5" doc:"From when, such as 09:00."`
	To   string `json:"to" minLength:"5" maxLength:"5" doc:"Until when, such as 17:00; 24:00 for the end of the day."`
}

// ScheduleException is a date with hours of its own.
type ScheduleException struct {
	Date  string         `json:"date" minLength:"10" maxLength:"10" doc:"The date, such as 2026-12-24."`
	Hours []ScheduleSpan `json:"hours" maxItems:"10" doc:"The hours of that date in place of the week's; none for closed."`
}

// ScheduleSpan is a stretch of a day.
type ScheduleSpan struct {
	From string `json:"from" minLength:"5" maxLength:"5" doc:"From when, such as 09:00."`
	To   string `json:"to" minLength:"5" maxLength:"5" doc:"Until when, such as 17:00; 24:00 for the end of the day."`
}

// ScheduleKind is a kind of appointment.
type ScheduleKind struct {
	Key                 string  `json:"key" minLength:"1" maxLength:"40" pattern:"^[a-z0-9_]+$" doc:"What it is named by: small letters, digits and underscores."`
	Name                string  `json:"name" minLength:"1" maxLength:"120" doc:"What visitors call it."`
	DurationMinutes     int64   `json:"durationMinutes" minimum:"5" maximum:"720" doc:"How long it takes, in minutes."`
	BufferBeforeMinutes int64   `json:"bufferBeforeMinutes,omitempty" minimum:"0" maximum:"600" doc:"How long before it nothing else is booked, in minutes; 0 unless given."`
	BufferAfterMinutes  int64   `json:"bufferAfterMinutes,omitempty" minimum:"0" maximum:"600" doc:"How long after it, likewise."`
	Location            *string `json:"location,omitempty" maxLength:"500" nullable:"true" doc:"Where it is: a place, or the address of a call."`
	Confirm             bool    `json:"confirm,omitempty" doc:"Whether your team confirms each: it is requested before. false unless given."`
}

func planOf(timezone string, hours []ScheduleHours, exceptions []ScheduleException, kinds []ScheduleKind) slot.Plan {
	p := slot.Plan{Timezone: timezone, Hours: []slot.Hours{}, Exceptions: []slot.Exception{}, Kinds: []slot.Kind{}}
	for _, h := range hours {
		p.Hours = append(p.Hours, slot.Hours(h))
	}
	for _, e := range exceptions {
		one := slot.Exception{Date: e.Date, Hours: []slot.Span{}}
		for _, s := range e.Hours {
			one.Hours = append(one.Hours, slot.Span(s))
		}
		p.Exceptions = append(p.Exceptions, one)
	}
	for _, k := range kinds {
		p.Kinds = append(p.Kinds, slot.Kind(k))
	}
	return p
}

func showSchedule(s slot.Schedule) Schedule {
	p := s.Plan
	shown := Schedule{
		ID: s.ID, Name: s.Name, Timezone: p.Timezone, Hours: []ScheduleHours{}, Exceptions: []ScheduleException{}, Kinds: []ScheduleKind{},
		StepMinutes: p.StepMinutes, NoticeMinutes: p.NoticeMinutes, HorizonDays: p.HorizonDays, Capacity: p.Capacity,
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
	}
	if c := p.Calendar; c != nil {
		shown.Calendar.Value = &ScheduleCalendar{ConnectionID: c.Connection, Calendar: c.ID, WhenUnread: c.Unread}
	}
	for _, h := range p.Hours {
		shown.Hours = append(shown.Hours, ScheduleHours(h))
	}
	for _, e := range p.Exceptions {
		one := ScheduleException{Date: e.Date, Hours: []ScheduleSpan{}}
		for _, span := range e.Hours {
			one.Hours = append(one.Hours, ScheduleSpan(span))
		}
		shown.Exceptions = append(shown.Exceptions, one)
	}
	for _, k := range p.Kinds {
		shown.Kinds = append(shown.Kinds, ScheduleKind(k))
	}
	return shown
}

func (a *API) listSchedules(ctx context.Context, c *route.Call, q *route.Paging) (route.Page[Schedule], error) {
	return route.Listed(c, *q, func(after id.Schedule, limit int) ([]slot.Schedule, error) {
		return slot.List(ctx, a.Tenants, c.Org(), after, limit)
	}, func(s slot.Schedule) id.Schedule { return s.ID }, showSchedule)
}

func (a *API) getSchedule(ctx context.Context, c *route.Call, p *SchedulePath) (Schedule, error) {
	which, err := p.schedule()
	if err != nil {
		return Schedule{}, err
	}
	s, err := slot.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Schedule{}, err
	}
	c.SetVersion(s.Edition)
	shown := showSchedule(s)
	if shown.Calendar.Value == nil {
		return shown, nil
	}
	joined, err := slot.GetJoined(ctx, a.Tenants, c.Org(), which)
	if errdefs.IsNotFound(err, slot.CalendarNoun) {
		return shown, nil
	}
	shown.Calendar.Value.ReadAt = route.UTC(joined.ReadAt)
	if joined.ErrorCode != "" {
		shown.Calendar.Value.ErrorCode = &joined.ErrorCode
	}
	return shown, err
}

// ScheduleCreate is the request for a schedule.
type ScheduleCreate struct{ Body ScheduleInput }

// ScheduleInput is a schedule to be made.
type ScheduleInput struct {
	Name          string                       `json:"name" minLength:"1" maxLength:"120" doc:"What your team calls it."`
	Timezone      string                       `json:"timezone" minLength:"1" maxLength:"60" doc:"The time zone of its hours, such as Europe/Berlin."`
	Hours         []ScheduleHours              `json:"hours" maxItems:"70" doc:"Hours of every week, which do not overlap."`
	Exceptions    []ScheduleException          `json:"exceptions,omitempty" maxItems:"400" doc:"Dates with hours of their own, such as holidays."`
	Kinds         []ScheduleKind               `json:"kinds" minItems:"1" maxItems:"20" doc:"The kinds of appointments. The first is meant where none is named."`
	StepMinutes   int64                        `json:"stepMinutes,omitempty" minimum:"5" maximum:"720" doc:"How far apart times begin, in minutes; 30 unless given."`
	NoticeMinutes *int64                       `json:"noticeMinutes,omitempty" minimum:"0" maximum:"525600" nullable:"true" doc:"How long before its beginning a time can be booked at the latest, in minutes; 60 unless given."`
	HorizonDays   int64                        `json:"horizonDays,omitempty" minimum:"1" maximum:"366" doc:"How many days ahead times are offered; 60 unless given."`
	Capacity      int64                        `json:"capacity,omitempty" minimum:"1" maximum:"100" doc:"How many appointments there are at the same time, at most; 1 unless given."`
	Calendar      route.OptNull[CalendarInput] `json:"calendar,omitzero" doc:"A calendar of your own, whose times are not offered and that appointments are written into; none unless given. The key needs connections:read."`
}

// CalendarInput is a calendar that a schedule is to be kept in.
type CalendarInput struct {
	ConnectionID string `json:"connectionId" maxLength:"80" doc:"The connection of kind calendar."`
	Calendar     string `json:"calendar" minLength:"1" maxLength:"1024" doc:"What the server calls it, as a test of the connection lists them."`
	WhenUnread   string `json:"whenUnread,omitempty" enum:"offer,close" doc:"What holds while it cannot be read: offer what was free when it was last read, or close, an hour after that; offer unless given."`
}

// plan is the calendar of a plan; nil for none.
func (in *CalendarInput) plan(c *route.Call) (*slot.Calendar, error) {
	if in == nil {
		return nil, nil
	}
	if !c.Principal.Key.Grant().Holds(scope.ConnectionsRead) {
		return nil, problem.New(problem.Forbidden, "This key lacks the scope %s, which the calendar of a schedule needs.", scope.ConnectionsRead).WithParam("body.calendar")
	}
	which, err := id.ParseConnection(in.ConnectionID)
	if err != nil {
		return nil, problem.Invalid("body.calendar.connectionId", "This is the id of no connection.")
	}
	of := slot.Calendar{Connection: which, ID: in.Calendar, Unread: in.WhenUnread}
	if of.Unread == "" {
		of.Unread = slot.Offer
	}
	return &of, nil
}

// ofSchedule says what of a schedule an error is about.
func ofSchedule(err error) error {
	if _, unusable := errors.AsType[*connection.UnusableError](err); unusable {
		return problem.Missing("connection").WithParam("body.calendar.connectionId")
	}
	return err
}

// What a schedule has unless it says otherwise.
const (
	usualStep    = 30
	usualNotice  = 60
	usualHorizon = 60
)

func (b *ScheduleInput) plan() slot.Plan {
	p := planOf(b.Timezone, b.Hours, b.Exceptions, b.Kinds)
	p.StepMinutes, p.NoticeMinutes, p.HorizonDays, p.Capacity = b.StepMinutes, usualNotice, b.HorizonDays, max(b.Capacity, 1)
	if p.StepMinutes == 0 {
		p.StepMinutes = usualStep
	}
	if p.HorizonDays == 0 {
		p.HorizonDays = usualHorizon
	}
	if b.NoticeMinutes != nil {
		p.NoticeMinutes = *b.NoticeMinutes
	}
	return p
}

func (a *API) createSchedule(ctx context.Context, c *route.Call, in *ScheduleCreate) (Schedule, error) {
	p := in.Body.plan()
	var err error
	if p.Calendar, err = in.Body.Calendar.Value.plan(c); err != nil {
		return Schedule{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Schedule, error) {
		s, err := slot.Create(ctx, tx, in.Body.Name, p, c.Actor())
		c.SetVersion(s.Edition)
		return showSchedule(s), ofSchedule(err)
	})
}

// ScheduleUpdate is the request for a change of a schedule.
type ScheduleUpdate struct {
	SchedulePath
	route.Edition
	Body ScheduleChange
}

// ScheduleChange is what a schedule is to be.
type ScheduleChange struct {
	Name          route.Opt[string]              `json:"name,omitzero" minLength:"1" maxLength:"120" doc:"What your team calls it."`
	Timezone      route.Opt[string]              `json:"timezone,omitzero" minLength:"1" maxLength:"60" doc:"The time zone of its hours, such as Europe/Berlin."`
	Hours         route.Opt[[]ScheduleHours]     `json:"hours,omitzero" maxItems:"70" doc:"Hours of every week, in place of those before."`
	Exceptions    route.Opt[[]ScheduleException] `json:"exceptions,omitzero" maxItems:"400" doc:"Dates with hours of their own, in place of those before."`
	Kinds         route.Opt[[]ScheduleKind]      `json:"kinds,omitzero" minItems:"1" maxItems:"20" doc:"The kinds of appointments, in place of those before."`
	StepMinutes   route.Opt[int64]               `json:"stepMinutes,omitzero" minimum:"5" maximum:"720" doc:"How far apart times begin, in minutes."`
	NoticeMinutes route.Opt[int64]               `json:"noticeMinutes,omitzero" minimum:"0" maximum:"525600" doc:"How long before its beginning a time can be booked at the latest, in minutes."`
	HorizonDays   route.Opt[int64]               `json:"horizonDays,omitzero" minimum:"1" maximum:"366" doc:"How many days ahead times are offered."`
	Capacity      route.Opt[int64]               `json:"capacity,omitzero" minimum:"1" maximum:"100" doc:"How many appointments there are at the same time, at most."`
	Calendar      route.OptNull[CalendarInput]   `json:"calendar,omitzero" doc:"A calendar of your own, in place of the one before; null for none. Appointments that are ahead go along. The key needs connections:read."`
}

// apply is a plan with the changes.
func (b *ScheduleChange) apply(p slot.Plan) slot.Plan {
	sent := planOf(b.Timezone.Value, b.Hours.Value, b.Exceptions.Value, b.Kinds.Value)
	if b.Timezone.Set {
		p.Timezone = sent.Timezone
	}
	if b.Hours.Set {
		p.Hours = sent.Hours
	}
	if b.Exceptions.Set {
		p.Exceptions = sent.Exceptions
	}
	if b.Kinds.Set {
		p.Kinds = sent.Kinds
	}
	for _, n := range []struct {
		sent route.Opt[int64]
		to   *int64
	}{{b.StepMinutes, &p.StepMinutes}, {b.NoticeMinutes, &p.NoticeMinutes}, {b.HorizonDays, &p.HorizonDays}, {b.Capacity, &p.Capacity}} {
		if n.sent.Set {
			*n.to = n.sent.Value
		}
	}
	return p
}

func (a *API) updateSchedule(ctx context.Context, c *route.Call, in *ScheduleUpdate) (Schedule, error) {
	which, err := in.schedule()
	if err != nil {
		return Schedule{}, err
	}
	calendar, err := in.Body.Calendar.Value.plan(c)
	if err != nil {
		return Schedule{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Schedule, error) {
		s, err := slot.Lock(ctx, tx, which)
		if err != nil {
			return Schedule{}, err
		}
		if err := in.Check(s.Edition, nil); err != nil {
			return Schedule{}, err
		}
		name := s.Name
		if in.Body.Name.Set {
			name = in.Body.Name.Value
		}
		p := in.Body.apply(s.Plan)
		if in.Body.Calendar.Set {
			p.Calendar = calendar
		}
		err = s.Change(ctx, tx, name, p, c.Actor())
		c.SetVersion(s.Edition)
		return showSchedule(s), ofSchedule(err)
	})
}

// ScheduleDeleted says that a schedule is deleted.
type ScheduleDeleted struct {
	Deleted bool        `json:"deleted" doc:"true."`
	ID      id.Schedule `json:"id" doc:"Id of the schedule."`
}

func (a *API) deleteSchedule(ctx context.Context, c *route.Call, p *SchedulePath) (ScheduleDeleted, error) {
	which, err := p.schedule()
	if err != nil {
		return ScheduleDeleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (ScheduleDeleted, error) {
		return ScheduleDeleted{true, which}, slot.Delete(ctx, tx, which, c.Actor())
	})
}

// TimesQuery says which times are looked for.
type TimesQuery struct {
	SchedulePath
	Kind string       `query:"bookingKind" maxLength:"40" doc:"The key of a kind of appointment; the first unless given."`
	From route.Moment `query:"from" doc:"Times that begin at or after this moment; now unless given: an ISO date, midnight in UTC, or a date-time."`
	To   route.Moment `query:"to" doc:"Times that begin before this moment; a week after from unless given: an ISO date, midnight in UTC, or a date-time."`
}

// ScheduleTimes are free times of a schedule.
type ScheduleTimes struct {
	ScheduleID  id.Schedule    `json:"scheduleId" doc:"The schedule."`
	BookingKind string         `json:"bookingKind" doc:"The kind of appointment, by its key."`
	Timezone    string         `json:"timezone" doc:"The schedule's time zone."`
	Times       []ScheduleTime `json:"times" doc:"The times that are free, in order."`
}

// ScheduleTime is a free time.
type ScheduleTime struct {
	StartsAt   time.Time `json:"startsAt" doc:"When it begins, in UTC."`
	EndsAt     time.Time `json:"endsAt" doc:"When it ends, in UTC."`
	LocalStart string    `json:"localStart" doc:"When it begins on the clocks of the schedule's zone, such as 2026-12-01T10:00."`
}

// The bounds of an answer.
const (
	maxTimes  = 500
	maxWithin = 62 * 24 * time.Hour
	usualSpan = 7 * 24 * time.Hour
)

func (a *API) times(ctx context.Context, c *route.Call, q *TimesQuery) (ScheduleTimes, error) {
	which, err := q.schedule()
	if err != nil {
		return ScheduleTimes{}, err
	}
	s, err := slot.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return ScheduleTimes{}, err
	}
	k, found := s.Plan.KindOf(q.Kind)
	if !found {
		return ScheduleTimes{}, problem.Invalid("query.bookingKind", "The schedule has no such kind of appointment.")
	}
	from, to := q.From.Time, q.To.Time
	if from.IsZero() {
		from = c.Now()
	}
	if to.IsZero() {
		to = from.Add(usualSpan)
	}
	if !from.Before(to) || to.Sub(from) > maxWithin {
		return ScheduleTimes{}, problem.Invalid("query.to", "to must be later than from, by at most 62 days.")
	}
	a.Calendars.Freshen(ctx, c.Org(), which)
	free, err := s.Times(ctx, a.Tenants, c.Org(), k, c.Now(), from, to, uuid.UUID{}, maxTimes)
	if err != nil {
		return ScheduleTimes{}, err
	}
	shown := ScheduleTimes{ScheduleID: s.ID, BookingKind: k.Key, Timezone: s.Plan.Timezone, Times: []ScheduleTime{}}
	zone, err := s.Plan.Zone()
	for _, one := range free {
		shown.Times = append(shown.Times, ScheduleTime{one.StartsAt.UTC(), one.EndsAt.UTC(), one.StartsAt.In(zone).Format("2006-01-02T15:04")})
	}
	return shown, err
}
