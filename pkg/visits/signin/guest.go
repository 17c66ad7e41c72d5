package signin

import (
	"context"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
)

// Guest is somebody who is in, with what is known of them now.
type Guest struct {
	Org id.Org
	Visit
	// Name is what they are called; empty where nobody knows.
	Name string
	// Sits is the person; zero for somebody without a place.
	Sits person.Person
	// Role is what they are by the place that they came by; empty for somebody without one.
	Role person.Role
	// Language is that of the chat or the case they come for; empty for any.
	Language string
	// Applies is the candidate that they are; nil for others.
	Applies *candidate.Candidate
	// Told is what the avatar is told of why they come.
	Told string
}

// doorKey is the door that a visit goes by.
func (v *Visit) doorKey() door.Key {
	if v.Door == ByEscalation || v.Door == ByCase {
		return door.Customers
	}
	return door.Key(v.Door)
}

// look reads what is known of the guest now, and refuses who may not be in.
func (in *Guest) look(ctx context.Context, tx *tenant.Tx, e *entrance) error {
	in.Name = in.Details.Name
	switch {
	case !in.Membership.IsZero():
		sits, err := person.Seat(ctx, tx, in.Portal, in.Person, in.Membership, e.now)
		in.sit(sits)
		return err
	case !in.Escalation.IsZero():
		chat, err := escalation.Find(ctx, tx, in.Escalation)
		if err != nil {
			return err
		}
		return in.goOn(chat, e.now)
	case !in.Candidate.IsZero():
		c, err := candidate.Find(ctx, tx, in.Candidate)
		if err != nil {
			return err
		}
		v, err := candidate.FindInvite(ctx, tx, c.Invite)
		if err != nil {
			return err
		}
		return in.apply(c, v, e.now)
	case !in.CaseLink.IsZero():
		l, err := caselink.Find(ctx, tx, in.CaseLink)
		if err != nil {
			return err
		}
		return in.see(l, e.now)
	}
	return nil
}

// sit says who it is that has a place.
func (in *Guest) sit(s person.Standing) {
	in.Sits, in.Name, in.Role = s.Person, s.Person.Name, s.Membership.Role
}

// goOn has the guest go on with a chat, unless they come too late: of a conversation
// that began then, nobody would be told how it ended.
func (in *Guest) goOn(chat escalation.Escalation, now time.Time) error {
	switch {
	case chat.State == escalation.Declined:
		return refuse(LinkRevoked)
	case chat.State == escalation.Completed:
		return refuse(LinkUsedUp)
	case chat.State == escalation.Expired, chat.State == escalation.Waiting && !now.Before(chat.ExpiresAt):
		return refuse(LinkExpired)
	}
	in.Language, in.Details.Sandbox = chat.Language, chat.Sandbox
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

// apply has the guest be a candidate, while their invitation is good.
func (in *Guest) apply(c candidate.Candidate, v candidate.Invite, now time.Time) error {
	if c.LinkAt != nil && in.CreatedAt.Before(*c.LinkAt) {
		return refuse(LinkRevoked) // they came by the link before
	}
	if err := v.Good(now); err != nil {
		return err
	}
	in.Name, in.Language, in.Applies = c.Name, c.Language, &c
	return nil
}

// see has the guest come for a case, while its link is good.
func (in *Guest) see(l caselink.Link, now time.Time) error {
	in.Details.Sandbox = l.Sandbox
	in.Language, in.Told = l.Language, "The conversation is about a case: "+l.Title+"\n"+l.Summary
	if l.Contact != nil && l.Contact.Name != nil {
		in.Name = *l.Contact.Name
	}
	return l.Good(now)
}

// mostTold bounds what the avatar is told, in characters.
const mostTold = 8000

// ending is the end of a text: of a chat, what was said last matters most.
func ending(text string) string {
	runes := []rune(text)
	return string(runes[max(0, len(runes)-mostTold):])
}

// Request is the session that the guest may ask for; what they choose themselves,
// and the organization, is the caller's to add.
func (in *Guest) Request() admission.Request {
	r := admission.Request{
		Source: session.FromPortal, Portal: in.Portal, Person: in.Person, Membership: in.Membership, Escalation: in.Escalation,
		CaseLink: in.CaseLink, Candidate: in.Candidate, Door: string(in.doorKey()), Language: in.Language, Context: in.Told, Collected: map[string]string{},
		AllowedOrigins: in.Details.AllowedOrigins, Sandbox: in.Details.Sandbox,
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
