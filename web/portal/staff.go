package portal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/web/page"
)

// JoinStaff implements page.Conversations: it finds what a team member's token opens. It tells
// nobody without one that the session exists, and of one that is over only why.
func (t talks) JoinStaff(ctx context.Context, which id.Session, token string) (page.Joining, error) {
	tenants, now := t.options.Backend.Tenants, t.options.Backend.Options.Clock.Now()
	org, in, err := session.Admit(ctx, tenants, which, session.Token(token))
	s := in.Session
	switch {
	case errdefs.IsNotFound(err, session.Noun), err == nil && (in.Staff.IsZero() || !s.WordsRead() && !s.KeptNoWords()):
		return page.Joining{}, page.ErrNoSession
	case err != nil:
		return page.Joining{}, err
	}
	j := page.Joining{
		Ticket: page.Ticket{
			Session: page.TicketSession{ID: s.ID, Language: s.Language}, Token: token,
			Transport: page.Transport{Kind: session.WebSocket, URL: t.options.Backend.Options.SocketURL() + live.Path + s.ID.String()},
		},
		Visitor: page.Visitor{Told: []page.Told{}},
	}
	if s.State.Over() {
		if s.EndReason != nil {
			j.EndReason = string(*s.EndReason)
		}
		j.EndReason = cmp.Or(j.EndReason, "other")
		return j, nil
	}
	who, err := session.Invited(ctx, tenants, org, s.ID, in.Staff)
	switch {
	case err != nil:
		return page.Joining{}, err
	case in.Expired(now) && who.JoinedAt != nil:
		return page.Joining{}, page.ErrUsed
	case in.Expired(now):
		return page.Joining{}, page.ErrLate
	case in.Attended != "":
		return page.Joining{}, &page.Attended{Name: in.Attended}
	}
	speaker, err := persona.GetVersion(ctx, tenants, org, s.Persona, s.PersonaVersion)
	if err != nil {
		return page.Joining{}, err
	}
	j.Name, j.Mode, j.Speaker = who.Name, who.Mode, speaker.Name
	j.Visitor, err = t.visitor(ctx, org, s)
	return j, err
}

// visitor is who talks in a session, as far as it says.
func (t talks) visitor(ctx context.Context, org id.Org, s session.Session) (page.Visitor, error) {
	tenants := t.options.Backend.Tenants
	v := page.Visitor{
		ExternalID: s.ExternalID, Language: s.Language, Source: s.Source, Channel: s.Channel, BeganAt: s.StartedAt, Told: []page.Told{},
	}
	if !s.Person.IsZero() {
		p, _, err := person.Get(ctx, tenants, org, s.Person, t.options.Backend.Options.Clock.Now())
		if err != nil && !errdefs.IsAbsent(err, person.Noun) {
			return v, err
		}
		if p.Name != "" {
			v.Name = &p.Name
		}
	}
	handoff, err := inbox.FindHandoff(ctx, tenants, org, s.ID)
	if err != nil {
		return v, err
	}
	if handoff != nil && handoff.Contact != nil {
		c := handoff.Contact
		v.Name, v.Email, v.Phone, v.Company = cmp.Or(v.Name, c.Name), c.Email, c.Phone, c.Company
		v.Reason, v.WaitingSince = handoff.Words.Reason, handoff.WaitingSince
	}
	shown := map[string]bool{}
	for _, value := range []*string{v.Name, v.Email, v.Phone, v.Company} {
		if value != nil {
			shown[*value] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Collected)) {
		if value := s.Collected[name]; value != "" && !shown[value] && !strings.HasPrefix(name, session.AnswerTo) {
			v.Told = append(v.Told, page.Told{Name: name, Value: value})
		}
	}
	return v, nil
}
