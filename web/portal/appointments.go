package portal

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/web/page"
)

// appointments are what the links in mails about them open.
type appointments struct{ *Server }

// Who acts by a link.
const (
	byVisitor   = "visitor"
	byCandidate = "candidate"
)

// maxOffered is how many times a page offers, offeredWithin over which time.
const (
	maxOffered    = 60
	offeredWithin = 21 * 24 * time.Hour
)

func (a appointments) now() time.Time {
	return a.options.Backend.Options.Clock.Now().UTC().Truncate(time.Microsecond)
}

// opened is what an error means to whoever has a link.
func opened(err error) error {
	_, refused := errors.AsType[*errdefs.Conflict](err)
	_, renamed := errors.AsType[*errdefs.Invalid](err) // the kind of appointment
	switch {
	case errdefs.IsNotFound(err, inbox.Noun), errdefs.IsNotFound(err, candidate.HumanNoun), errdefs.IsAbsent(err, candidate.Noun):
		return mailer.ErrNoAppointment
	case refused, renamed, errdefs.IsNotFound(err, slot.Noun):
		return page.ErrUnfit // the schedule, or its kind, may be gone since the page was opened
	}
	return err
}

// Appointment implements page.Appointments.
func (a appointments) Appointment(ctx context.Context, token string) (page.Appointment, error) {
	l, err := mailer.OpenLink(a.options.Backend.Vault, token)
	if err != nil {
		return page.Appointment{}, err
	}
	if !l.Interview.IsZero() {
		shown, err := a.interview(ctx, l)
		return shown, opened(err)
	}
	shown, err := a.booked(ctx, l)
	return shown, opened(err)
}

func (a appointments) booked(ctx context.Context, l mailer.AppointmentLink) (page.Appointment, error) {
	i, err := inbox.Get(ctx, a.options.Backend.Tenants, l.Org, l.Item)
	if err != nil {
		return page.Appointment{}, err
	}
	b := i.Booking
	if b == nil || i.ForgottenAt != nil {
		return page.Appointment{}, mailer.ErrNoAppointment
	}
	now := a.now()
	shown := page.Appointment{Title: b.Title, State: string(b.State), StartsAt: b.StartsAt, EndsAt: b.EndsAt, Language: i.Language}
	if b.Location != nil {
		shown.Location = *b.Location
	}
	if shown.Zone, err = time.LoadLocation(b.Timezone); err != nil {
		return shown, err
	}
	if !b.State.Holds() {
		if b.State == inbox.NoShow {
			shown.State = "over"
		}
		return shown, nil
	}
	if !b.StartsAt.After(now) {
		shown.State = "over"
		return shown, nil
	}
	shown.Open = true
	shown.Offered, err = a.offered(ctx, l.Org, b.Schedule, b.Kind, uuid.UUID(i.ID), b.StartsAt)
	return shown, err
}

// offered are the beginnings of free times of a schedule, but the one that somebody has; none where
// it is gone.
func (a appointments) offered(ctx context.Context, org id.Org, of id.Schedule, kind string, by uuid.UUID, has time.Time) (all []time.Time, err error) {
	s, err := slot.Get(ctx, a.options.Backend.Tenants, org, of)
	if errdefs.IsNotFound(err, slot.Noun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k, found := s.Plan.KindOf(kind)
	if !found {
		return nil, nil
	}
	a.calendars.Freshen(ctx, org, of)
	now := a.now()
	free, err := s.Times(ctx, a.options.Backend.Tenants, org, k, now, now, now.Add(offeredWithin), by, maxOffered)
	for _, one := range free {
		if !one.StartsAt.Equal(has) {
			all = append(all, one.StartsAt)
		}
	}
	return all, err
}

func (a appointments) interview(ctx context.Context, l mailer.AppointmentLink) (page.Appointment, error) {
	t := a.options.Backend.Tenants
	h, err := candidate.GetHuman(ctx, t, l.Org, l.Interview)
	if err != nil {
		return page.Appointment{}, err
	}
	c, err := candidate.Get(ctx, t, l.Org, h.Candidate)
	if err != nil {
		return page.Appointment{}, err
	}
	r, err := role.Get(ctx, t, l.Org, h.Role)
	if err != nil {
		return page.Appointment{}, err
	}
	now := a.now()
	shown := page.Appointment{Title: r.Title, State: stateOf(h, now), Language: c.Language}
	if shown.Zone, err = time.LoadLocation(h.Timezone); err != nil {
		return shown, err
	}
	for _, text := range []*string{h.Location, h.JoinURL} {
		if text != nil {
			shown.Location = *text
		}
	}
	if h.StartsAt != nil {
		shown.StartsAt, shown.EndsAt = *h.StartsAt, *h.EndsAt
	}
	if shown.Open = shown.State == "offered" || shown.State == "confirmed"; !shown.Open {
		return shown, nil
	}
	for _, s := range h.Slots {
		if s.StartsAt.After(now) && (h.StartsAt == nil || !s.StartsAt.Equal(*h.StartsAt)) {
			shown.Offered = append(shown.Offered, s.StartsAt)
		}
	}
	return shown, nil
}

// stateOf is how an interview stands, as pages say it.
func stateOf(h candidate.HumanInterview, now time.Time) string {
	switch {
	case h.State == candidate.InterviewCancelled:
		return "cancelled"
	case h.State == candidate.InterviewOffered && now.Before(h.ExpiresAt):
		return "offered"
	case h.State == candidate.InterviewBooked && h.StartsAt.After(now):
		return "confirmed"
	}
	return "over"
}

// Choose implements page.Appointments.
func (a appointments) Choose(ctx context.Context, token string, at time.Time) error {
	if l, err := mailer.OpenLink(a.options.Backend.Vault, token); err == nil {
		a.freshen(ctx, l)
	}
	return a.change(ctx, token, func(ctx context.Context, tx *tenant.Tx, l mailer.AppointmentLink) error {
		if !l.Interview.IsZero() {
			_, err := candidate.BookInterview(ctx, tx, l.Interview, at, activity.Actor{By: byCandidate, At: a.now()})
			return err
		}
		return a.rebook(ctx, tx, l.Item, inbox.BookingChange{StartsAt: at})
	})
}

// freshen reads the calendar of an appointment that is to be at another time. What is not found is told by whoever changes it.
func (a appointments) freshen(ctx context.Context, l mailer.AppointmentLink) {
	t := a.options.Backend.Tenants
	if !l.Interview.IsZero() {
		if h, err := candidate.GetHuman(ctx, t, l.Org, l.Interview); err == nil {
			a.calendars.Freshen(ctx, l.Org, h.Schedule)
		}
		return
	}
	if i, err := inbox.Get(ctx, t, l.Org, l.Item); err == nil && i.Booking != nil {
		a.calendars.Freshen(ctx, l.Org, i.Booking.Schedule)
	}
}

// Cancel implements page.Appointments.
func (a appointments) Cancel(ctx context.Context, token string) error {
	return a.change(ctx, token, func(ctx context.Context, tx *tenant.Tx, l mailer.AppointmentLink) error {
		if !l.Interview.IsZero() {
			_, err := candidate.CancelInterview(ctx, tx, l.Interview, byCandidate, activity.Actor{By: byCandidate, At: a.now()})
			return err
		}
		return a.rebook(ctx, tx, l.Item, inbox.BookingChange{State: inbox.Cancelled})
	})
}

// rebook changes a booking as its visitor wants it: not one that is over.
func (a appointments) rebook(ctx context.Context, tx *tenant.Tx, which id.InboxItem, c inbox.BookingChange) error {
	i, err := inbox.Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	if b := i.Booking; b != nil && !b.StartsAt.After(a.now()) {
		return page.ErrUnfit
	}
	_, err = inbox.ChangeBooking(ctx, tx, i, c, activity.Actor{By: byVisitor, At: a.now()})
	return err
}

func (a appointments) change(ctx context.Context, token string, fn func(context.Context, *tenant.Tx, mailer.AppointmentLink) error) error {
	l, err := mailer.OpenLink(a.options.Backend.Vault, token)
	if err != nil {
		return err
	}
	return opened(a.options.Backend.Tenants.InTx(ctx, l.Org, func(ctx context.Context, tx *tenant.Tx) error { return fn(ctx, tx, l) }))
}

// meetings are a candidate's interviews with people, as their page lists them.
func (a applications) meetings(ctx context.Context, org id.Org, c candidate.Candidate) (all []page.Meeting, err error) {
	found, err := candidate.HumanOf(ctx, a.options.Backend.Tenants, org, c.ID)
	if err != nil {
		return nil, err
	}
	for _, h := range found {
		one := page.Meeting{
			State: stateOf(h, a.options.Backend.Options.Clock.Now()),
			Token: mailer.AppointmentLink{Org: org, Interview: h.ID}.Token(a.options.Backend.Vault),
		}
		if one.Zone, err = time.LoadLocation(h.Timezone); err != nil {
			return nil, err
		}
		if h.StartsAt != nil {
			one.StartsAt = *h.StartsAt
		}
		all = append(all, one)
	}
	return all, nil
}
