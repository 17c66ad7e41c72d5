// Package admission checks all that a live session needs and enters it, whoever
// asks for it: the API, a website's widget, a portal's page.
//
// What it refuses is a problem whose Param is the name of the member of the
// request that is at fault, as the API names it ("avatarId"); where the member
// stands is the caller's to add.
package admission

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Host is the organization of a session, and what it may have.
type Host struct {
	Organization directory.Organization
	Terms        plan.Terms
}

// Allow refuses every session of an organization that is paused or whose plan
// lacks a feature.
func (h Host) Allow(features ...string) error {
	if h.Organization.PausedAt != nil {
		return problem.New(problem.AccountPaused, "The account is paused, so no session can start.")
	}
	for _, feature := range features {
		if !h.Terms.Has(feature) {
			return problem.New(problem.FeatureNotInPlan, "The plan %s does not include %s, so no session can start.", h.Terms.Plan.Name, feature).
				WithDetail("feature", feature)
		}
	}
	return nil
}

// Request is a session that is asked for. Zero fields leave it to the portal and
// the persona.
type Request struct {
	Host
	// Kind is that of the subject, or else conversation, and Channel video, unless
	// given.
	Kind, Channel string
	// WebRTC says that the client may connect over WebRTC. It has no sense with Media.
	WebRTC bool
	// Source is where the request came from, and Widget the widget, if it was one.
	Source string
	Widget id.Widget
	// Came is by which pages the user came.
	Came inbox.Source
	// Visitor marks where an anonymous visitor comes from; empty for who has a key or
	// is known.
	Visitor string
	// Portal and Subject are where the session takes place, published both. They
	// say who speaks, in the place of Persona.
	Portal  id.Portal
	Subject id.Subject
	Persona id.Persona
	// Person is who comes, if that is known. On a portal they need a place there
	// that can be used now: Membership, or any.
	Person     id.Person
	Membership id.Membership
	// Door is the one of the portal that they came in by; empty for none.
	Door string
	// Escalation or CaseLink is what the session is about, of such kinds.
	Escalation id.Escalation
	CaseLink   id.CaseLink
	// Candidate is whose job interview it is; zero for none.
	Candidate id.Candidate
	// Assignment is what it is to be part of; zero for whichever is open for the person.
	Assignment id.Assignment
	Avatar     id.Avatar
	Voice      id.Voice
	Language   string
	Bases      []id.KnowledgeBase
	// Tags are of documents: answers rest on those with one of them alone.
	Tags []string
	// Context is what a connected model is told, and Collected what is known of the
	// user beforehand.
	Context   string
	Variables map[string]string
	Greeting  *string
	Collected map[string]string
	// MaxDurationS bounds the session further than plan and persona do.
	MaxDurationS, IdleTimeoutS int64
	ExternalID                 *string
	Metadata                   map[string]string
	// AllowedOrigins are of the pages that may connect; any where there is none.
	AllowedOrigins []string
	Sandbox        bool
	// Record says that the session is to be recorded, and is not to be where it cannot.
	Record bool
	// Media is the connection to the server in whose room the session takes place; zero for
	// our own sockets.
	Media id.Connection
	// Supersedes ends so that the new session can have its place.
	Supersedes id.Session
}

// Desk enters sessions.
type Desk struct{ Library *avatar.Library }

// Enter enters the session that is asked for. It comes before whatever else the
// transaction locks: from then on others of the organization wait for a place.
func (d *Desk) Enter(ctx context.Context, tx *tenant.Tx, r Request, now time.Time) (session.Minted, error) {
	at, err := d.stage(ctx, tx, &r, now)
	if err != nil {
		return session.Minted{}, err
	}
	if err := at.prepared(ctx, tx, &r, now); err != nil {
		return session.Minted{}, err
	}
	p, err := persona.Load(ctx, tx, r.Persona)
	if errdefs.IsAbsent(err, persona.Noun) {
		err = problem.Missing("persona").WithParam(at.named)
	}
	if err != nil {
		return session.Minted{}, err
	}
	if p.Duo != nil {
		if err := r.Allow("duos"); err != nil {
			return session.Minted{}, err
		}
	}
	if err := p.Startable(now); err != nil {
		return session.Minted{}, persona.AsProblem(err)
	}
	s, err := d.plan(ctx, now, tx, p, at, r)
	if err != nil {
		return session.Minted{}, err
	}
	s.Recording = at.recorded(r.Record)
	if err := at.assign(ctx, tx, &s, r.Assignment); err != nil {
		return session.Minted{}, err
	}
	if !r.Supersedes.IsZero() {
		if err := supersede(ctx, tx, r.Supersedes, now); err != nil {
			return session.Minted{}, err
		}
	}
	if err := useMedia(ctx, tx, s); err != nil {
		return session.Minted{}, err
	}
	daily := session.Daily{OfPersona: p.Definition.Limits.DailySessions}
	if at.portal != nil {
		daily.OfPerson = at.portal.Definition.Caps.SessionsPerPersonPerDay
	}
	made, err := session.Mint(ctx, tx, s, r.Terms, daily)
	if err != nil {
		return made, asProblem(err)
	}
	if at.candidate != nil {
		return made, screening.Begin(ctx, tx, *at.candidate, made.Session, &at.set)
	}
	return made, at.score(ctx, tx, made.Session)
}

// Mint is Enter because somebody with a key asks for it.
func (d *Desk) Mint(ctx context.Context, tx *tenant.Tx, r Request, who activity.Actor) (session.Minted, error) {
	made, err := d.Enter(ctx, tx, r, who.At)
	if err != nil {
		return made, err
	}
	s := made.Session
	changes := map[string]any{"personaId": s.Persona, "portalId": nil}
	if !s.Portal.IsZero() {
		changes["portalId"] = s.Portal
	}
	who.Log(tx, "session.created", "session", s.ID, changes)
	return made, nil
}

// useMedia keeps the media connection of a session from being deleted while it is not over.
func useMedia(ctx context.Context, tx *tenant.Tx, s session.Session) error {
	if s.Media.IsZero() {
		return nil
	}
	err := connection.SetUses(ctx, tx, connection.BySession(s.ID), s.Media)
	if _, gone := errors.AsType[*connection.UnusableError](err); gone {
		return problem.Missing("connection").WithParam("mediaConnectionId")
	}
	return err
}

// supersede ends a session in another's favour.
func supersede(ctx context.Context, tx *tenant.Tx, which id.Session, now time.Time) error {
	s, err := session.Lock(ctx, tx, which)
	switch {
	case errdefs.IsNotFound(err, session.Noun):
		return problem.Missing("session").WithParam("supersedes")
	case err != nil:
		return err
	case s.Kind == session.Screening:
		return problem.New(problem.CandidateInterview, "A job interview is not superseded.").WithParam("supersedes")
	}
	_, err = session.End(ctx, tx, which, session.Ending{Reason: session.Superseded, At: now})
	return err
}

// placeAfter is when it is worth asking for a place again.
const placeAfter = 5 * time.Second

// asProblem says what the refusals of session.Mint are to a caller.
func asProblem(err error) error {
	switch {
	case errors.Is(err, session.ErrNoMinutes):
		return problem.New(problem.InsufficientMinutes, "No minutes are left, or the month's cap is reached. GET /usage shows them.")
	case errors.Is(err, session.ErrNoPlace):
		p := problem.New(problem.ConcurrencyLimit, "As many sessions are live as the organization may have.")
		p.RetryAfter = placeAfter
		return p
	case errors.Is(err, session.ErrDailyLimit):
		return problem.Conflicting("daily_sessions", "The persona has had as many sessions today as its limits allow.")
	case errors.Is(err, session.ErrPersonsDay):
		return problem.Conflicting("person_sessions", "The person has had as many sessions today as the portal's caps allow.").WithParam("personId")
	}
	return err
}
