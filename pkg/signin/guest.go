package signin

import (
	"context"
	"errors"
	"strings"

	"visavis.dev/pkg/admission"
	"visavis.dev/pkg/caselink"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/door"
	"visavis.dev/pkg/escalation"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/person"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

// Guest is somebody who is in, with what is known of them now.
type Guest struct {
	Org id.Org
	Visit
	// Name is what they are called; empty where nobody knows.
	Name string
	// Sits is the person; zero for somebody without a place.
	Sits person.Person
	// Language is that of the chat or the case they come for; empty for any.
	Language string
	// Told is what the avatar is told of why they come.
	Told string
}

// Find finds who is in on a portal by the secret that a browser holds. Whoever would
// not be let in any more is not in any more: the error is a Refusal then.
func (g *Gate) Find(ctx context.Context, p id.Portal, s Secret) (Guest, error) {
	org, ok := s.Org()
	if !ok {
		return Guest{}, refuse(VisitEnded)
	}
	in := Guest{Org: org}
	err := g.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		v, ok, err := findVisit(ctx, tx, s, g.Clock.Now())
		if err != nil {
			return err
		}
		if !ok || v.Portal != p {
			return refuse(VisitEnded)
		}
		in.Visit = v
		e, err := g.before(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := e.open(ctx, tx, v.doorKey()); err != nil {
			return err
		}
		return in.look(ctx, tx, e)
	}, tenant.Idempotent(true))
	if errors.Is(err, directory.ErrUnknown) {
		err = refuse(VisitEnded)
	}
	return in, asRefusal(err)
}

// doorKey is the door that a visit goes by.
func (v *Visit) doorKey() door.Key {
	if v.Door == ByEscalation || v.Door == ByCase {
		return door.Customers
	}
	return door.Key(v.Door)
}

// look reads what is known of the guest now, and refuses who may not be in.
func (in *Guest) look(ctx context.Context, tx *tenant.Tx, e *entrance) (err error) {
	in.Name = in.Details.Name
	switch {
	case !in.Membership.IsZero():
		var sits person.Standing
		sits, err = person.Seat(ctx, tx, in.Portal, in.Person, in.Membership, e.now)
		in.Sits, in.Name = sits.Person, sits.Person.Name
	case !in.Escalation.IsZero():
		err = in.lookAtChat(ctx, tx, e)
	case !in.CaseLink.IsZero():
		err = in.lookAtCase(ctx, tx, e)
	}
	return err
}

// lookAtChat refuses whoever comes too late: of a conversation that began then, nobody
// would be told how it ended.
func (in *Guest) lookAtChat(ctx context.Context, tx *tenant.Tx, e *entrance) error {
	chat, err := escalation.Find(ctx, tx, in.Escalation)
	switch {
	case err != nil:
		return err
	case chat.State == escalation.Declined:
		return refuse(LinkRevoked)
	case chat.State == escalation.Completed:
		return refuse(LinkUsedUp)
	case chat.State == escalation.Expired, chat.State == escalation.Waiting && !e.now.Before(chat.ExpiresAt):
		return refuse(LinkExpired)
	}
	in.Language = chat.Language
	var b strings.Builder
	b.WriteString("The conversation continues a chat.\n")
	if chat.Reason != nil {
		b.WriteString("Why it was handed over: " + *chat.Reason + "\n")
	}
	if chat.Context.Summary != nil {
		b.WriteString("In short: " + *chat.Context.Summary + "\n")
	}
	for _, line := range chat.Context.Transcript {
		b.WriteString(line.Speaker + ": " + line.Text + "\n")
	}
	in.Told = ending(b.String())
	return nil
}

func (in *Guest) lookAtCase(ctx context.Context, tx *tenant.Tx, e *entrance) error {
	l, err := caselink.Find(ctx, tx, in.CaseLink)
	if err != nil {
		return err
	}
	in.Language, in.Told = l.Language, "The conversation is about a case: "+l.Title+"\n"+l.Summary
	if l.Contact != nil && l.Contact.Name != nil {
		in.Name = *l.Contact.Name
	}
	return l.Good(e.now)
}

// mostTold bounds what the avatar is told, in characters.
const mostTold = 8000

// ending is the end of a text: of a chat, what was said last matters most.
func ending(text string) string {
	runes := []rune(text)
	return string(runes[max(0, len(runes)-mostTold):])
}

// Request is the session that the guest may ask for; what they choose themselves,
// and the organisation, is the caller's to add.
func (in *Guest) Request() admission.Request {
	r := admission.Request{
		Source: session.FromPortal, Portal: in.Portal, Person: in.Person, Membership: in.Membership, Escalation: in.Escalation,
		CaseLink: in.CaseLink, Door: string(in.doorKey()), Language: in.Language, Context: in.Told, Collected: map[string]string{},
		AllowedOrigins: in.Details.AllowedOrigins,
	}
	if in.Details.Subject != nil {
		r.Subject = *in.Details.Subject
	}
	switch {
	case in.Door == string(door.Embed):
		r.Source = session.FromEmbed
	case !in.Escalation.IsZero():
		r.Kind = session.Escalation
	case !in.CaseLink.IsZero():
		r.Kind = session.Case
	}
	if in.Membership.IsZero() {
		for name, value := range map[string]string{"name": in.Details.Name, "email": in.Details.Email, "phone": in.Details.Phone} {
			if value != "" {
				r.Collected[name] = value
			}
		}
	}
	return r
}
