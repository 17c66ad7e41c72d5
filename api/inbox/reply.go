package inbox

import (
	"context"
	"errors"
	"net/mail"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// ReplyInput is the request to write to a visitor.
type ReplyInput struct {
	ItemPath
	Body InboxReplyInput
}

// InboxReplyInput is what is written to a visitor.
type InboxReplyInput struct {
	Text    string `json:"text" minLength:"1" maxLength:"10000" doc:"What the visitor reads, word for word. An empty line begins a paragraph."`
	Channel string `json:"channel,omitempty" enum:"mail" doc:"mail, which it is unless given."`
	ReplyTo string `json:"replyTo,omitempty" maxLength:"254" doc:"Your mail address that answers go to; that of the deployment's sender unless given."`
}

func (a *API) reply(ctx context.Context, c *route.Call, in *ReplyInput) (InboxItem, error) {
	which, err := in.item()
	if err != nil {
		return InboxItem{}, err
	}
	if to := in.Body.ReplyTo; to != "" {
		if parsed, err := mail.ParseAddress(to); err != nil || parsed.Address != to {
			return InboxItem{}, problem.Invalid("body.replyTo", "That is no mail address.")
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxItem, error) {
		i, note, err := inbox.AddReply(ctx, tx, which, in.Body.Text, c.Actor())
		if err != nil {
			return InboxItem{}, err
		}
		if a.Gate.Mails == nil {
			return InboxItem{}, problem.Conflicting("no_mail", "This deployment sends no mail. Whoever operates it sets mail-url.").WithParam("body.channel")
		}
		err = a.Gate.Mails.SendReply(ctx, tx, i, note, in.Body.ReplyTo, c.Actor())
		switch {
		case errors.Is(err, mailer.ErrNoAddress):
			return InboxItem{}, problem.Conflicting(inbox.ReasonNoContact, "The visitor's address cannot be written to.").WithParam("path.id")
		case errors.Is(err, mailer.ErrTooMany):
			return InboxItem{}, tooManyMails()
		case err != nil:
			return InboxItem{}, err
		}
		return shown(ctx, c, tx, which)
	})
}

func tooManyMails() error {
	p := problem.New(problem.RateLimited, "As many mails as may be went to this visitor in this hour.")
	p.RetryAfter = time.Hour
	return p
}
