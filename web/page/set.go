package page

import (
	"crypto/rand"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/unit"
)

// setBody is the page's own where work is set.
type setBody struct {
	Subjects []card
	Kinds    []choice
	Units    []unit.Unit
	Members  []class.Member
	Everyone bool
	More     bool // there are more than are here
	Zone     string
	Once     string
	Given    url.Values
	Wrong    string
}

// Chosen says whether a value was chosen before.
func (b setBody) Chosen(name, value string) bool { return slices.Contains(b.Given[name], value) }

// Text is what was given before.
func (b setBody) Text(name string) string { return b.Given.Get(name) }

// setPage shows the form by which work is set.
func (v *view) setPage(wrong string) error {
	c, err := v.h.Classes.Taught(v.r.Context(), v.site, v.secret)
	if err != nil {
		return err
	}
	v.path = "/class/set" // also where a form was sent
	s := v.sheet("set.title")
	body := setBody{Units: c.Units, Members: c.Members, Everyone: c.Teaches.All, More: c.More, Zone: c.Zone.String(), Once: rand.Text(), Given: url.Values{}, Wrong: wrong}
	if wrong != "" {
		s.Message, body.Given = v.Say("set.wrong."+wrong), v.r.PostForm
		if given := v.r.PostForm.Get(inputOnce); isOnce(given) {
			body.Once = given
		}
	}
	for _, each := range v.site.Subjects {
		if each.Kind != subject.Screening {
			body.Subjects = append(body.Subjects, v.card(each))
		}
	}
	for _, k := range []assignment.Kind{assignment.Learn, assignment.Practice, assignment.Assess} {
		body.Kinds = append(body.Kinds, choice{Code: string(k), Name: v.Say("task." + string(k))})
	}
	s.Body = body
	return v.show(statusOf(wrong), "set", s)
}

// isOnce says whether something is what a form was given so that it counts once.
func isOnce(s string) bool {
	return len(s) == len(rand.Text()) && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// setWork sets work by the form.
func (v *view) setWork() error {
	c, err := v.h.Classes.Taught(v.r.Context(), v.site, v.secret)
	if err != nil {
		return err
	}
	a, wrong := v.workOf(&c)
	if wrong != "" {
		return v.setPage(wrong)
	}
	_, err = v.h.Classes.Set(v.r.Context(), v.site, v.secret, a, v.h.Address(v.r))
	if _, invalid := errors.AsType[*errdefs.Invalid](err); invalid {
		return v.setPage("form")
	}
	if err != nil {
		return err
	}
	return v.goTo("/class?done=set")
}

// workOf is the work that a form describes, and which input of it is wrong; empty for none.
func (v *view) workOf(c *Class) (a assignment.Assignment, wrong string) {
	form := v.r.PostForm
	a = assignment.Assignment{
		Title: strings.TrimSpace(form.Get("title")), Kind: assignment.Kind(form.Get("kind")), Timezone: c.Zone.String(), Required: form.Get("required") != "",
	}
	about, err := v.named(form.Get(inputSubject))
	once := form.Get(inputOnce)
	switch {
	case a.Title == "" || utf8.RuneCountInString(a.Title) > longestInput || !utf8.ValidString(a.Title) || strings.ContainsRune(a.Title, 0):
		return a, "title"
	case err != nil || about == nil:
		return a, "subject"
	case !slices.Contains([]assignment.Kind{assignment.Learn, assignment.Practice, assignment.Assess}, a.Kind), !fitting(about.Kind, a.Kind):
		return a, "kind"
	case !isOnce(once):
		return a, "form"
	}
	a.Subject, a.ExternalID = about.ID, new("page-"+once)
	if !audienceOf(form, &a) {
		return a, "audience"
	}
	if !datesOf(form, &a, c.Zone) {
		return a, "dates"
	}
	return a, ""
}

// datesOf reads when work is to be done, in a time zone; false for what is no time, or out of order.
func datesOf(form url.Values, a *assignment.Assignment, in *time.Location) bool {
	for name, at := range map[string]**time.Time{"opens": &a.OpensAt, "due": &a.DueAt, "closes": &a.ClosesAt} {
		text := form.Get(name)
		if text == "" {
			continue
		}
		t, err := time.ParseInLocation("2006-01-02T15:04", text, in)
		if err != nil {
			return false
		}
		*at = new(t.UTC())
	}
	before := func(x, y *time.Time) bool { return x == nil || y == nil || x.Before(*y) }
	return before(a.OpensAt, a.DueAt) && before(a.OpensAt, a.ClosesAt) && (a.DueAt == nil || a.ClosesAt == nil || !a.ClosesAt.Before(*a.DueAt))
}

// fitting says whether a subject of a kind can be set for something: only what has questions is
// practiced or assessed.
func fitting(of subject.Kind, to assignment.Kind) bool {
	if to == assignment.Learn {
		return of != subject.Practice && of != subject.Assessment && of != subject.Screening
	}
	return of == subject.Practice && to == assignment.Practice || of == subject.Assessment
}

// audienceOf reads for whom a form is; false for nobody.
func audienceOf(form url.Values, a *assignment.Assignment) bool {
	a.Everyone = form.Get("everyone") != ""
	if a.Everyone {
		return true
	}
	for _, text := range form["unit"] {
		u, err := id.ParseUnit(text)
		if err != nil || len(a.Units) == assignment.MaxUnits {
			return false
		}
		a.Units = append(a.Units, u)
	}
	for _, text := range form["person"] {
		p, err := id.ParsePerson(text)
		if err != nil || len(a.People) == assignment.MaxPeople {
			return false
		}
		a.People = append(a.People, p)
	}
	return len(a.Units)+len(a.People) > 0
}
