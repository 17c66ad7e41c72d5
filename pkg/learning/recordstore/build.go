package recordstore

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/provider/xapi"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// The types of activities: ADL's, and others in common use.
const (
	ofAssessment  = "http://adlnet.gov/expapi/activities/assessment"
	ofPractice    = "http://adlnet.gov/expapi/activities/simulation"
	ofAssignment  = "http://id.tincanapi.com/activitytype/school-assignment"
	ofCertificate = "http://activitystrea.ms/schema/1.0/badge"
	ofPortal      = "http://id.tincanapi.com/activitytype/lms"

	platform = "Visavis"
	// anyLanguage is of a title whose language is not known (RFC 5646, section 4.1).
	anyLanguage = "und"
)

// statement is what is to be said of an object now, but for its id; nil for nothing: it is not released,
// completed or valid any more, or whose it is was erased.
func (t *Teller) statement(ctx context.Context, o *connection.Opened, r *statement.Record) (*xapi.Statement, error) {
	if r.Object.Person.IsZero() {
		return nil, nil //nolint:nilnil // there is nothing to be said
	}
	who, _, err := person.Get(ctx, t.Tenants, o.Org, r.Object.Person, t.Clock.Now())
	if errdefs.IsAbsent(err, person.Noun) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, err
	}
	b := builder{Teller: t, o: o, home: strings.TrimSuffix(o.Config.Text("homePage"), "/") + "/xapi/"}
	var st *xapi.Statement
	switch r.Object.Kind {
	case statement.Result:
		st, err = b.result(ctx, id.Result(r.Object.ID))
	case statement.Assignment:
		st, err = b.assignment(ctx, id.Assignment(r.Object.ID), who.ID)
	case statement.Certificate:
		st, err = b.certificate(ctx, id.Certificate(r.Object.ID))
	}
	if st == nil || err != nil {
		return nil, err
	}
	if st.Actor, err = b.actor(ctx, &who); err != nil {
		return nil, err
	}
	st.Timestamp = st.Timestamp.UTC().Truncate(time.Millisecond)
	return st, nil
}

// actor is how somebody is called at a store: by a name that says nothing of whose it is, unless the
// connection says otherwise. The address is never told of who may be a child.
func (b *builder) actor(ctx context.Context, p *person.Person) (xapi.Agent, error) {
	home := b.o.Config.Text("homePage")
	switch b.o.Config.Text("actor") {
	case "external_id":
		if p.ExternalID != nil {
			return xapi.AsAccount(home, *p.ExternalID), nil
		}
	case "email":
		if p.Email == nil || p.AgeBand != person.Adult {
			break
		}
		young, err := b.young(ctx, p.ID)
		if err != nil {
			return xapi.Agent{}, err
		}
		if !young {
			return xapi.AsMailbox(*p.Email), nil
		}
	}
	return xapi.AsAccount(home, pseudonym(b.o, uuid.UUID(p.ID))), nil
}

// young says whether everybody is taken for a minor where somebody has a place.
func (b *builder) young(ctx context.Context, who id.Person) (bool, error) {
	var set setting.Values
	err := b.Tenants.Read(ctx, b.o.Org, func(r *tenant.Reads) {
		setting.QueueValues(r, b.o.Org, setting.Place{Portal: b.at, Person: who}, &set)
	})
	return err != nil || set.On(setting.YoungLearners), err
}

// builder makes statements for a store.
type builder struct {
	*Teller
	o *connection.Opened
	// home is what ids of activities begin with.
	home string
	// at is the portal of what the statement is of.
	at id.Portal
}

func (b *builder) portal(p id.Portal) []xapi.Object {
	b.at = p
	return []xapi.Object{xapi.Activity(b.home+"portals/"+p.String(), ofPortal, "", "")}
}

// title is what a subject is called; empty where it is not there any more.
func (b *builder) title(ctx context.Context, s id.Subject) (string, error) {
	found, err := subject.Get(ctx, b.Tenants, b.o.Org, s)
	if errdefs.IsAbsent(err, subject.Noun) {
		return "", nil
	}
	return found.Title, err
}

func (b *builder) result(ctx context.Context, which id.Result) (*xapi.Statement, error) {
	r, err := result.Get(ctx, b.Tenants, b.o.Org, which)
	if errdefs.IsNotFound(err, result.Noun) || err == nil && !r.Shown() {
		return nil, nil //nolint:nilnil // there is nothing to be said
	}
	if err != nil {
		return nil, err
	}
	title, err := b.title(ctx, r.Subject)
	if err != nil {
		return nil, err
	}
	kind, verb := ofPractice, xapi.Scored
	if r.Kind == session.Assessment {
		kind = ofAssessment
	}
	if r.Passed != nil {
		verb = xapi.Failed
		if *r.Passed {
			verb = xapi.Passed
		}
	}
	st := &xapi.Statement{
		Verb: xapi.Did(verb), Object: xapi.Activity(b.home+"subjects/"+r.Subject.String(), kind, title, anyLanguage),
		Result: &xapi.Result{Success: r.Passed, Completion: new(true)},
		Context: &xapi.Context{
			Registration: new(uuid.UUID(r.Session)), Platform: platform, Language: r.Language, Activities: &xapi.Activities{Grouping: b.portal(r.Portal)},
		},
	}
	if r.Percent != nil && r.Score != nil {
		st.Result.Score = &xapi.Score{Scaled: *r.Percent / 100, Raw: *r.Score, Max: r.MaxScore}
	}
	if !r.Assignment.IsZero() {
		st.Context.Activities.Parent = []xapi.Object{xapi.Activity(b.home+"assignments/"+r.Assignment.String(), ofAssignment, "", "")}
	}
	for _, at := range []*time.Time{r.CompletedAt, r.ReleasedAt} {
		if at != nil {
			st.Timestamp = *at
			break
		}
	}
	return st, nil
}

func (b *builder) assignment(ctx context.Context, which id.Assignment, who id.Person) (*xapi.Statement, error) {
	part, err := assignment.PartOf(ctx, b.Tenants, b.o.Org, which, who)
	if errdefs.IsNotFound(err, assignment.Noun) || err == nil && (part.Progress.State != assignment.Completed || part.Progress.CompletedAt == nil) {
		return nil, nil //nolint:nilnil // there is nothing to be said
	}
	if err != nil {
		return nil, err
	}
	a := part.Assignment
	return &xapi.Statement{
		Verb: xapi.Did(xapi.Completed), Object: xapi.Activity(b.home+"assignments/"+a.ID.String(), ofAssignment, a.Title, anyLanguage),
		Result: &xapi.Result{Completion: new(true)}, Timestamp: *part.Progress.CompletedAt,
		Context: &xapi.Context{Platform: platform, Activities: &xapi.Activities{Grouping: b.portal(a.Portal)}},
	}, nil
}

// certificate tells nothing of the certificate's number, by which anybody may see whose it is.
func (b *builder) certificate(ctx context.Context, which id.Certificate) (*xapi.Statement, error) {
	c, err := certificate.Get(ctx, b.Tenants, b.o.Org, which)
	if errdefs.IsNotFound(err, certificate.Noun) || err == nil && (c.RevokedAt != nil || c.Person.IsZero()) {
		return nil, nil //nolint:nilnil // there is nothing to be said
	}
	if err != nil {
		return nil, err
	}
	return &xapi.Statement{
		Verb: xapi.Did(xapi.Earned), Object: xapi.Activity(b.home+"subjects/"+c.Subject.String()+"/certificate", ofCertificate, c.Title, c.Language),
		Timestamp: c.IssuedAt,
		Context:   &xapi.Context{Platform: platform, Activities: &xapi.Activities{Grouping: b.portal(c.Portal)}},
	}, nil
}
