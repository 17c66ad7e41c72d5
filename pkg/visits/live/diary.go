package live

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// diary is the schedule of a persona's tool booking.
type diary struct {
	room     *room
	schedule id.Schedule
	kind     string
}

// maxFree is how many times a model is told of, and freeWithin of which time.
const (
	maxFree    = 40
	freeWithin = 14 * 24 * time.Hour
)

// newDiary opens the schedule that a persona's tool names; nil where there is none, or where nobody
// is booked: of those who try a persona out, and of those whom nobody contacts.
func (r *room) newDiary(d persona.Definition) conversation.Diary {
	s := r.session
	if s.Sandbox || s.Kind != "conversation" || s.Withheld != nil && *s.Withheld != session.ZeroRetention {
		return nil
	}
	for _, t := range d.Tools {
		if t.Kind != persona.BookingTool || !t.Enabled {
			continue
		}
		name, _ := t.Config[persona.BookingSchedule].(string)
		kind, _ := t.Config[persona.BookingKind].(string)
		if which, err := id.ParseSchedule(name); err == nil {
			return &diary{r, which, kind}
		}
	}
	return nil
}

// Free implements conversation.Diary.
func (d *diary) Free(ctx context.Context) (conversation.Times, error) {
	r := d.room
	var (
		of  conversation.Times
		own uuid.UUID
	)
	has, err := inbox.OfBooking(ctx, r.server.Tenants, r.org, r.session.ID)
	if err != nil {
		return of, err
	}
	now := r.server.now()
	if has != nil {
		own = uuid.UUID(has.ID)
		if b := has.Booking; b.State.Holds() && b.StartsAt.After(now) {
			if of.Zone, err = (&slot.Plan{Timezone: b.Timezone}).Zone(); err != nil {
				return of, err
			}
			of.Own = new(said(b.StartsAt, of.Zone))
		}
	}
	s, err := slot.Get(ctx, r.server.Tenants, r.org, d.schedule)
	if errdefs.IsNotFound(err, slot.Noun) {
		return of, nil
	}
	if err != nil {
		return of, err
	}
	k, found := s.Plan.KindOf(d.kind)
	if !found {
		return of, nil
	}
	if of.Zone, err = s.Plan.Zone(); err != nil {
		return of, err
	}
	free, err := s.Times(ctx, r.server.Tenants, r.org, k, now, now, now.Add(freeWithin), own, maxFree)
	for _, one := range free {
		if of.Own == nil || !of.Own.StartsAt.Equal(one.StartsAt) {
			of.Free = append(of.Free, said(one.StartsAt, of.Zone))
		}
	}
	return of, err
}

// freshen reads the schedule's calendar anew, where it has one, before a time is booked. Nobody waits for it to be told which
// times are free.
func (d *diary) freshen(ctx context.Context) {
	if read := d.room.server.Freshen; read != nil {
		read(ctx, d.room.org, d.schedule)
	}
}

// said is a time on the clocks of a zone.
func said(at time.Time, zone *time.Location) conversation.FreeTime {
	return conversation.FreeTime{StartsAt: at.UTC(), Said: at.In(zone).Format("Monday 2006-01-02 15:04 MST")}
}

// Book implements conversation.Diary.
func (d *diary) Book(ctx context.Context, l inbox.Left, at time.Time) error {
	r := d.room
	l.Wanted = &inbox.Wanted{Schedule: d.schedule, Kind: d.kind, StartsAt: at}
	d.freshen(ctx)
	err := (&journal{room: r}).write(ctx, func(ctx context.Context, tx *tenant.Tx) error {
		return session.Collect(ctx, tx, r.session.ID, r.session.Epoch, session.Found{Left: []inbox.Left{l}}, r.server.now())
	})
	_, refused := errors.AsType[*errdefs.Conflict](err)
	_, renamed := errors.AsType[*errdefs.Invalid](err) // the kind of appointment
	if refused || renamed || errdefs.IsNotFound(err, slot.Noun) {
		return conversation.ErrTaken
	}
	return err
}
