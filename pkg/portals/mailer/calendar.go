package mailer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// Appointment is what a mail about an appointment says, as it is now.
type Appointment struct {
	// To, Name and Language are of who gets it; Title is what it is about.
	To, Name, Language, Title string
	// Portal is where it belongs, and From who writes, where that has no name; zero and empty for
	// none.
	Portal id.Portal
	From   string
	// State is requested, confirmed, moved, cancelled, or offered, where a time is yet to be chosen.
	State string
	// UID and Sequence tell calendars what they have already.
	UID              string
	Sequence         int64
	StartsAt, EndsAt time.Time
	Timezone         string
	// Location is where it is; empty for nowhere that is known.
	Location string
	// Link is what the mail's link opens.
	Link AppointmentLink
}

// Interviews compose the mails about candidates' interviews with people, who are known to a group
// above this one.
type Interviews interface {
	// Appointment is how an interview stands; false where nothing is to be sent any more.
	Appointment(ctx context.Context, tx *tenant.Tx, which id.Interview) (Appointment, bool, error)
}

// sendInvitation does the jobs of kind calendar_send. A crash in between sends a mail again, with
// the same Message-ID and the same sequence.
func (w *Worker) sendInvitation(ctx context.Context, j job.Job) (job.Step, error) {
	if w.Sender == nil {
		return doneStep, nil
	}
	var (
		in     inbox.Invitation
		before tries
	)
	if err := errors.Join(json.Unmarshal(j.Input, &in), json.Unmarshal(j.Progress, &before)); err != nil {
		return nil, err
	}
	var m mail.Message
	err := w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		m, err = w.appointment(ctx, tx, in, j, before.Failed == 0)
		return err
	})
	switch {
	case errors.Is(err, errNobody):
		return doneStep, nil
	case errors.Is(err, ErrTooMany):
		return nextHour, nil
	case err != nil:
		return nil, err
	}
	return w.handOver(ctx, m, before, slog.String("job", j.ID.String()))
}

// nextHour is the step of a mail that there is no room for in this hour: it waits for the next. It
// ends, as what another change followed and what is over is not sent.
func nextHour(_ context.Context, _ *tenant.Tx, _ *job.Job, now time.Time) (time.Duration, error) {
	return now.Truncate(time.Hour).Add(time.Hour).Sub(now), nil
}

// handOver sends a mail of a job that is tried again where the server cannot take it.
func (w *Worker) handOver(ctx context.Context, m mail.Message, before tries, of slog.Attr) (job.Step, error) {
	err := w.Sender.Send(ctx, m)
	if refused, ok := errors.AsType[*mail.Refusal](err); ok {
		w.Log.WarnContext(ctx, "the mail server refused a mail", of, "error", refused)
		return doneStep, nil
	}
	if err != nil {
		w.Log.WarnContext(ctx, "failed to send a mail, it is tried again", of, "failed", before.Failed+1, "error", err)
		return retryStep(input{Kind: booking}, before), nil
	}
	return doneStep, nil
}

// appointment composes a mail, which counts for who gets it where it is the first try. The error is
// errNobody or ErrTooMany.
func (w *Worker) appointment(ctx context.Context, tx *tenant.Tx, in inbox.Invitation, j job.Job, first bool) (mail.Message, error) {
	a, err := w.standing(ctx, tx, in)
	if err != nil {
		return mail.Message{}, err
	}
	now := w.Clock.Now().UTC()
	if a.Sequence != in.Sequence || a.State != "offered" && !a.EndsAt.After(now) {
		return mail.Message{}, errNobody // something else is sent of it, or it is over
	}
	if first {
		err := takeBoth(ctx, tx, booking, a.Portal, a.To, now)
		if errors.Is(err, ErrNoAddress) {
			err = errNobody
		}
		if err != nil {
			return mail.Message{}, err
		}
	}
	if err := a.named(ctx, tx); err != nil {
		return mail.Message{}, err
	}
	return a.message(j.ID, w.PortalURL+LinkPath+a.Link.Token(w.Vault), now)
}

// standing reads how an appointment is now. The error is errNobody where nobody is written to.
func (w *Worker) standing(ctx context.Context, tx *tenant.Tx, in inbox.Invitation) (Appointment, error) {
	if !in.Interview.IsZero() {
		if w.Interviews == nil {
			return Appointment{}, errNobody
		}
		a, found, err := w.Interviews.Appointment(ctx, tx, in.Interview)
		if err == nil && !found {
			err = errNobody
		}
		a.Link = AppointmentLink{Org: tx.Org, Interview: in.Interview}
		return a, err
	}
	i, err := inbox.Find(ctx, tx, in.Item)
	if errdefs.IsNotFound(err, inbox.Noun) {
		return Appointment{}, errNobody
	}
	if err != nil {
		return Appointment{}, err
	}
	b := i.Booking
	if b == nil || b.State == inbox.NoShow || i.Contact == nil || i.Contact.Email == nil {
		return Appointment{}, errNobody
	}
	a := Appointment{
		To: *i.Contact.Email, Language: i.Language, Title: b.Title, Portal: i.Portal, State: string(b.State), UID: i.ID.String(), Sequence: b.Sequence,
		StartsAt: b.StartsAt, EndsAt: b.EndsAt, Timezone: b.Timezone, Link: AppointmentLink{Org: tx.Org, Item: i.ID},
	}
	if i.Contact.Name != nil {
		a.Name = *i.Contact.Name
	}
	if b.Location != nil {
		a.Location = *b.Location
	}
	s, err := slot.Find(ctx, tx, b.Schedule)
	if errdefs.IsNotFound(err, slot.Noun) {
		err = nil
	}
	if a.From = s.Name; a.From == "" {
		a.From = a.Title
	}
	return a, err
}

// named gives a mail the name of the portal that it belongs to.
func (a *Appointment) named(ctx context.Context, tx *tenant.Tx) error {
	if a.Portal.IsZero() {
		return nil
	}
	p, err := portal.Find(ctx, tx, a.Portal)
	if errdefs.IsAbsent(err, portal.Noun) || err == nil && p.PublishedVersion == nil {
		return nil
	}
	if err != nil {
		return err
	}
	v, err := portal.FindVersion(ctx, tx, a.Portal, *p.PublishedVersion)
	if err == nil {
		of := addressed{portal: p, version: v}
		a.From = of.called(a.Language)
	}
	return err
}

// message is the mail as it is sent.
func (a *Appointment) message(j id.Job, link string, now time.Time) (mail.Message, error) {
	code := languageFor(a.Language)
	say := func(key string, with ...any) string { return fmt.Sprintf(phrases[code][key], with...) }
	from, title := line(a.From), line(a.Title)
	s := htmlMail{
		Language: code, Direction: "ltr", Greeting: say("greeting"), Text: say("booking."+a.State+".text", from, title), Paragraphs: []string{},
		Button: say("booking.button"), URL: link, Plain: say("plain"), Ignore: say("booking.ignore"), From: from,
	}
	if code == "ar" {
		s.Direction = "rtl"
	}
	if a.Name != "" {
		s.Greeting = say("greeting.name", line(a.Name))
	}
	if a.State != "offered" {
		zone, err := time.LoadLocation(a.Timezone)
		if err != nil {
			return mail.Message{}, err
		}
		s.Paragraphs = append(s.Paragraphs, say("booking.when", a.StartsAt.In(zone).Format("2006-01-02 15:04")+" ("+a.Timezone+")"))
	}
	if a.Location != "" && a.State != "cancelled" {
		s.Paragraphs = append(s.Paragraphs, say("booking.where", line(a.Location)))
	}
	var body strings.Builder
	if err := page.ExecuteTemplate(&body, "mail.html", s); err != nil {
		return mail.Message{}, err
	}
	m := mail.Message{ID: j.String(), To: a.To, Subject: say("booking."+a.State+".subject", from, title), Text: s.plain(), HTML: body.String(), Language: code}
	if a.State != "offered" {
		m.Calendar = a.calendar(now)
	}
	return m, nil
}

// calendar is what the reader's calendar takes over (RFC 5546). Times are in UTC, so that no
// calendar's own rules of a zone matter.
func (a *Appointment) calendar(now time.Time) *mail.Calendar {
	method, status := ics.MethodRequest, ics.ObjectStatusConfirmed
	switch a.State {
	case "cancelled":
		method, status = ics.MethodCancel, ics.ObjectStatusCancelled
	case "requested":
		status = ics.ObjectStatusTentative
	}
	return &mail.Calendar{Method: string(method), Write: func(organizer string) (string, error) {
		c := ics.NewCalendarFor("Visavis")
		c.SetMethod(method)
		e := c.AddEvent(a.UID) // unique by itself: no host is needed (RFC 7986, 5.3)
		e.SetDtStampTime(now)
		e.SetSequence(int(a.Sequence))
		e.SetStartAt(a.StartsAt.UTC())
		e.SetEndAt(a.EndsAt.UTC())
		e.SetSummary(line(a.Title) + " – " + line(a.From))
		e.SetStatus(status)
		e.SetOrganizer(organizer, ics.WithCN(cmp.Or(plainName(a.From), plainName(organizer))))
		attendee := cmp.Or(plainName(a.Name), plainName(a.To))
		// Nobody reads answers, so none is asked for: RSVP is FALSE unless it is written.
		e.AddAttendee(a.To, ics.WithCN(attendee), ics.ParticipationRoleReqParticipant, ics.ParticipationStatusNeedsAction)
		if a.Location != "" {
			e.SetLocation(line(a.Location))
		}
		var out strings.Builder
		err := c.SerializeTo(&out, ics.WithNewLineWindows)
		return out.String(), err
	}}
}

// plainName makes of a name what a parameter of a calendar's line can have. Parameters know no
// escapes (RFC 5545, 3.2), but the library writes some: what it escapes, and what ends a line, is
// taken out.
func plainName(name string) string {
	return line(strings.Map(func(r rune) rune {
		switch {
		case r == '\'':
			return '’'
		case strings.ContainsRune(`;:,\"`, r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, name))
}
