package admission

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// stage is where a session takes place and who comes, as far as either is known.
type stage struct {
	// candidate is whose job interview it is; nil for none.
	candidate *candidate.Candidate
	// set is what the candidate is asked, and asked what it says.
	set   question.Set
	asked question.Document
	// named is the member of the request that says who speaks.
	named string
	// portal is as it was published; nil away from any.
	portal *portal.Version
	// subjectBase is the pack of what the portal's subjects teach.
	subjectBase *id.KnowledgeBase
	// subject is taught from content.
	subject *subject.Subject
	content subject.Content
	version int64
	// person is zero for somebody unknown.
	person person.Person
	// unit is that of the person's place; zero for none.
	unit id.Unit
	// guardian is how things stand with the consent of the person's guardian to their place.
	guardian person.Guardian
	// assignment is what the session is part of, and part the person's of it; nil for none.
	assignment *assignment.Assignment
	part       *assignment.Progress
	// needs is how much a question of a practice is needed; nil where nothing is known.
	needs func(subject.Question) float64
}

// stage finds the portal, the subject and the person of a request, and completes
// the request by them.
func (d *Desk) stage(ctx context.Context, tx *tenant.Tx, r *Request, now time.Time) (stage, error) {
	at := stage{named: "personaId"}
	if !r.Candidate.IsZero() {
		if err := at.apply(ctx, tx, r, now); err != nil {
			return at, err
		}
	}
	if !r.Portal.IsZero() {
		at.named = "portalId"
	}
	if !r.Subject.IsZero() {
		at.named = "subjectId"
		if err := at.teach(ctx, tx, r); err != nil {
			return at, err
		}
	}
	if !r.Portal.IsZero() {
		if err := at.open(ctx, tx, r); err != nil {
			return at, err
		}
	}
	return at, at.seat(ctx, tx, r, now)
}

// teach finds the subject of a request, as it was published.
func (at *stage) teach(ctx context.Context, tx *tenant.Tx, r *Request) error {
	s, err := subject.Find(ctx, tx, r.Subject)
	switch {
	case errdefs.IsNotFound(err, subject.Noun), err == nil && !r.Portal.IsZero() && r.Portal != s.Portal:
		return problem.Missing("subject").WithParam("subjectId")
	case err != nil:
		return err
	case s.State == subject.Archived:
		return problem.New(problem.Gone, "The subject is archived.").WithParam("subjectId")
	case s.State != subject.Published || s.PublishedVersion == nil:
		return problem.Conflicting("not_published", "The subject is not published.").WithParam("subjectId")
	}
	version := *s.PublishedVersion
	if at.candidate != nil {
		version = at.set.SubjectVersion
	}
	v, err := subject.FindVersion(ctx, tx, s.ID, version)
	at.subject, at.content, at.version, r.Portal = &s, v.Content, v.Version, s.Portal
	return err
}

// open finds the portal of a request, as it was published.
func (at *stage) open(ctx context.Context, tx *tenant.Tx, r *Request) error {
	if err := r.Allow("portals"); err != nil {
		return err
	}
	p, err := portal.Find(ctx, tx, r.Portal)
	switch {
	case errdefs.IsNotFound(err, portal.Noun):
		return problem.Missing("portal").WithParam(at.named)
	case err != nil:
		return err
	case p.State == portal.Archived:
		return problem.New(problem.Gone, "The portal is archived.").WithParam(at.named)
	case p.State != portal.Published || p.PublishedVersion == nil:
		return problem.Conflicting("not_published", "The portal is not published.").WithParam(at.named)
	}
	v, err := portal.FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
	at.portal, at.subjectBase, r.Persona = &v, p.Definition.SubjectBaseID, v.Persona
	if at.subject != nil && at.subject.Definition.PersonaID != nil {
		r.Persona = *at.subject.Definition.PersonaID
	}
	return err
}

// seat finds the person of a request, and their place on the portal. Neither is
// erased or switched off until the commit.
func (at *stage) seat(ctx context.Context, tx *tenant.Tx, r *Request, now time.Time) error {
	if r.Person.IsZero() {
		return nil
	}
	if err := person.Keep(ctx, tx, r.Portal, r.Person); err != nil {
		return err
	}
	if at.portal == nil {
		var err error
		at.person, err = person.Find(ctx, tx, r.Person)
		if err == nil && at.person.State == person.Disabled {
			err = &person.StandingError{Reason: person.PersonDisabled}
		}
		return personProblem(err)
	}
	sits, err := person.Seat(ctx, tx, r.Portal, r.Person, r.Membership, now)
	at.person, at.unit, r.Membership, at.guardian = sits.Person, sits.Membership.Unit, sits.Membership.ID, sits.Guardian
	return personProblem(err)
}

// recorded is what is wished of the session's recording: by who asks for it, or by its portal.
func (at *stage) recorded(wanted bool) session.Wish {
	return session.Wish{
		Wanted: wanted, Offered: at.portal != nil && at.portal.Definition.Privacy.Recordings,
		Minor: at.person.AgeBand.Minor(), Guardian: at.guardian.By(consent.ToRecord),
	}
}

// personProblem says what the errors of person.Seat are to a caller.
func personProblem(err error) error {
	if errdefs.IsAbsent(err, person.Noun) {
		return problem.Missing("person").WithParam("personId")
	}
	if stands, ok := errors.AsType[*person.StandingError](err); ok {
		return problem.Conflicting(string(stands.Reason), "%s", stands.Error()).WithParam("personId")
	}
	return err
}
