// Package appointment keeps the appointments of schedules in calendars of the organization's own: what is busy there is not
// offered, what is booked is written there, and what people move or delete there is followed.
package appointment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// Standing is how an appointment is.
type Standing struct {
	Schedule id.Schedule
	// Holds says that it has its time, and Over that it is to stay as it was written.
	Holds, Over bool
	Sequence    int64
	StartsAt    time.Time
	EndsAt      time.Time
	// Title is what it is of, Name who comes, and Location where; the last two can be empty.
	Title, Name, Location string
	// Reference is its id here.
	Reference string
	Tentative bool
}

// Interviews are appointments that are known to a group above this one.
type Interviews interface {
	// Standing is how one is; false for none.
	Standing(ctx context.Context, tx *tenant.Tx, which id.Interview) (Standing, bool, error)
	// CancelByCalendar cancels one that somebody took out of the calendar, which had it with a sequence. What changed
	// here since, and what is over, stays.
	CancelByCalendar(ctx context.Context, tx *tenant.Tx, which id.Interview, sequence int64, now time.Time) error
}

// Options are what a Keeper works with.
type Options struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Tokens  *connection.Tokens
	Clock   clock.PassiveClock
	// Interviews are nil in processes that write nothing.
	Interviews Interviews
	// Rests are shared by all that asks calendars in a process.
	Rests *dispatch.Rests
}

// Keeper keeps appointments in calendars. It is safe for concurrent use.
type Keeper struct {
	Options
	freshening singleflight.Group
	// tried is when a calendar was read for somebody who waits, by the job that reads it.
	tried lru.Cache[id.Job, time.Time]
}

// New makes a keeper.
func New(o Options) *Keeper {
	tried, err := lru.New[id.Job, time.Time](mostTried)
	if err != nil {
		panic(err) // the size is good
	}
	return &Keeper{Options: o, tried: tried}
}

// patience is that with a calendar: a booking is for weeks ahead. What was given up is written once the connection is
// settled anew.
var patience = dispatch.Patience{Away: 8 * 7 * 24 * time.Hour, Unready: 8 * 7 * 24 * time.Hour, Longest: 15 * time.Minute}

// Background is what workers do for calendars.
func (k *Keeper) Background() job.Background {
	d := dispatch.New(k.Opener, k.Clock, patience)
	return job.Background{Works: map[job.Kind]job.Work{job.CalendarRead: d.Work(k.read), job.CalendarWrite: k.writing(d.Work(k.write))}}
}

// writing has the orders that are of a whole schedule be no calls of any calendar.
func (k *Keeper) writing(one job.Work) job.Work {
	prepare := one.Prepare
	one.Prepare = func(ctx context.Context, j job.Job) (job.Step, error) {
		var o slot.Order
		if err := json.Unmarshal(j.Input, &o); err != nil {
			return nil, err
		}
		if o.Schedule.IsZero() {
			return prepare(ctx, j)
		}
		return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (_ time.Duration, err error) {
			var p struct {
				After uuid.UUID `json:"after"`
			}
			if err := json.Unmarshal(j.Progress, &p); err != nil {
				return 0, err
			}
			if p.After, err = slot.WriteAhead(ctx, tx, o.Schedule, p.After, now); err != nil {
				return 0, err
			}
			if p.After == (uuid.UUID{}) {
				j.State = job.Succeeded
			}
			j.Progress, err = json.Marshal(p)
			return 0, err
		}, nil
	}
	return one
}

// call asks the calendar of a connection, and reports how that went.
func (k *Keeper) call(to *connection.Opened, name string, do func(calendars.Service) error) error {
	began := k.Clock.Now()
	err := to.Calendars(k.Egress, k.Tokens, k.Clock, do)
	k.Report.Report(to.Org, to.ID, connection.OutcomeOf(name, began, k.Clock.Now(), err))
	return err
}

// standing reads how an appointment is, what is known of its event, and where it belongs.
type standing struct {
	Standing
	known bool
	event *slot.Event
	// target is the calendar of its schedule now; nil for none.
	target *slot.Joined
}

func (k *Keeper) standing(ctx context.Context, tx *tenant.Tx, by uuid.UUID) (s standing, err error) {
	if s.event, err = slot.FindEvent(ctx, tx, by); err != nil || s.event == nil {
		return s, err
	}
	if s.Standing, s.known, err = k.find(ctx, tx, by); err != nil || !s.known {
		return s, err
	}
	joined, err := slot.FindJoined(ctx, tx, s.Schedule)
	if errdefs.IsNotFound(err, slot.CalendarNoun) {
		return s, nil
	}
	s.target = &joined
	return s, err
}

func (k *Keeper) find(ctx context.Context, tx *tenant.Tx, by uuid.UUID) (Standing, bool, error) {
	i, err := inbox.Find(ctx, tx, id.InboxItem(by))
	if errdefs.IsNotFound(err, inbox.Noun) {
		if k.Interviews == nil {
			return Standing{}, false, errors.New("the appointment is known to no group")
		}
		return k.Interviews.Standing(ctx, tx, id.Interview(by))
	}
	if err != nil || i.Booking == nil {
		return Standing{}, false, err
	}
	b := i.Booking
	s := Standing{
		Schedule: b.Schedule, Holds: b.State.Holds(), Over: b.State == inbox.NoShow, Sequence: b.Sequence, StartsAt: b.StartsAt, EndsAt: b.EndsAt,
		Title: b.Title, Reference: i.ID.String(), Tentative: b.State == inbox.Requested,
	}
	if i.ForgottenAt != nil {
		s.Holds, s.Over = false, false
		return s, true, nil
	}
	if i.Contact != nil && i.Contact.Name != nil {
		s.Name = *i.Contact.Name
	}
	if b.Location != nil {
		s.Location = *b.Location
	}
	return s, true, nil
}

// write writes an appointment into the calendar where it belongs, or takes it out of the one where it does not belong any
// more. The job goes on until nothing is left to do, so that what changes meanwhile is its too.
func (k *Keeper) write(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	var o slot.Order
	if err := json.Unmarshal(j.Input, &o); err != nil {
		return nil, err
	}
	var s standing
	err := k.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		s, err = k.standing(ctx, tx, o.Reserver)
		return err
	}, tenant.Idempotent(true))
	switch e := s.event; {
	case err != nil || e == nil:
		return nil, err
	case s.Over, s.Holds && s.target != nil && s.here() && e.Sequence >= s.Sequence:
		return nil, nil
	case s.Holds && s.target != nil && s.here():
		return k.put(o.Reserver, s), nil
	default:
		return k.take(o.Reserver, s), nil
	}
}

// here says whether the event is in the calendar where it belongs.
func (s *standing) here() bool {
	return s.event.Connection == s.target.Connection && s.event.Calendar == s.target.Calendar
}

// put writes the event.
func (k *Keeper) put(by uuid.UUID, s standing) *dispatch.Message {
	e := s.event
	newer := false
	return &dispatch.Message{
		To: e.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) error {
			return k.call(to, "event.write", func(c calendars.Service) (err error) {
				newer, err = c.Write(ctx, e.Calendar, s.written(by, k.Clock.Now()))
				return err
			})
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, o dispatch.Outcome) (time.Duration, error) {
			switch {
			case o.Abandoned():
				j.State, j.ErrorCode = job.Failed, o.Code
				return 0, nil
			case !o.Acknowledged():
				return 0, nil
			case newer:
				j.State = job.Succeeded // whoever wrote that notes it
				return 0, nil
			}
			after := *e
			after.Schedule, after.Sequence, after.StartsAt, after.EndsAt, after.WrittenAt, after.MissingAt = s.Schedule, s.Sequence, s.StartsAt, s.EndsAt, now, nil
			return 0, after.Save(ctx, tx)
		},
	}
}

// written is the event as the calendar is to have it.
func (s *standing) written(by uuid.UUID, now time.Time) calendars.Event {
	summary := s.Title
	if s.Name != "" {
		summary += ": " + s.Name
	}
	return calendars.Event{
		Key: calendars.KeyOf(by), Span: calendars.Span{From: s.StartsAt, To: s.EndsAt}, Summary: summary, Location: s.Location,
		Description: s.Reference, Tentative: s.Tentative, Sequence: s.Sequence, WrittenAt: now,
	}
}

// longestTaking is how long a calendar is waited for that an event only leaves.
const longestTaking = time.Minute

// hopeless says whether a calendar that an event leaves is not waited for any longer: the one where it belongs is.
func hopeless(o dispatch.Outcome) bool {
	switch upstream.Code(o.Code) {
	case upstream.RateLimited, upstream.Timeout, upstream.Unavailable, upstream.Truncated:
		return o.Wait >= longestTaking
	}
	return true
}

// take takes the event away, and has it written where it belongs where that is another calendar.
func (k *Keeper) take(by uuid.UUID, s standing) *dispatch.Message {
	e := s.event
	newer, upTo := false, int64(math.MaxInt64)
	if s.known {
		upTo = max(s.Sequence, e.Sequence)
	}
	return &dispatch.Message{
		To: e.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) error {
			return k.call(to, "event.remove", func(c calendars.Service) (err error) {
				newer, err = c.Remove(ctx, e.Calendar, calendars.KeyOf(by), upTo)
				return err
			})
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, o dispatch.Outcome) (time.Duration, error) {
			elsewhere := s.Holds && s.target != nil
			if !o.Acknowledged() && !o.Abandoned() && (!elsewhere || !hopeless(o)) {
				return 0, nil
			}
			if newer {
				j.State = job.Succeeded // whoever wrote that goes on
				return 0, nil
			}
			// It can be in its time again by now, or elsewhere: then it is written anew, since what is there may have been taken away.
			after, err := k.standing(ctx, tx, by)
			switch {
			case err != nil || after.event == nil:
				return 0, err
			case after.known && after.Holds && !after.Over && after.target != nil:
				return 0, slot.Event{
					Reserver: by, Schedule: after.Schedule, Connection: after.target.Connection, Calendar: after.target.Calendar,
					StartsAt: after.StartsAt, EndsAt: after.EndsAt, WrittenAt: now,
				}.Renew(ctx, tx)
			}
			return 0, slot.DropEvent(ctx, tx, *e)
		},
	}
}
