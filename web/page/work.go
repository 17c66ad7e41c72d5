package page

import (
	"net/http"
	"strconv"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/portal/published"
)

// inputAfter pages lists: the id of the last that was seen.
const inputAfter = "after"

// longestAfter bounds it.
const longestAfter = 80

// after is after which of a list the page begins; empty for the first.
func (v *view) after() string {
	if given := v.r.URL.Query().Get(inputAfter); len(given) <= longestAfter {
		return given
	}
	return ""
}

// subjectCalled is what a subject is called that may not be published any more.
func (v *view) subjectCalled(of id.Subject) string {
	if s, ok := v.site.Subject(of); ok {
		return v.titled(s)
	}
	return v.Say("work.gone")
}

// more is the address of the next page of a list; empty for none.
func (v *view) more(path, next string) string {
	if next == "" {
		return ""
	}
	return v.at(path) + "?" + inputAfter + "=" + next
}

// workBody is the page's own of what is set for somebody.
type workBody struct {
	Tasks    []task
	Subjects []card
	Next     string
}

// task is something that is set for somebody.
type task struct {
	ID, Title, Subject, Kind, State string
	Overdue, Done                   bool
	Opens, Due, Closes              *moment
	Required                        bool
	// Attempts says how many are left; empty where they are not counted.
	Attempts string
	// Before are subjects to complete first.
	Before []string
	// Start is where it is begun; empty where that cannot be now, for Why.
	Start, Why string
}

func (v *view) work() error {
	w, err := v.h.Learning.Work(v.r.Context(), v.site, v.secret, v.after())
	if err != nil {
		return err
	}
	s := v.sheet("work.title")
	body := workBody{Next: v.more("/work", w.Next)}
	for _, p := range w.Parts {
		body.Tasks = append(body.Tasks, v.task(&w, p))
	}
	for _, each := range v.site.Subjects {
		body.Subjects = append(body.Subjects, v.card(each))
	}
	s.Body = body
	return v.show(http.StatusOK, "work", s)
}

func (v *view) task(w *Work, p assignment.Part) task {
	a := p.Assignment
	made := task{
		ID: a.ID.String(), Title: a.Title, Subject: v.subjectCalled(a.Subject), Kind: v.Say("task." + string(a.Kind)), State: v.standing(p.Progress.State),
		Overdue: p.Progress.State == assignment.Overdue, Done: p.Progress.State == assignment.Completed || p.Progress.State == assignment.Excused,
		Opens: w.at(a.OpensAt), Due: w.at(a.DueAt), Closes: w.at(a.ClosesAt), Required: a.Required,
	}
	for _, before := range w.Unmet[a.Subject] {
		made.Before = append(made.Before, v.subjectCalled(before))
	}
	of, there := v.site.Subject(a.Subject)
	left := int64(1)
	if allowed := p.Progress.Allowed(attemptsOf(&a, of)); allowed != nil {
		left = max(0, *allowed-p.Progress.Attempts)
		made.Attempts = v.Say("work.attempts", strconv.FormatInt(left, 10), strconv.FormatInt(*allowed, 10))
	}
	switch state := a.StateAt(w.Now); {
	case state == assignment.Scheduled:
		made.Why = v.Say("work.not_open")
	case state != assignment.Open:
		made.Why = v.Say("work.closed")
	case !there:
		made.Why = v.Say("work.gone")
	case p.Progress.State == assignment.Excused:
		made.Why = v.Say("work.excused")
	case left == 0:
		made.Why = v.Say("refused.attempts")
	case len(made.Before) > 0:
		made.Why = v.Say("refused.prerequisites")
	default:
		made.Start = v.at("/talk") + "?" + inputSubject + "=" + a.Subject.String() + "&" + inputAssignment + "=" + a.ID.String()
	}
	return made
}

func (v *view) standing(s assignment.Standing) string { return v.Say("standing." + string(s)) }

// attemptsOf are how many attempts everybody has of an assignment; nil for any number.
func attemptsOf(a *assignment.Assignment, of *published.Subject) *int64 {
	if a.Kind != assignment.Assess || a.AttemptsAllowed != nil || of == nil {
		return a.AttemptsAllowed
	}
	return of.Definition.AttemptsAllowed
}
