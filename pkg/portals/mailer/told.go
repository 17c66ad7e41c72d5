package mailer

import (
	"cmp"
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
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
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

// Ways into conversations are counted apart: visitors ask for them, who could have the team told
// nothing else by it.
const (
	called      kind   = "called"
	everyCalled string = "inbox_called"
)

// toldProgress is the progress of a job that tells one of the team.
type toldProgress struct {
	tries
	// Begun says that the mail is counted. Staff is whom its link lets in, whose token is Sealed; the zero id
	// for a mail without one.
	Begun  bool     `json:"begun,omitempty"`
	Staff  id.Staff `json:"staffId,omitzero"`
	Sealed []byte   `json:"sealed,omitempty"`
}

// tell does the jobs of kind inbox_mail: one of the team is told how to reach a visitor and what of an item is known
// without their words. Who was forgotten, or did not agree when asked, is not named. The mail is counted and its link made in a
// step of their own, so that what is sent again, after a failure or a crash, is the same mail, with the same Message-ID.
func (w *Worker) tell(ctx context.Context, j job.Job) (job.Step, error) {
	if w.Sender == nil {
		return doneStep, nil
	}
	var (
		l      inbox.Told
		before toldProgress
		m      mail.Message
	)
	if err := errors.Join(json.Unmarshal(j.Input, &l), json.Unmarshal(j.Progress, &before)); err != nil {
		return nil, err
	}
	if !before.Begun {
		return w.beginTelling(l, before), nil
	}
	err := w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) error {
		i, p, _, err := readTold(ctx, tx, l)
		if err != nil {
			return err
		}
		join, err := w.wayIn(ctx, tx, i, p, before, place(j.Org, j.ID))
		if err != nil {
			return err
		}
		if l.Event == inbox.Called && join == "" { // somebody came, or the visitor left
			return errNobody
		}
		a := Appointment{Portal: i.Portal, Language: i.Language}
		if err := a.named(ctx, tx); err != nil {
			return err
		}
		language := ""
		if p.Language != nil {
			language = *p.Language
		}
		m, err = toldMessage(j.ID, i, l.Event, *p.Email, language, a.From, join)
		return err
	})
	switch {
	case toldNobody(err):
		return doneStep, nil
	case err != nil:
		return nil, err
	}
	step, err := w.handOver(ctx, m, before.tries, slog.String("job", j.ID.String()))
	if err != nil {
		return nil, err
	}
	return before.keep(step), nil
}

// keep is a step of a job after which its progress has what it had, beside how often it was tried.
func (p toldProgress) keep(step job.Step) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		wait, err := step(ctx, tx, j, now)
		if err != nil || j.State != job.Running {
			return wait, err
		}
		if err := json.Unmarshal(j.Progress, &p.tries); err != nil {
			return 0, err
		}
		j.Progress, err = json.Marshal(p)
		return wait, err
	}
}

// toldNobody says of an error that a mail has nobody to go to, or may not go out.
func toldNobody(err error) bool {
	return errors.Is(err, errNobody) || errors.Is(err, ErrTooMany) || errdefs.IsNotFound(err, inbox.Noun)
}

// readTold reads what a mail is about, whom it is to, and the key of their address. The error is errNobody, or errdefs.NotFound.
func readTold(ctx context.Context, tx *tenant.Tx, l inbox.Told) (i inbox.Item, p person.Person, key string, err error) {
	if i, err = inbox.Find(ctx, tx, l.Item); err != nil {
		return i, p, "", err
	}
	p, err = person.Find(ctx, tx, l.Person)
	switch {
	case errdefs.IsAbsent(err, person.Noun), err == nil && (p.Email == nil || p.State == person.Disabled || i.ForgottenAt != nil):
		return i, p, "", errNobody
	case err != nil:
		return i, p, "", err
	}
	_, key, ok := person.Address(*p.Email)
	if !ok {
		return i, p, "", errNobody
	}
	return i, p, key, nil
}

// beginTelling is the step that counts a mail and makes its link.
func (w *Worker) beginTelling(l inbox.Told, begun toldProgress) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		err := w.begin(ctx, tx, l, &begun, place(j.Org, j.ID), now)
		switch {
		case toldNobody(err):
			j.State = job.Succeeded
			return 0, nil
		case err != nil:
			return 0, err
		}
		begun.Begun = true
		j.Progress, err = json.Marshal(begun)
		return 0, err
	}
}

// begin counts a mail, and makes the token by which its reader joins the conversation of a hand-off whose visitor waits still. The error is
// as toldNobody says where the mail does not go out; it has changed nothing then but counts.
func (w *Worker) begin(ctx context.Context, tx *tenant.Tx, l inbox.Told, to *toldProgress, place string, now time.Time) error {
	i, p, key, err := readTold(ctx, tx, l)
	if err != nil {
		return err
	}
	s, open, err := w.joinable(ctx, tx, i, p)
	if err == nil && !open && l.Event == inbox.Called {
		err = errNobody
	}
	if err == nil {
		err = takeTold(ctx, tx, l, key, now)
	}
	if err != nil || !open {
		return err
	}
	c := session.Colleague{ID: id.NewStaff(), Name: staffName(p), Mode: session.Takeover, Called: true}
	token, err := session.Invite(ctx, tx, s, c, activity.Actor{By: p.ID.String(), At: now})
	if err != nil {
		return err
	}
	to.Staff, to.Sealed = c.ID, w.Vault.Seal(place, []byte(token))
	return nil
}

// wayIn is where one of the team joins, from now on for as long as links are good; empty where nobody is waited for any more.
func (w *Worker) wayIn(ctx context.Context, tx *tenant.Tx, i inbox.Item, p person.Person, of toldProgress, place string) (string, error) {
	if of.Staff.IsZero() {
		return "", nil
	}
	s, open, err := w.joinable(ctx, tx, i, p)
	if err != nil || !open {
		return "", err
	}
	if good, err := session.StillInvited(ctx, tx, s, of.Staff, w.Clock.Now().UTC().Truncate(time.Microsecond)); err != nil || !good {
		return "", err
	}
	token, err := w.Vault.Open(place, of.Sealed)
	if err != nil {
		return "", err
	}
	return w.JoinURL(s.ID, string(token)), nil
}

// joinable is the session of a hand-off whose visitor waits still; false where they do not, or the person may not join it.
func (w *Worker) joinable(ctx context.Context, tx *tenant.Tx, i inbox.Item, p person.Person) (s session.Session, open bool, err error) {
	if w.JoinURL == nil {
		return s, false, nil
	}
	if joins, err := i.Joins(ctx, tx, p.ID); err != nil || !joins {
		return s, false, err
	}
	s, err = session.Lock(ctx, tx, i.Session)
	if errdefs.IsAbsent(err, session.Noun) {
		return s, false, nil
	}
	return s, err == nil && s.HasWayIn(), err
}

// longestStaffName is in characters, as for those who are let in by hand.
const longestStaffName = 80

// staffName is what a visitor is shown of one of the team.
func staffName(p person.Person) string {
	name := []rune(session.ShownName(p.Name))
	return cmp.Or(string(name[:min(len(name), longestStaffName)]), "Team")
}

// takeTold counts a mail to one of the team. Half of an hour's calls are kept for conversations that nobody was called for
// yet: a few visitors who ask again and again take away nobody else's call.
func takeTold(ctx context.Context, tx *tenant.Tx, l inbox.Told, key string, at time.Time) error {
	of, all, part := told, everyMember, int64(1)
	if l.Event == inbox.Called {
		of, all = called, everyCalled
	}
	if l.Again {
		part = 2
	}
	if err := take(ctx, tx, recipient(of, id.Portal{}, key), perMember/part, at); err != nil {
		return err
	}
	return take(ctx, tx, all, perTeam/part, at)
}

// toldMessage is a mail about an item.
func toldMessage(j id.Job, i inbox.Item, e inbox.Event, to, language, from, join string) (mail.Message, error) {
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
	paragraphs := []string{subject + ". " + say(string(e)), strings.Join(facts, "\n")}
	if join != "" {
		paragraphs = []string{paragraphs[0], say("join") + ":\n" + join, paragraphs[1]}
	}
	s := htmlMail{Language: code, Direction: "ltr", Paragraphs: paragraphs, From: from}
	if code == "ar" {
		s.Direction = "rtl"
	}
	var html strings.Builder
	err := page.ExecuteTemplate(&html, "reply.html", s)
	return mail.Message{
		ID: j.String(), To: to, Subject: subject, Language: code, Text: strings.Join(s.Paragraphs, "\n\n") + "\n", HTML: html.String(),
	}, err
}
