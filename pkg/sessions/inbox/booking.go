package inbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// BookingState is how far a booking is.
type BookingState string

// The states of a booking.
const (
	// Requested: the team is to confirm it.
	Requested BookingState = "requested"
	Confirmed BookingState = "confirmed"
	// Moved: it counts at another time than it was made for.
	Moved     BookingState = "moved"
	Cancelled BookingState = "cancelled"
	// NoShow: the visitor did not come.
	NoShow BookingState = "no_show"
)

// BookingStates lists every state.
func BookingStates() []BookingState {
	return []BookingState{Requested, Confirmed, Moved, Cancelled, NoShow}
}

// Holds says whether a booking in the state has its time.
func (s BookingState) Holds() bool { return s == Requested || s == Confirmed || s == Moved }

// Booking is when and where a visitor comes, and how far that is.
type Booking struct {
	StartsAt time.Time `json:"startsAt"`
	EndsAt   time.Time `json:"endsAt"`
	// Timezone is the zone that it was made in, and Wall the beginning on the clocks there, such as
	// 2026-12-01T10:00: what was agreed, should the zone's rules change.
	Timezone string `json:"timezone"`
	Wall     string `json:"wall"`
	// Kind is the key of the schedule's kind, Title what that was called.
	Kind     string       `json:"bookingKind"`
	Title    string       `json:"title"`
	Schedule id.Schedule  `json:"scheduleId"`
	Location *string      `json:"location"`
	State    BookingState `json:"state"`
	// Sequence counts the changes that a calendar is to take over.
	Sequence int64 `json:"sequence"`
	// Connection is the one in whose calendar it is kept; zero for none.
	Connection id.Connection `json:"connectionId,omitzero"`
}

// WallTime is how Booking.Wall is written.
const WallTime = "2006-01-02T15:04"

// Wanted is a time that somebody wants.
type Wanted struct {
	Schedule id.Schedule
	// Kind is the key of a kind; empty for the schedule's first.
	Kind     string
	StartsAt time.Time
}

// The reasons of conflicts of bookings, beside those of times (package slot).
const (
	ReasonNotBooking   = "not_a_booking"
	ReasonBookingState = "booking_state"
	ReasonBookingOver  = "booking_over"
)

// reserve gives an item the time that somebody wants. The error is of slot.Reserve.
func (i *Item) reserve(ctx context.Context, tx *tenant.Tx, w Wanted, who activity.Actor) error {
	s, k, got, err := slot.Reserve(ctx, tx, w.Schedule, w.Kind, w.StartsAt, uuid.UUID(i.ID), who.At)
	if err != nil {
		return err
	}
	zone, err := s.Plan.Zone()
	if err != nil {
		return err
	}
	state, sequence := i.booked(k, who.By), int64(0)
	if i.Booking != nil {
		sequence = i.Booking.Sequence + 1
	}
	i.Booking = &Booking{
		StartsAt: got.StartsAt.UTC(), EndsAt: got.EndsAt.UTC(), Timezone: s.Plan.Timezone, Wall: got.StartsAt.In(zone).Format(WallTime),
		Kind: k.Key, Title: k.Name, Schedule: s.ID, Location: k.Location, State: state, Sequence: sequence,
	}
	if c := s.Plan.Calendar; c != nil {
		i.Booking.Connection = c.Connection
	}
	return nil
}

// booked is the state of a booking with a new time that somebody chose. Where the team is to confirm a
// kind, it confirms each time of it but those that it chose itself. What does not hold starts anew.
func (i *Item) booked(k slot.Kind, by string) BookingState {
	moved := i.Booking != nil && i.Booking.State.Holds()
	team := by != platform && by != ByVisitor
	switch {
	case moved && i.Booking.State == Requested, k.Confirm && (!moved || !team):
		return Requested
	case moved:
		return Moved
	}
	return Confirmed
}

// BookingChange is what a booking is to be; zero fields stay.
type BookingChange struct {
	StartsAt time.Time
	State    BookingState
}

// ChangeBooking moves, confirms or cancels the booking of an item that is locked, or notes that
// nobody came. Who moves it to where it is, or gives it the state that it has, changes nothing. The
// error is an errdefs.Conflict or an errdefs.Invalid.
func ChangeBooking(ctx context.Context, tx *tenant.Tx, i Item, c BookingChange, who activity.Actor) (Item, error) {
	b := i.Booking
	switch {
	case b == nil:
		return i, i.conflict(ReasonNotBooking, "The item is no booking.")
	case i.ForgottenAt != nil:
		return i, i.conflict(ReasonForgotten, "The visitor was forgotten, so the item stays as it is.")
	}
	was, fields := *b, []string{}
	if !c.StartsAt.IsZero() && !c.StartsAt.Equal(b.StartsAt) {
		if err := i.move(ctx, tx, c.StartsAt, who); err != nil {
			return i, err
		}
		fields = append(fields, "booking.startsAt", "booking.endsAt")
	}
	if c.State != "" && c.State != i.Booking.State {
		if err := i.become(ctx, tx, c.State, who.At); err != nil {
			return i, err
		}
	}
	if i.Booking.State != was.State {
		fields = append(fields, "booking.state")
	}
	if len(fields) == 0 {
		return i, nil
	}
	err := i.rebooked(ctx, tx, was, fields, who)
	return i, err
}

// OfBooking is the booking of a conversation; nil for none. It rides inbox_item_by_session.
func OfBooking(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session) (*Item, error) {
	found, err := tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM inbox_item i WHERE i.org_id = $1 AND i.session_id = $2 AND i.kind = $3`, org, s, Book)
	if err != nil || len(found) == 0 || found[0].Booking == nil {
		return nil, err
	}
	return &found[0], nil
}

// rewant gives the visitor of a conversation another time than they had, also in place of one that
// they cancelled, and says whether it did. w is nil where none is wanted.
func (i *Item) rewant(ctx context.Context, tx *tenant.Tx, w *Wanted, who activity.Actor) (bool, error) {
	if w == nil || i.Booking.State.Holds() && i.Booking.StartsAt.Equal(w.StartsAt) {
		return false, nil
	}
	return true, i.reserve(ctx, tx, *w, who)
}

func (i *Item) move(ctx context.Context, tx *tenant.Tx, to time.Time, who activity.Actor) error {
	b := i.Booking
	switch {
	case !b.State.Holds():
		return i.conflict(ReasonBookingState, "A booking that is "+string(b.State)+" is not moved. Make another.")
	case !b.StartsAt.After(who.At):
		return i.conflict(ReasonBookingOver, "The booking has begun, so it is not moved any more.")
	}
	return i.reserve(ctx, tx, Wanted{b.Schedule, b.Kind, to}, who)
}

// become gives a booking another state.
func (i *Item) become(ctx context.Context, tx *tenant.Tx, s BookingState, now time.Time) error {
	b := *i.Booking
	allowed := false
	switch s {
	case Confirmed:
		allowed = b.State == Requested || b.State == Moved
	case Cancelled:
		allowed = b.State.Holds()
	case NoShow:
		if b.State.Holds() && b.StartsAt.After(now) {
			return errdefs.InvalidField("booking.state", "is no_show once the booking has begun")
		}
		allowed = b.State.Holds()
	case Requested, Moved:
		return errdefs.InvalidField("booking.state", "is confirmed, cancelled or no_show; startsAt moves a booking")
	}
	if !allowed {
		return &errdefs.Conflict{
			Noun: Noun, ID: i.ID.String(), Reason: ReasonBookingState, Details: map[string]any{"state": b.State},
			Message: "A booking does not go from " + string(b.State) + " to " + string(s) + ".",
		}
	}
	if s != NoShow {
		b.Sequence++
	}
	if s == Cancelled {
		if err := slot.Free(ctx, tx, uuid.UUID(i.ID), now); err != nil {
			return err
		}
	}
	b.State = s
	i.Booking = &b
	return nil
}

// rebooked writes a booking that changed, and tells everybody who is to know.
func (i *Item) rebooked(ctx context.Context, tx *tenant.Tx, was Booking, fields []string, who activity.Actor) error {
	if err := i.settle(ctx, tx, i.State, Updated, "", who.At, func() { i.tellBooking(tx, was.State, fields, who.By) }); err != nil {
		return err
	}
	who.Log(tx, "inbox_item.updated", "inbox_item", i.ID, map[string]any{"fields": fields, "booking": i.Booking.State})
	if i.Booking.State == NoShow {
		return nil
	}
	if i.Booking.StartsAt.Equal(was.StartsAt) && i.Booking.State.Holds() { // else its time was reserved or given back
		if err := slot.Changed(ctx, tx, uuid.UUID(i.ID), who.At); err != nil {
			return err
		}
	}
	return i.invite(ctx, tx, who.By, who.At)
}

// Invitation is the input of a job that mails an invitation to a calendar.
type Invitation struct {
	Item id.InboxItem `json:"itemId,omitzero"`
	// Interview is of a candidate's with people.
	Interview id.Interview `json:"interviewId,omitzero"`
	// Sequence is how it was when it was queued: what another change followed is not sent any more.
	Sequence int64 `json:"sequence"`
}

// invite has the visitor mailed how their booking is now. What it says is read when it is sent.
func (i *Item) invite(ctx context.Context, tx *tenant.Tx, by string, at time.Time) error {
	if i.Contact == nil || i.Contact.Email == nil {
		return nil
	}
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.CalendarSend, ResourceKind: "inbox_item", ResourceID: i.ID.String(), Portal: i.Portal, Scope: scope.InboxRead,
		CreatedBy: by, CreatedAt: at,
	}, Invitation{Item: i.ID, Sequence: i.Booking.Sequence})
	return err
}

// abandon gives back the time of a booking whose visitor is forgotten, unless it is over.
func (i *Item) abandon(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if i.Booking == nil || !i.Booking.State.Holds() || !i.Booking.EndsAt.After(now) {
		return nil
	}
	b := *i.Booking
	b.State, b.Sequence = Cancelled, b.Sequence+1
	i.Booking = &b
	return slot.Free(ctx, tx, uuid.UUID(i.ID), now)
}
