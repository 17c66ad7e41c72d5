package page

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/session"
)

// Classes are what members have to do with the learning of others (package class): each method
// is of whom a browser's secret is of. The error is ErrNoVisit of nobody with a place, class.ErrNone
// of who has no class, and errdefs.NotFound of what is not in theirs.
type Classes interface {
	// Class is who learns with them, and what is set for those: a page of one or the other.
	Class(ctx context.Context, site *published.Site, secret string, at ClassAt) (Class, error)
	// Taught is whom they teach: for whom they set work. The error can be class.ErrNone.
	Taught(ctx context.Context, site *published.Site, secret string) (Class, error)
	// Task is a page of how far their people got with an assignment.
	Task(ctx context.Context, site *published.Site, secret string, which id.Assignment, after string) (Task, error)
	// Learner is somebody of the class: a page of what is set for them, or of their attempts.
	Learner(ctx context.Context, site *published.Site, secret string, who id.Person, at LearnerAt) (Learner, error)
	// Part is their part of an assignment.
	Part(ctx context.Context, site *published.Site, secret string, who id.Person, which id.Assignment) (Part, error)
	// ChangePart changes it, as it was seen. The error can be class.ErrStale, and what package assignment says.
	ChangePart(ctx context.Context, site *published.Site, secret string, c class.PartChange, from netip.Addr) error
	// Set sets work. Sent twice with one ExternalID it is set once.
	Set(ctx context.Context, site *published.Site, secret string, a assignment.Assignment, from netip.Addr) (id.Assignment, error)
	// Waiting is a page of the results that wait for somebody, oldest first.
	Waiting(ctx context.Context, site *published.Site, secret, after string) (Waiting, error)
	// Review is a result of one of their people.
	Review(ctx context.Context, site *published.Site, secret string, which id.Result) (Reviewed, error)
	// Decide changes it, as it was seen at an edition. The error can be class.ErrStale, and what
	// package result says.
	Decide(ctx context.Context, site *published.Site, secret string, d Decision) error
}

// ClassAt is where a page of a class begins: after one of its members, or of its assignments.
type ClassAt struct{ Members, Tasks string }

// Class is who learns with somebody, and what is set for them.
type Class struct {
	Zoned
	class.Supervisor
	Members    []class.Member
	Tasks      []assignment.Assignment
	Units      []unit.Unit
	More       bool   // there are more members or units to choose from than are here
	MoreOf     string // the id of the member after whom there are more; empty for none
	MoreOfWork string // that of the assignment
}

// Task is an assignment with how far people got.
type Task struct {
	Zoned
	Assignment assignment.Assignment
	Takers     []assignment.Taker
	Next       string
	// Figures says that how many got how far may be told.
	Figures bool
}

// Waiting are results that wait for somebody.
type Waiting struct {
	Zoned
	Results []class.Waiting
	Next    string
}

// Reviewed is a result as somebody looks at it who may change it.
type Reviewed struct {
	Scored
	// Name is the learner's.
	Name string
	// Turns are what was said, as far as it is kept and may be read.
	Turns []session.Turn
	// MoreTurns says that more was said after those.
	MoreTurns bool
}

// Decision is what somebody does with a result.
type Decision struct {
	Result id.Result
	// Edition is that of the result as they saw it.
	Edition int64
	// What is scores, release, complete, void, upheld or rejected; the last two are of the
	// objection.
	What   string
	Scores []result.Rescore
	Reason string
	From   netip.Addr
}

// The inputs of the forms of a class.
const (
	inputEdition = "edition"
	inputReason  = "reason"
	inputWhy     = "why" // it does not count any more
	inputOnce    = "once"
	inputScore   = "score."
	inputSeen    = "seen." // the points as they were seen
)

// classPage shows a page of a class.
func (v *view) classPage(parts []string) error {
	err := v.someClassPage(parts)
	if errors.Is(err, class.ErrNone) {
		return errNoPage
	}
	return err
}

func (v *view) someClassPage(parts []string) error {
	switch n := len(parts); {
	case n == 0:
		return v.class()
	case n == 1 && parts[0] == "reviews":
		return v.waiting()
	case n == 2 && parts[0] == "results":
		return v.review(parts[1], flaw{})
	case n == 1 && parts[0] == "set":
		return v.setPage("")
	case n == 2 && parts[0] == "assignments":
		return v.taskPage(parts[1])
	case n == 2 && parts[0] == "learners":
		return v.learnerPage(parts[1])
	case n == 4 && parts[0] == "learners" && parts[2] == "assignments":
		return v.partPage(parts[1], parts[3], flaw{})
	}
	return errNoPage
}

// inClass does what somebody sends from a page of a class.
func (v *view) inClass(parts []string) error {
	var err error
	switch {
	case len(parts) == 1 && parts[0] == "set":
		err = v.setWork()
	case len(parts) == 3 && parts[0] == "results":
		err = v.decide(parts[1], parts[2])
	case len(parts) == 5 && parts[0] == "learners" && parts[2] == "assignments":
		err = v.changePart(parts[1], parts[3], parts[4])
	default:
		return v.taking(reading, nil)
	}
	if errors.Is(err, class.ErrNone) {
		return errNoPage
	}
	return err
}

// classBody is the page's own of a class.
type classBody struct {
	Members     []memberRow
	MoreMembers string
	Tasks       []taskRow
	MoreTasks   string
	Sets        bool
	Set, Done   string
}

// memberRow is somebody in a list.
type memberRow struct {
	URL, Name, Unit string
	Came            bool
}

// taskRow is an assignment in a list.
type taskRow struct {
	URL, Title, Subject, Kind, State string
	Due                              *moment
}

func (v *view) class() error {
	q := v.r.URL.Query()
	at := ClassAt{Members: v.after()}
	if tasks := q.Get("tasks"); len(tasks) <= longestAfter {
		at.Tasks = tasks
	}
	c, err := v.h.Classes.Class(v.r.Context(), v.site, v.secret, at)
	if err != nil {
		return err
	}
	s := v.sheet("class.title")
	body := classBody{MoreMembers: v.more("/class", c.MoreOf), Sets: c.Teaches.Any(), Set: v.at("/class/set")}
	if c.MoreOfWork != "" {
		body.MoreTasks = v.at("/class") + "?" + url.Values{"tasks": {c.MoreOfWork}}.Encode()
	}
	for _, m := range c.Members {
		body.Members = append(body.Members, memberRow{v.learnerAt(m.Person), m.Name, m.UnitName, m.Came})
	}
	for _, a := range c.Tasks {
		body.Tasks = append(body.Tasks, v.taskRow(c.Zoned, &a))
	}
	if q.Get("done") == "set" {
		body.Done = v.Say("set.done")
	}
	s.Body = body
	return v.show(http.StatusOK, "class", s)
}

func (v *view) taskRow(z Zoned, a *assignment.Assignment) taskRow {
	return taskRow{
		URL: v.at("/class/assignments/" + a.ID.String()), Title: a.Title, Subject: v.subjectCalled(a.Subject), Kind: v.Say("task." + string(a.Kind)),
		State: v.Say("task." + string(a.StateAt(z.Now))), Due: z.at(a.DueAt),
	}
}

// taskBody is the page's own of an assignment of a class.
type taskBody struct {
	taskRow
	Opens, Closes *moment
	Figures       string
	Takers        []takerBody
	Next          string
}

// takerBody is somebody's part of an assignment.
type takerBody struct {
	URL, Name, State, Attempts string
	Late                       bool
	Completed                  *moment
}

func (v *view) taskPage(text string) error {
	which, err := id.ParseAssignment(text)
	if err != nil {
		return errNoPage
	}
	t, err := v.h.Classes.Task(v.r.Context(), v.site, v.secret, which, v.after())
	if err != nil {
		return err
	}
	s := v.sheet("class.title")
	s.Title = t.Assignment.Title
	body := taskBody{
		taskRow: v.taskRow(t.Zoned, &t.Assignment), Opens: t.at(t.Assignment.OpensAt), Closes: t.at(t.Assignment.ClosesAt),
		Next: v.more("/class/assignments/"+which.String(), t.Next),
	}
	if c := t.Assignment.Counts; t.Figures {
		body.Figures = v.Say("class.figures", strconv.FormatInt(c.Completed, 10), strconv.FormatInt(c.Assigned, 10), strconv.FormatInt(c.Overdue, 10))
	}
	for _, k := range t.Takers {
		body.Takers = append(body.Takers, takerBody{
			URL: v.learnerAt(k.Person) + "/assignments/" + which.String(), Name: k.Name, State: v.standing(k.State), Attempts: strconv.FormatInt(k.Attempts, 10), Late: k.Late && k.State == assignment.Completed,
			Completed: t.at(k.CompletedAt),
		})
	}
	s.Body = body
	return v.show(http.StatusOK, "task", s)
}
