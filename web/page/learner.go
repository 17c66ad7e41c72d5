package page

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
)

// LearnerAt is where a page of somebody's learning begins: after one of what is set for them, or of their attempts.
type LearnerAt struct{ Tasks, Attempts string }

// Learner is somebody of a class.
type Learner struct {
	Zoned
	class.Learner
	// UnitNames are what the units are called in which they learn with whoever looks.
	UnitNames []string
	Parts     []assignment.Part
	Attempts  []class.Attempt
	Mastery   []mastery.Objective
	// MoreOfWork is the id of the assignment after which there are more, and MoreOf that of the result; empty for none.
	MoreOfWork, MoreOf string
}

// Part is somebody's part of an assignment.
type Part struct {
	Zoned
	class.Learner
	assignment.Part
	// May says that whoever looks may change it.
	May bool
}

// The inputs of the forms of a part.
const (
	inputExtra  = "extra"
	inputSeenOf = "seen" // how many were granted as it was seen
)

// longestCount is how many digits the number of attempts that are granted has at most, and mostGranted how many they are.
const (
	longestCount = 3
	mostGranted  = 100
)

// learnerBody is the page's own of somebody of a class.
type learnerBody struct {
	Units        string
	Tasks        []partRow
	MoreTasks    string
	Attempts     []attemptRow
	MoreAttempts string
	Mastery      []mastered
}

// partRow is what is set for somebody, in a list.
type partRow struct {
	taskRow
	Standing, Attempts string
	Late               bool
}

// attemptRow is an attempt in a list; URL is empty of what is not looked at.
type attemptRow struct {
	URL, Subject, Kind, Attempt, State, Outcome string
	At                                          *moment
}

func (v *view) learnerAt(p id.Person) string { return v.at("/class/learners/" + p.String()) }

func (v *view) learnerPage(text string) error {
	who, err := id.ParsePerson(text)
	if err != nil {
		return errNoPage
	}
	at := LearnerAt{Tasks: v.after()}
	if attempts := v.r.URL.Query().Get("attempts"); len(attempts) <= longestAfter {
		at.Attempts = attempts
	}
	l, err := v.h.Classes.Learner(v.r.Context(), v.site, v.secret, who, at)
	if err != nil {
		return err
	}
	s := v.sheet("class.title")
	s.Title = l.Person.Name
	body := learnerBody{Units: strings.Join(l.UnitNames, ", "), MoreTasks: v.more("/class/learners/"+who.String(), l.MoreOfWork)}
	if l.MoreOf != "" {
		body.MoreAttempts = v.learnerAt(who) + "?" + url.Values{"attempts": {l.MoreOf}}.Encode()
	}
	for _, p := range l.Parts {
		body.Tasks = append(body.Tasks, v.partRow(l.Zoned, who, &p))
	}
	for _, a := range l.Attempts {
		body.Attempts = append(body.Attempts, v.attemptRow(l.Zoned, a))
	}
	body.Mastery = v.mastered(&Record{Zoned: l.Zoned, Mastery: l.Mastery})
	s.Body = body
	return v.show(http.StatusOK, "learner", s)
}

func (v *view) partRow(z Zoned, who id.Person, p *assignment.Part) partRow {
	row := partRow{
		taskRow: v.taskRow(z, &p.Assignment), Standing: v.standing(p.Progress.State), Attempts: v.attempts(p),
		Late: p.Progress.Late && p.Progress.State == assignment.Completed,
	}
	row.URL = v.learnerAt(who) + "/assignments/" + p.Assignment.ID.String()
	return row
}

// attempts are how many somebody has made, of how many they may.
func (v *view) attempts(p *assignment.Part) string {
	of, _ := v.site.Subject(p.Assignment.Subject)
	made := strconv.FormatInt(p.Progress.Attempts, 10)
	if allowed := p.Progress.Allowed(attemptsOf(&p.Assignment, of)); allowed != nil {
		return v.Say("work.attempts", made, strconv.FormatInt(*allowed, 10))
	}
	return made
}

func (v *view) attemptRow(z Zoned, a class.Attempt) attemptRow {
	row := attemptRow{
		Subject: v.subjectCalled(a.Subject), Kind: v.Say("kind." + a.Kind), Attempt: strconv.FormatInt(a.Attempt, 10), State: v.Say("attempt." + string(a.State)),
		At: z.at(&a.StartedAt),
	}
	if a.Seen {
		row.URL = v.at("/class/results/" + a.ID.String())
	}
	if a.Percent != nil {
		row.Outcome = strings.TrimSpace(v.share(a.Percent) + " " + v.outcome(&result.Result{State: a.State, Passed: a.Passed}))
	}
	return row
}

// partBody is the page's own of somebody's part of an assignment.
type partBody struct {
	partRow
	Name, Learner, Action, Done string
	Opens, Closes, Completed    *moment
	// Excused says that they are excused, for a Reason; empty where nobody said.
	Excused bool
	Reason  string
	// May says that it can be changed, and Counted that attempts are counted, of which Seen were granted.
	May, Counted bool
	Seen         int64
	// Given are what was sent with a form that was not taken, and Wrong the input that something is wrong with.
	Given url.Values
	Wrong string
}

// partDone are what is said of what was just done.
var partDone = map[string]string{"grant": "part.granted", "excuse": "part.was_excused", "include": "part.included"}

func (v *view) partPage(person, text string, wrong flaw) error {
	who, err := id.ParsePerson(person)
	if err != nil {
		return errNoPage
	}
	which, err := id.ParseAssignment(text)
	if err != nil {
		return errNoPage
	}
	p, err := v.h.Classes.Part(v.r.Context(), v.site, v.secret, who, which)
	if err != nil {
		return err
	}
	v.path = "/class/learners/" + who.String() + "/assignments/" + which.String() // also where a form was sent
	s := v.sheet("class.title")
	s.Title, s.Message = p.Assignment.Title, wrong.Text
	of, _ := v.site.Subject(p.Assignment.Subject)
	body := partBody{
		partRow: v.partRow(p.Zoned, who, &p.Part), Name: p.Person.Name, Learner: v.learnerAt(who), Action: v.at(v.path), Opens: p.at(p.Assignment.OpensAt),
		Closes: p.at(p.Assignment.ClosesAt), Completed: p.at(p.Progress.CompletedAt), Excused: p.Progress.ExcusedAt != nil, May: p.May,
		Counted: attemptsOf(&p.Assignment, of) != nil, Seen: p.Progress.Extra, Given: v.r.PostForm, Wrong: wrong.At,
	}
	if p.Progress.ExcuseReason != nil {
		body.Reason = *p.Progress.ExcuseReason
	}
	if key := partDone[v.r.URL.Query().Get("done")]; key != "" && wrong.Text == "" {
		body.Done = v.Say(key)
	}
	s.Body = body
	return v.show(statusOf(wrong.Text), "part", s)
}

// Text is what was given before.
func (b partBody) Text(name string) string { return b.Given.Get(name) }

// changePart does what somebody decides of a part.
func (v *view) changePart(person, text, what string) error {
	if partDone[what] == "" {
		return errNoPage
	}
	c := class.PartChange{What: what}
	var err, failed error
	c.Person, err = id.ParsePerson(person)
	c.Assignment, failed = id.ParseAssignment(text)
	if err != nil || failed != nil {
		return errNoPage
	}
	if wrong := v.partOf(&c); wrong.Text != "" {
		return v.partPage(person, text, wrong)
	}
	err = v.h.Classes.ChangePart(v.r.Context(), v.site, v.secret, c, v.h.Address(v.r))
	conflict, refused := errors.AsType[*errdefs.Conflict](err)
	switch {
	case errors.Is(err, class.ErrStale):
		return v.partPage(person, text, flaw{Text: v.Say("review.stale")})
	case refused && conflict.Reason == assignment.ReasonUnlimited:
		return v.partPage(person, text, flaw{Text: v.Say("part.unlimited")})
	case refused: // it is archived
		return errNoPage
	case err != nil:
		return err
	}
	return v.goTo("/class/learners/" + c.Person.String() + "/assignments/" + c.Assignment.String() + "?done=" + what)
}

// partOf reads a form, and says what is wrong with it.
func (v *view) partOf(c *class.PartChange) flaw {
	if c.What == "include" {
		return flaw{}
	}
	name := inputReason
	if c.What == "excuse" {
		name = inputWhy
	}
	if reason, ok := v.words(name); ok && utf8.RuneCountInString(reason) <= longestReason {
		c.Reason = &reason
	} else if reason != "" {
		return flaw{v.Say("part.reason_wrong"), name}
	}
	if c.What != "grant" {
		return flaw{}
	}
	var err, failed error
	count := digits.Replace(strings.TrimSpace(v.r.PostForm.Get(inputExtra)))
	c.Extra, err = strconv.ParseInt(count, 10, 64)
	c.Seen, failed = strconv.ParseInt(v.r.PostForm.Get(inputSeenOf), 10, 64)
	switch {
	case err != nil || len(count) > longestCount || c.Extra < 1 || c.Extra > mostGranted:
		return flaw{v.Say("part.count_wrong"), inputExtra}
	case failed != nil:
		return flaw{Text: v.Say("review.stale")}
	}
	return flaw{}
}
