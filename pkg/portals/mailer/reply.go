package mailer

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// SendReply queues what the team writes to the visitor of an item, whose answers go to an address of
// the team's; empty for the deployment's own. The error is ErrNoAddress or ErrTooMany.
func (o *Outbox) SendReply(ctx context.Context, tx *tenant.Tx, i inbox.Item, n id.InboxNote, answersTo string, by activity.Actor) error {
	if i.Contact == nil || i.Contact.Email == nil {
		return ErrNoAddress
	}
	if err := takeBoth(ctx, tx, reply, i.Portal, *i.Contact.Email, by.At); err != nil {
		return err
	}
	return o.queue(ctx, tx, input{Kind: reply, Portal: i.Portal, Item: i.ID, Note: n}, answersTo, job.Job{
		ResourceKind: "inbox_item", ResourceID: i.ID.String(), Scope: scope.InboxRead, CreatedBy: by.By, CreatedAt: by.At,
	})
}

// sendReply does a job that mails a reply. Its Message-ID is the note's, so that what is sent again is
// the same message, and the next reply belongs to it.
func (w *Worker) sendReply(ctx context.Context, j job.Job, l input, before tries) (job.Step, error) {
	answersTo := ""
	if l.Sealed != nil {
		opened, err := w.Vault.Open(place(j.Org, j.ID), l.Sealed)
		if err != nil {
			return nil, err
		}
		answersTo = string(opened)
	}
	var (
		m    mail.Message
		send bool
	)
	err := w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) error {
		i, n, earlier, found, err := inbox.Sent(ctx, tx, l.Item, l.Note)
		if send = found; err != nil || !found {
			return err
		}
		a := Appointment{Portal: i.Portal, Language: i.Language}
		if err := a.named(ctx, tx); err != nil {
			return err
		}
		if m, err = replyMessage(i, n, earlier, a.From); err != nil {
			return err
		}
		m.ReplyTo = answersTo
		if answersTo != "" || w.Answers == nil {
			return nil
		}
		// With zero data retention nothing of an answer would be kept: it goes to the sender's mailbox.
		zero, err := setting.On(ctx, tx, setting.ZeroRetention)
		if err == nil && !zero {
			m.ReplyTo = w.Answers.Address(j.Org, i.ID)
		}
		return err
	})
	if errdefs.IsNotFound(err, inbox.Noun) || err == nil && !send {
		return doneStep, nil
	}
	if err != nil {
		return nil, err
	}
	return w.handOver(ctx, m, before, slog.String("job", j.ID.String()))
}

// mostReferences is how many mails a thread names: mail programs know it by a few of them.
const mostReferences = 20

// replyMessage is a reply as it is sent: what somebody of the team wrote, word for word.
func replyMessage(i inbox.Item, n inbox.Note, earlier []string, from string) (mail.Message, error) {
	code := languageFor(i.Language)
	subject := phrases[code]["reply.subject"]
	if from = line(from); from != "" {
		subject = fmt.Sprintf("%s: %s", from, subject)
	}
	m := mail.Message{ID: n.ID.String(), To: *i.Contact.Email, Subject: subject, Language: code, Personal: true, Text: n.Text + "\n"}
	m.References = earlier[max(0, len(earlier)-mostReferences):]
	s := htmlMail{Language: code, Direction: "ltr", Paragraphs: strings.Split(n.Text, "\n\n"), From: from}
	if code == "ar" {
		s.Direction = "rtl"
	}
	var body strings.Builder
	err := page.ExecuteTemplate(&body, "reply.html", s)
	m.HTML = body.String()
	return m, err
}
