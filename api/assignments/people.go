package assignments

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

const states = "started and completed follow from what was done; overdue is who is not done though it is due, unless what they did in time " +
	"waits to be released. Nothing of an assessment shows here before its result is released but that it was begun."

func (a *API) registerPeople(s *route.Service) {
	list := route.Operation{
		ID: "listAssignmentProgress", Group: "Assignments", Method: http.MethodGet, Path: "/assignments/{id}/progress", Class: "read",
		Scope: scope.AssignmentsRead, Items: contract.AssignmentProgressItem, Since: contract.V20261001,
		Summary: "How far each person got with an assignment", Description: "Whoever was added last comes first. S" + states[1:],
	}
	route.List(s, list, a.listProgress)

	mine := list
	mine.ID, mine.Path, mine.Summary = "listPersonAssignments", "/people/{id}/assignments", "What is set for a person, newest first"
	mine.Description, mine.Errors = "Archived ones are listed where their state is asked for. S"+states[1:], []problem.Code{problem.Gone}
	route.List(s, mine, a.listMine)

	grant := list
	grant.ID, grant.Method, grant.Path, grant.Class = "grantAttempts", http.MethodPost, "/assignments/{id}/attempts", "write"
	grant.Scope, grant.Items, grant.Status, grant.Idempotent = scope.AssignmentsWrite, contract.AttemptGrantItem, http.StatusCreated, true
	grant.Errors = []problem.Code{problem.Conflict, problem.Gone}
	grant.Summary = "Give a person further attempts"
	grant.Description = "They add to those that everybody has, and to those that were granted before. Where any number is allowed it is 409 conflict " +
		"with the reason unlimited_attempts, for somebody whom the assignment is not for not_assigned."
	route.Handle(s, grant, a.grant)

	excuse := grant
	excuse.ID, excuse.Path, excuse.Items, excuse.Status, excuse.Idempotent = "excuseFromAssignment", "/assignments/{id}/excuse", contract.AssignmentProgressItem, 0, false
	excuse.Summary = "Excuse a person from an assignment, or end that"
	excuse.Description = "Who is excused is in none of its figures, is not reminded, and their sessions are not part of it."
	route.Handle(s, excuse, a.excuse)

	remind := grant
	remind.ID, remind.Path, remind.Items, remind.Status, remind.Idempotent = "remindOfAssignment", "/assignments/{id}/remind", "", http.StatusAccepted, false
	remind.Errors = []problem.Code{problem.Conflict}
	remind.Summary = "Remind the people who are not done, by mail"
	remind.Description = "Nobody is reminded of an assignment twice in a day of theirs, by this or by itself. Whoever has no address, cannot come in, or is " +
		"done when the mail is sent gets none. Where no mail is sent it is 409 conflict with the reason mail_off, where it is not open assignment_not_open."
	route.Handle(s, remind, a.remind)
}

// Progress is how far a person got with an assignment.
type Progress struct {
	AssignmentID    id.Assignment       `json:"assignmentId" doc:"The assignment."`
	PersonID        id.Person           `json:"personId" doc:"Whom it is for."`
	MembershipID    id.Membership       `json:"membershipId" doc:"The place in the portal by which it is."`
	State           assignment.Standing `json:"state" enum:"not_started,started,completed,overdue,excused" doc:"How far they got."`
	Attempts        int64               `json:"attempts" doc:"How many attempts they made that count."`
	AttemptsAllowed *int64              `json:"attemptsAllowed" doc:"How many they have by the assignment, with those that were granted; null where it leaves that to the subject."`
	ExtraAttempts   int64               `json:"extraAttempts" doc:"How many were granted to them."`
	ResultID        *id.Result          `json:"resultId" nullable:"true" doc:"The result that it was completed by, or else the latest; null for none."`
	CompletionID    *id.Completion      `json:"completionId" nullable:"true" doc:"The completion that it was completed by, or that rests on its result; null for none."`
	StartedAt       *time.Time          `json:"startedAt" doc:"When they began, in UTC; null before."`
	CompletedAt     *time.Time          `json:"completedAt" doc:"When they did what completed it, in UTC; null before."`
	Late            bool                `json:"late" doc:"Whether it was completed after it was due, or is due and was not."`
	ExcuseReason    *string             `json:"excuseReason" doc:"Why they are excused; null where they are not, or nobody said."`
}

func showProgress(p assignment.Progress, allowed *int64) Progress {
	return Progress{
		AssignmentID: p.Assignment, PersonID: p.Person, MembershipID: p.Membership, State: p.State, Attempts: p.Attempts,
		AttemptsAllowed: p.Allowed(allowed), ExtraAttempts: p.Extra, ResultID: p.Result.OrNil(), CompletionID: p.Completion.OrNil(),
		StartedAt: route.UTC(p.StartedAt), CompletedAt: route.UTC(p.CompletedAt), Late: p.Late, ExcuseReason: p.ExcuseReason,
	}
}

// ProgressQuery filters and pages the people of an assignment.
type ProgressQuery struct {
	Path
	route.Paging
	State string `query:"state" maxLength:"100" doc:"One or more of not_started, started, completed, overdue and excused, separated by commas."`
}

func (a *API) listProgress(ctx context.Context, c *route.Call, q *ProgressQuery) (route.Page[Progress], error) {
	which, err := q.assignment()
	if err != nil {
		return route.Page[Progress]{}, err
	}
	found, err := assignment.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return route.Page[Progress]{}, err
	}
	return route.Listed(c, q.Paging, func(after id.Person, limit int) ([]assignment.Progress, error) {
		states, err := route.Several("state", q.State, assignment.Standings())
		if err != nil {
			return nil, err
		}
		return assignment.ListProgress(ctx, a.Tenants, c.Org(), which, assignment.ProgressFilter{States: states}, after, limit)
	}, func(p assignment.Progress) id.Person { return p.Person },
		func(p assignment.Progress) Progress { return showProgress(p, found.AttemptsAllowed) })
}

// PersonAssignment is what is set for a person, and how far they got.
type PersonAssignment struct {
	Progress
	Title           string           `json:"title" doc:"What it is called."`
	SubjectID       id.Subject       `json:"subjectId" doc:"What it is about."`
	PortalID        id.Portal        `json:"portalId" doc:"The subject's portal."`
	Kind            assignment.Kind  `json:"kind" enum:"learn,practice,assess" doc:"How it is done."`
	AssignmentState assignment.State `json:"assignmentState" enum:"scheduled,open,closed,archived" doc:"Where the assignment itself stands."`
	Required        bool             `json:"required" doc:"Whether it must be done."`
	OpensAt         *time.Time       `json:"opensAt" doc:"When it opens, in UTC; null for at once."`
	DueAt           *time.Time       `json:"dueAt" doc:"When it is due, in UTC; null for never."`
	ClosesAt        *time.Time       `json:"closesAt" doc:"When it closes, in UTC; null for never."`
}

// PersonQuery names a person, and filters and pages what is set for them.
type PersonQuery struct {
	ID string `path:"id" doc:"The person's id, with or without per_."`
	route.Paging
	State string `query:"state" maxLength:"100" doc:"One or more of scheduled, open, closed and archived, separated by commas; all but archived unless given."`
}

func (a *API) listMine(ctx context.Context, c *route.Call, q *PersonQuery) (route.Page[PersonAssignment], error) {
	who, err := route.Lookup(id.ParsePerson, q.ID, "person")
	if err != nil {
		return route.Page[PersonAssignment]{}, err
	}
	if _, _, err := person.Get(ctx, a.Tenants, c.Org(), who, c.Now()); err != nil {
		return route.Page[PersonAssignment]{}, err
	}
	return route.Listed(c, q.Paging, func(after id.Assignment, limit int) ([]assignment.Part, error) {
		states, err := route.Several("state", q.State, assignment.States())
		if err != nil {
			return nil, err
		}
		return assignment.OfPerson(ctx, a.Tenants, c.Org(), who, states, after, limit)
	}, func(p assignment.Part) id.Assignment { return p.Assignment.ID }, showPart)
}

func showPart(p assignment.Part) PersonAssignment {
	x := p.Assignment
	return PersonAssignment{
		Progress: showProgress(p.Progress, x.AttemptsAllowed), Title: x.Title, SubjectID: x.Subject, PortalID: x.Portal, Kind: x.Kind,
		AssignmentState: x.State, Required: x.Required, OpensAt: route.UTC(x.OpensAt), DueAt: route.UTC(x.DueAt), ClosesAt: route.UTC(x.ClosesAt),
	}
}

// AttemptGrant is further attempts that a person was given.
type AttemptGrant struct {
	ID            id.AttemptGrant `json:"id" doc:"Id of the grant, with the prefix grant_."`
	PersonID      id.Person       `json:"personId" doc:"Who was given them."`
	SubjectID     id.Subject      `json:"subjectId" doc:"The assignment's subject."`
	AssignmentID  id.Assignment   `json:"assignmentId" doc:"The assignment."`
	ExtraAttempts int64           `json:"extraAttempts" doc:"How many."`
	Reason        *string         `json:"reason" doc:"Why; null where nobody said."`
	GrantedBy     string          `json:"grantedBy" doc:"The id of the key that did."`
	CreatedAt     time.Time       `json:"createdAt" doc:"When, in UTC."`
}

// GrantInput is the request for further attempts.
type GrantInput struct {
	Path
	Body GrantBody
}

// GrantBody says who is given how many, and why.
type GrantBody struct {
	PersonID      string  `json:"personId" minLength:"1" maxLength:"80" doc:"Who is given them."`
	ExtraAttempts int64   `json:"extraAttempts" minimum:"1" maximum:"100" doc:"How many."`
	Reason        *string `json:"reason,omitempty" minLength:"1" maxLength:"2000" nullable:"true" doc:"Why, for whoever reads the grant."`
}

// atPerson names the input that is at fault.
func atPerson(err error) error {
	if errdefs.IsAbsent(err, person.Noun) {
		return route.At(err, "body.personId")
	}
	return err
}

func parsePerson(s string) (id.Person, error) {
	who, err := id.ParsePerson(s)
	if err != nil {
		return who, problem.Missing("person").WithParam("body.personId")
	}
	return who, nil
}

func (a *API) grant(ctx context.Context, c *route.Call, in *GrantInput) (AttemptGrant, error) {
	which, err := in.assignment()
	if err != nil {
		return AttemptGrant{}, err
	}
	who, err := parsePerson(in.Body.PersonID)
	if err != nil {
		return AttemptGrant{}, err
	}
	g := assignment.AttemptGrant{Assignment: which, Person: who, Extra: in.Body.ExtraAttempts, Reason: in.Body.Reason}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (AttemptGrant, error) {
		g, err := assignment.Grant(ctx, tx, g, c.Actor())
		return AttemptGrant{
			ID: g.ID, PersonID: g.Person, SubjectID: g.Subject, AssignmentID: g.Assignment, ExtraAttempts: g.Extra, Reason: g.Reason,
			GrantedBy: g.GrantedBy, CreatedAt: g.CreatedAt.UTC(),
		}, atPerson(err)
	})
}

// ExcuseInput is the request to excuse a person.
type ExcuseInput struct {
	Path
	Body ExcuseBody
}

// ExcuseBody says who is excused, and why.
type ExcuseBody struct {
	PersonID string          `json:"personId" minLength:"1" maxLength:"80" doc:"Who is excused."`
	Excused  route.Opt[bool] `json:"excused,omitzero" doc:"true unless given; false ends it."`
	Reason   *string         `json:"reason,omitempty" minLength:"1" maxLength:"2000" nullable:"true" doc:"Why, for whoever reads the progress."`
}

func (a *API) excuse(ctx context.Context, c *route.Call, in *ExcuseInput) (Progress, error) {
	which, err := in.assignment()
	if err != nil {
		return Progress{}, err
	}
	who, err := parsePerson(in.Body.PersonID)
	if err != nil {
		return Progress{}, err
	}
	on := !in.Body.Excused.Set || in.Body.Excused.Value
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Progress, error) {
		p, err := assignment.Excuse(ctx, tx, which, who, on, in.Body.Reason, c.Actor())
		if err != nil {
			return Progress{}, atPerson(err)
		}
		found, err := assignment.Read(ctx, tx, which)
		return showProgress(p, found.AttemptsAllowed), err
	})
}

// RemindInput is the request to remind people.
type RemindInput struct {
	Path
	Body RemindBody
}

// RemindBody says who is reminded.
type RemindBody struct {
	PersonIDs []string `json:"personIds,omitempty" maxItems:"200" doc:"Those of these people who are not done; everybody who is not unless given."`
}

// Reminded is how many people are to be reminded.
type Reminded struct {
	AssignmentID id.Assignment `json:"assignmentId" doc:"The assignment."`
	People       int64         `json:"people" doc:"How many people are not done, of those who were named, or of all. Each is reminded soon, unless they were today."`
}

func (a *API) remind(ctx context.Context, c *route.Call, in *RemindInput) (Reminded, error) {
	which, err := in.assignment()
	if err != nil {
		return Reminded{}, err
	}
	whom := make([]id.Person, len(in.Body.PersonIDs))
	for i, s := range in.Body.PersonIDs {
		if whom[i], err = id.ParsePerson(s); err != nil {
			return Reminded{}, problem.Missing("person").WithParam("body.personIds")
		}
	}
	if a.Gate == nil || a.Gate.Mails == nil {
		return Reminded{}, problem.Conflicting("mail_off", "This deployment sends no mail.")
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Reminded, error) {
		found, err := assignment.Lock(ctx, tx, which)
		if err != nil {
			return Reminded{}, err
		}
		n, err := assignment.Remind(ctx, tx, found, whom, c.Actor())
		return Reminded{AssignmentID: which, People: n}, err
	})
}
