package portal

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/web/page"
)

// Hold implements page.Conversations.
func (t talks) Hold(ctx context.Context, site *published.Site, which id.Session) error {
	return t.options.Backend.Tenants.InTx(ctx, site.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return session.KeepPlace(ctx, tx, which, t.options.Backend.Options.Clock.Now().UTC())
	})
}

// Join implements page.Conversations: it finds what a client's token opens. It tells nobody
// without one that the session exists.
func (t talks) Join(ctx context.Context, which id.Session, token string) (page.Joined, error) {
	org, in, err := session.Admit(ctx, t.options.Backend.Tenants, which, session.Token(token))
	s := in.Session
	switch {
	case errdefs.IsNotFound(err, session.Noun), err == nil && !in.Staff.IsZero():
		return page.Joined{}, page.ErrNoSession
	case err != nil:
		return page.Joined{}, err
	case s.State == session.Expired && s.EndReason == nil, !s.State.Over() && in.Expired(t.options.Backend.Options.Clock.Now()):
		return page.Joined{}, page.ErrLate
	}
	who, err := persona.GetVersion(ctx, t.options.Backend.Tenants, org, s.Persona, s.PersonaVersion)
	if err != nil {
		return page.Joined{}, err
	}
	transport, err := t.transport(ctx, org, s)
	if err != nil {
		return page.Joined{}, err
	}
	j := page.Joined{
		Ticket: page.Ticket{
			Session: page.TicketSession{ID: s.ID, Language: s.Language}, Token: token, ConnectBy: s.ConnectBy, Transport: transport,
		},
		Site: &published.Site{Org: org, Speaker: published.Speaker{
			Name: who.Name, Avatar: s.Avatar, Hosts: hosts(s), Disclosure: who.Definition.Disclosure.Text,
		}},
		Channel: s.Channel, Began: s.StartedAt != nil,
	}
	if s.EndReason != nil {
		j.EndReason = string(*s.EndReason)
	}
	return j, nil
}

// hosts are those of the duo who speaks in a session; none where one alone does.
func hosts(s session.Session) []persona.Host {
	if s.Brief.Duo == nil {
		return nil
	}
	return s.Brief.Duo.Hosts
}

// roomWithin is how long a token lets into a room: the page asks for one each time before it enters.
const roomWithin = time.Minute

// transport is where the page of a session connects.
func (t talks) transport(ctx context.Context, org id.Org, s session.Session) (page.Transport, error) {
	if s.Transport != session.LiveKit {
		return page.Transport{Kind: s.Transport, URL: t.options.Backend.Options.SocketURL() + live.Path + s.ID.String()}, nil
	}
	if s.State.Over() {
		return page.Transport{Kind: s.Transport}, nil
	}
	media, err := t.options.Minds.Connections.Open(ctx, org, s.Media)
	switch {
	case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
		return page.Transport{}, page.ErrNoSession
	case err != nil:
		return page.Transport{}, err
	}
	token, err := media.MediaKey().VisitorToken(media.MediaRoom(s.ID), t.options.Backend.Options.Clock.Now(), roomWithin)
	return page.Transport{Kind: s.Transport, URL: media.MediaURL(), Token: token}, err
}
