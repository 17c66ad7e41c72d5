// Package assignments declares the operations on work that is set for people (spec,
// Assignments).
package assignments

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	// Gate says whether mails are sent.
	Gate *signin.Gate
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	a.registerAssignments(s)
	a.registerPeople(s)
}

const counts = "progress.passed counts released results alone, and is null without results:read. "

func (a *API) registerAssignments(s *route.Service) {
	list := route.Operation{
		ID: "listAssignments", Group: "Assignments", Method: http.MethodGet, Path: "/assignments", Class: "read", Scope: scope.AssignmentsRead,
		Items: contract.AssignmentItem, Since: contract.V20261001, Summary: "Assignments, newest first",
		Description: counts + "Archived ones are listed where their state is asked for.",
	}
	route.List(s, list, a.list)

	get := list
	get.ID, get.Path, get.Summary, get.Description = "getAssignment", "/assignments/{id}", "One assignment with its figures", counts
	route.Handle(s, get, a.get)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createAssignment", http.MethodPost, "write", scope.AssignmentsWrite
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.NotFound}
	create.Feature = "assignments" // those that were made before go on, whatever the plan
	create.Summary = "Set work for units, people or everyone"
	create.Description = "It is for whoever learns in one of the units, or those that lie in them, for the people named, or for everyone who learns on the " +
		"subject's portal: those who are there now, and those who join while it is scheduled or open. The first 500 are entered at once, the others " +
		"soon after. Whoever is not among them any more leaves it: what they did is kept, and counts again if they come back."
	route.Handle(s, create, a.create)

	update := create
	update.ID, update.Method, update.Path, update.Status, update.Idempotent = "updateAssignment", http.MethodPatch, "/assignments/{id}", 0, false
	update.Errors = []problem.Code{problem.Conflict, problem.VersionConflict}
	update.Summary = "Change an assignment"
	update.Description = "Whose it is, and where each of them stands, is worked out anew. An archived one is 409 conflict with the reason archived."
	route.Handle(s, update, a.update)

	remove := create
	remove.ID, remove.Method, remove.Path, remove.Status, remove.Idempotent = "deleteAssignment", http.MethodDelete, "/assignments/{id}", 0, false
	remove.Items, remove.Errors = "", nil
	remove.Summary = "Archive an assignment"
	remove.Description = "Nobody begins it any more, nor does it recur. What was done stays, and it can be read. Doing so again changes nothing."
	route.Handle(s, remove, a.remove)
}

// Assignment is work that is set for people.
type Assignment struct {
	ID              id.Assignment           `json:"id" doc:"Id of the assignment, with the prefix asg_."`
	Title           string                  `json:"title" doc:"What it is called, for people; reminders name it."`
	SubjectID       id.Subject              `json:"subjectId" doc:"What it is about."`
	PortalID        id.Portal               `json:"portalId" doc:"The subject's portal."`
	Kind            assignment.Kind         `json:"kind" enum:"learn,practice,assess" doc:"learn is done with a conversation that is held to its end, practice with a practice, assess with an assessment whose released result passes; and each with a completion that is recorded by hand."`
	State           assignment.State        `json:"state" enum:"scheduled,open,closed,archived" doc:"scheduled before opensAt, open, closed from closesAt on, or archived: 90 days after that, or by hand."`
	Audience        Audience                `json:"audience" doc:"Whom it is for."`
	OpensAt         *time.Time              `json:"opensAt" doc:"When it opens, in UTC; null for at once."`
	DueAt           *time.Time              `json:"dueAt" doc:"When it is due, in UTC; null for never. It can be done late until closesAt."`
	ClosesAt        *time.Time              `json:"closesAt" doc:"When it closes, in UTC; null for never."`
	Timezone        string                  `json:"timezone" doc:"The time zone by whose calendar it recurs, and reminders of people go whose own is not known."`
	Recurring       route.OrNull[Recurring] `json:"recurring" doc:"How it recurs; null for once, and once the next one was made, which takes this along."`
	AttemptsAllowed *int64                  `json:"attemptsAllowed" doc:"How many attempts everybody has; null for as many as the subject says."`
	PassPercent     *int64                  `json:"passPercent" doc:"What it takes to pass, in percent; null for what the subject says."`
	Required        bool                    `json:"required" doc:"Whether it must be done, for your own use."`
	Reminders       []int64                 `json:"reminders" doc:"On which days before it is due people are reminded by mail, at 9 o'clock of theirs."`
	Progress        Figures                 `json:"progress" doc:"How many people it is for, and how far they got, without who is excused."`
	CreatedBy       string                  `json:"createdBy" doc:"The id of the key that made it; platform where it recurred."`
	ExternalID      *string                 `json:"externalId" doc:"The assignment's id in your own system; null where none was given."`
	Metadata        map[string]string       `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt       time.Time               `json:"createdAt" doc:"When it was made, in UTC."`
	UpdatedAt       time.Time               `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// Audience is whom an assignment is for.
type Audience struct {
	UnitIDs   []id.Unit   `json:"unitIds" doc:"Learners in these units, and in those that lie in them."`
	PersonIDs []id.Person `json:"personIds" doc:"These people, whatever their role."`
	Everyone  bool        `json:"everyone" doc:"Every learner of the portal."`
}

// Recurring is how an assignment recurs.
type Recurring struct {
	EveryMonths int64 `json:"everyMonths" minimum:"1" maximum:"120" doc:"The next one opens so many months after this one, on the same day of the month by its timezone, or on the last of a month that is too short; it is due and closes as many days later as this one. None is made for what would have opened before now."`
}

// months is after how many the next one opens; nil for never.
func (r *Recurring) months() *int64 {
	if r == nil {
		return nil
	}
	return &r.EveryMonths
}

// Figures are how many people an assignment is for, and how far they got.
type Figures struct {
	Assigned  int64  `json:"assigned" doc:"Whom it is for."`
	Started   int64  `json:"started" doc:"Those of them who began, or are done."`
	Completed int64  `json:"completed" doc:"Those who are done."`
	Overdue   int64  `json:"overdue" doc:"Those who are not, though it is due."`
	Passed    *int64 `json:"passed" doc:"Those with a released result that passed; null without results:read."`
}

func show(c *route.Call, a assignment.Assignment) Assignment {
	n := a.Counts
	shown := Assignment{
		ID: a.ID, Title: a.Title, SubjectID: a.Subject, PortalID: a.Portal, Kind: a.Kind, State: a.State,
		Audience: Audience{UnitIDs: a.Units, PersonIDs: a.People, Everyone: a.Everyone}, OpensAt: route.UTC(a.OpensAt), DueAt: route.UTC(a.DueAt),
		ClosesAt: route.UTC(a.ClosesAt), Timezone: a.Timezone, AttemptsAllowed: a.AttemptsAllowed, PassPercent: a.PassPercent, Required: a.Required,
		Reminders: a.Reminders, Progress: Figures{Assigned: n.Assigned, Started: n.Started, Completed: n.Completed, Overdue: n.Overdue},
		CreatedBy: a.CreatedBy, ExternalID: a.ExternalID, Metadata: a.Metadata, CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
	}
	if a.EveryMonths != nil {
		shown.Recurring.Value = &Recurring{*a.EveryMonths}
	}
	if c.Principal.Key.Grant().Holds(scope.ResultsRead) {
		shown.Progress.Passed = &n.Passed
	}
	return shown
}

// Path names an assignment.
type Path struct {
	ID string `path:"id" doc:"The assignment's id, with or without asg_."`
}

func (p *Path) assignment() (id.Assignment, error) {
	return route.Lookup(id.ParseAssignment, p.ID, "assignment")
}

// Query filters and pages the assignments.
type Query struct {
	route.Paging
	State     string `query:"state" maxLength:"100" doc:"One or more of scheduled, open, closed and archived, separated by commas; all but archived unless given."`
	SubjectID string `query:"subjectId" maxLength:"80" doc:"Assignments of this subject."`
	PortalID  string `query:"portalId" maxLength:"80" doc:"Assignments on this portal."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Assignment], error) {
	return route.Listed(c, q.Paging, func(after id.Assignment, limit int) ([]assignment.Assignment, error) {
		var (
			f   assignment.Filter
			err error
		)
		if f.States, err = route.Several("state", q.State, assignment.States()); err != nil {
			return nil, err
		}
		if f.Subject, err = route.QueryID(id.ParseSubject, "subjectId", q.SubjectID); err != nil {
			return nil, err
		}
		if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID); err != nil {
			return nil, err
		}
		return assignment.List(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(x assignment.Assignment) id.Assignment { return x.ID }, func(x assignment.Assignment) Assignment { return show(c, x) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Assignment, error) {
	which, err := p.assignment()
	if err != nil {
		return Assignment{}, err
	}
	found, err := assignment.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Assignment{}, err
	}
	c.SetVersion(found.Edition)
	return show(c, found), nil
}

func (a *API) remove(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	which, err := p.assignment()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		found, err := assignment.Lock(ctx, tx, which)
		if err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: which.String()}, assignment.Archive(ctx, tx, found, c.Actor())
	})
}
