package portal

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/signin"
	"visavis.dev/web/page"
)

// talks are the conversations of pages.
type talks struct{ *Server }

// Start implements page.Conversations.
func (t talks) Start(ctx context.Context, site *published.Site, secret string, s page.Start) (page.Ticket, error) {
	in, err := t.options.Front.Gate.Find(ctx, site.Portal, signin.Secret(secret))
	if err != nil {
		return page.Ticket{}, atDoor(err)
	}
	r := in.Request()
	// Pages may connect themselves alone, and converse in text where nothing is said aloud.
	r.AllowedOrigins = []string{s.Origin}
	r.Came = inbox.Came(s.Page, s.Referrer)
	if r.Came.URL != nil && !strings.HasPrefix(*r.Came.URL, s.Origin+"/") {
		r.Came = inbox.Source{} // it is no page of ours
	}
	if t.options.Front.Options.Speaker == nil {
		r.Channel = string(conversation.Chat)
	}
	// A chat or a case goes on in its own language, and a visit about its own subject.
	r.Language = cmp.Or(r.Language, s.Language)
	if r.Subject.IsZero() {
		r.Subject = s.Subject
	}
	if r.Assignment, r.Kind, err = t.assigned(ctx, in, r.Kind, s.Assignment); err != nil {
		return page.Ticket{}, err
	}
	if r.Organization, r.Terms, err = t.options.Backend.Organizations.Get(ctx, in.Org); err != nil {
		return page.Ticket{}, err
	}
	if err := r.Allow("personas"); err != nil {
		return page.Ticket{}, err
	}
	// Whoever is known, such as a class behind one address, is bounded by their place.
	if r.Membership.IsZero() && r.Escalation.IsZero() && r.CaseLink.IsZero() && r.Candidate.IsZero() {
		block := admission.AddressBlock(s.Address)
		if _, err := (admission.Visitors{Limiter: t.options.Front.Limiter}).Count(ctx, r.Host, site.Portal.String(), block); err != nil {
			return page.Ticket{}, err
		}
		r.Visitor = t.options.Front.Visitors.Mark(in.Org, block, t.options.Backend.Options.Clock.Now()).String()
	}
	var made session.Minted
	err = t.options.Backend.Tenants.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		if r.WebRTC, err = setting.On(ctx, tx, setting.WebRTC); err != nil {
			return err
		}
		made, err = (&admission.Desk{Library: t.options.Backend.Library}).Enter(ctx, tx, r, t.options.Backend.Options.Clock.Now().UTC())
		if err != nil || r.Candidate.IsZero() {
			return err
		}
		return t.options.Front.Gate.Interviewed(ctx, tx, signin.Secret(secret), made.Session.ID)
	})
	if err != nil {
		return page.Ticket{}, err
	}
	return page.Ticket{
		Session: page.TicketSession{ID: made.Session.ID, Language: made.Session.Language}, Token: string(made.Token), ConnectBy: made.Session.ConnectBy,
		Transport: page.Transport{Kind: made.Session.Transport, URL: t.options.Backend.Options.SocketURL() + live.Path + made.Session.ID.String()},
	}, nil
}

// kinds are those of the sessions that are done for assignments.
var kinds = map[assignment.Kind]string{assignment.Learn: "conversation", assignment.Practice: session.Practice, assignment.Assess: session.Assessment}

// assigned is what a guest's session is to be part of, and its kind then. Whether it is theirs,
// open, and has attempts left is asked where the session is entered.
func (t talks) assigned(ctx context.Context, in signin.Guest, kind string, named id.Assignment) (id.Assignment, string, error) {
	if named.IsZero() {
		return named, kind, nil
	}
	missing := problem.Missing("assignment").WithParam("assignmentId")
	if in.Membership.IsZero() || in.Details.Sandbox {
		return named, kind, missing
	}
	a, err := assignment.Get(ctx, t.options.Backend.Tenants, in.Org, named)
	switch {
	case errdefs.IsNotFound(err, assignment.Noun), err == nil && a.Portal != in.Portal:
		return named, kind, missing
	case err != nil:
		return named, kind, err
	}
	return named, kinds[a.Kind], nil
}

// Rate implements page.Conversations. It tells nobody without the token that the
// session exists.
func (t talks) Rate(ctx context.Context, which id.Session, token string, r page.Rating) error {
	now := t.options.Backend.Options.Clock.Now().UTC()
	org, in, err := session.Admit(ctx, t.options.Backend.Tenants, which, session.Token(token))
	switch {
	case errdefs.IsNotFound(err, session.Noun), err == nil && (!in.Staff.IsZero() || in.Expired(now) || in.Session.Kind == session.Screening):
		return problem.Missing("session")
	case err != nil:
		return err
	}
	err = t.options.Backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.Rate(ctx, tx, which, session.Rating{Score: r.Score, Scale: r.Scale, Comment: r.Comment}, now)
		return err
	})
	if errors.Is(err, session.ErrTooEarly) {
		err = problem.Conflicting("not_begun", "The session has not begun.")
	}
	return err
}
