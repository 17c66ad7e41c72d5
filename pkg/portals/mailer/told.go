package mailer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// told is a mail to one of the team about an item of the inbox.
const told kind = "told"

// How many of those go out in an hour at most: to one address, and from an organization. They are counted apart from
// what people are waiting for, such as links to sign in by.
const (
	perMember = 60
	perTeam   = 500
)

// everyMember is the holder of an organization's count of them.
const everyMember = "inbox_team"

// tell does the jobs of kind inbox_mail: one of the team is told how to reach a visitor and what of an item is known
// without their words. Who was forgotten, or did not agree when asked, is not named. A crash in between sends a mail again,
// with the same Message-ID.
func (w *Worker) tell(ctx context.Context, j job.Job) (job.Step, error) {
	if w.Sender == nil {
		return doneStep, nil
	}
	var (
		l      inbox.Told
		before tries
		m      mail.Message
	)
	if err := errors.Join(json.Unmarshal(j.Input, &l), json.Unmarshal(j.Progress, &before)); err != nil {
		return nil, err
	}
	err := w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) error {
		i, err := inbox.Find(ctx, tx, l.Item)
		if err != nil {
			return err
		}
		p, err := person.Find(ctx, tx, l.Person)
		switch {
		case errdefs.IsAbsent(err, person.Noun), err == nil && (p.Email == nil || p.State == person.Disabled || i.ForgottenAt != nil):
			return errNobody
		case err != nil:
			return err
		}
		_, key, ok := person.Address(*p.Email)
		if !ok {
			return errNobody
		}
		if before.Failed == 0 {
			if err := takeTold(ctx, tx, key, w.Clock.Now()); err != nil {
				return err
			}
		}
		a := Appointment{Portal: i.Portal, Language: i.Language}
		if err := a.named(ctx, tx); err != nil {
			return err
		}
		language := ""
		if p.Language != nil {
			language = *p.Language
		}
		m, err = toldMessage(j.ID, i, l.Event, *p.Email, language, a.From)
		return err
	})
	switch {
	case errors.Is(err, errNobody), errors.Is(err, ErrTooMany), errdefs.IsNotFound(err, inbox.Noun):
		return doneStep, nil
	case err != nil:
		return nil, err
	}
	return w.handOver(ctx, m, before, slog.String("job", j.ID.String()))
}

// takeTold counts a mail to one of the team.
func takeTold(ctx context.Context, tx *tenant.Tx, key string, at time.Time) error {
	if err := take(ctx, tx, recipient(told, id.Portal{}, key), perMember, at); err != nil {
		return err
	}
	return take(ctx, tx, everyMember, perTeam, at)
}

// toldMessage is a mail about an item.
func toldMessage(j id.Job, i inbox.Item, e inbox.Event, to, language, from string) (mail.Message, error) {
	code := languageFor(language)
	say := func(key string) string { return phrases[code]["told."+key] }
	subject := say(string(i.Kind))
	if from = line(from); from != "" {
		subject = from + ": " + subject
	}
	var facts []string
	add := func(name string, value *string) {
		if value == nil {
			return
		}
		if text := line(*value); text != "" {
			facts = append(facts, say(name)+": "+text)
		}
	}
	if c := i.Contact; c != nil && (c.Consent == nil || c.Consent.Given) {
		add("name", c.Name)
		add("email", c.Email)
		add("phone", c.Phone)
		add("company", c.Company)
	}
	if b := i.Booking; b != nil {
		add("when", new(strings.Replace(b.Wall, "T", " ", 1)+" ("+b.Timezone+")"))
	}
	if i.Band != nil {
		add("band", new(string(*i.Band)))
	}
	add("urgency", &i.Urgency)
	add("department", i.Department)
	if i.SLADueAt != nil {
		add("due", new(i.SLADueAt.UTC().Format(time.DateTime)+" UTC"))
	}
	add("id", new(i.ID.String()))
	s := htmlMail{Language: code, Direction: "ltr", Paragraphs: []string{subject + ". " + say(string(e)), strings.Join(facts, "\n")}, From: from}
	if code == "ar" {
		s.Direction = "rtl"
	}
	var html strings.Builder
	err := page.ExecuteTemplate(&html, "reply.html", s)
	return mail.Message{
		ID: j.String(), To: to, Subject: subject, Language: code, Text: strings.Join(s.Paragraphs, "\n\n") + "\n", HTML: html.String(),
	}, err
}
