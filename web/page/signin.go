package page

import (
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// keepLanguage is how long a browser remembers what it switched to.
const keepLanguage = 365 * 24 * time.Hour

// signInBody is the page's own where people come in.
type signInBody struct {
	Forms   []form
	Subject string
	// Check says that microphone and sound are to be checked afterwards.
	Check bool
	// SSO says that the organization's identity provider lets people in, and
	// SSOMessage what is to be read there.
	SSO        bool
	SSOMessage string
	// Link says that a personal link opens the portal.
	Link bool
}

// form is a way in that asks for something.
type form struct {
	Door, Title, Message string
	Fields               []field
	// Consent and Age are what is to be agreed to and confirmed; empty for nothing.
	Consent bool
	Age     string
	// Wrong is the name of the input that was wrong.
	Wrong               string
	Consented, AgeGiven bool
}

// field is an input of a form.
type field struct {
	Name, Type, Label, Value, Autocomplete string
	Wrong                                  bool
	Longest                                int
}

// The inputs of forms.
const (
	inputName      = "name"
	inputEmail     = "email"
	inputCode      = "code"
	inputConsent   = "consent"
	inputOldEnough = "old_enough"
	inputSubject   = "subject"
	inputToken     = "token"
)

// ofAge is asked for where a door asks for an age that the portal does not name.
const ofAge = 18

// ageAsked is how old those must say they are who come in by a door; 0 where nobody
// asks. Whoever needs a guardian's consent cannot come in by a form.
func (v *view) ageAsked(door string) int64 {
	var age int64
	for _, limit := range []*int64{v.site.Definition.MinAge, v.site.Definition.GuardianConsentUnder} {
		if limit != nil {
			age = max(age, *limit)
		}
	}
	if door == DoorMembersLink {
		return 0 // who has a place was asked, or is known
	}
	if age == 0 && slices.Contains(v.site.Doors[door].Requires, "age_check") {
		age = ofAge
	}
	return age
}

// asks says whether a door asks for something.
func (v *view) asks(door, what string) bool {
	switch {
	case door == DoorMembersLink && what != inputConsent:
		return what == inputEmail
	case what == inputOldEnough:
		return v.ageAsked(door) > 0
	case what == inputName && door == DoorJoinCode && !slices.Contains(v.site.Doors[door].Requires, inputEmail):
		return true // a code gives people a place, and a place has a name
	}
	return slices.Contains(v.site.Doors[door].Requires, what)
}

// comeIn shows the ways in.
func (v *view) comeIn() error {
	about, err := v.named(v.r.URL.Query().Get(inputSubject))
	if err != nil {
		return err
	}
	subject := subjectName(about)
	v.about = subject
	return v.page(checked("/sign-in?"+subject, v.checks()), "signin", func() *sheet { return v.signInSheet(subject, "", nil) })
}

// signInSheet is the page with the ways in; tried is the door that refused what
// was given.
func (v *view) signInSheet(subject, tried string, given url.Values) *sheet {
	s := v.sheet("signin")
	body := signInBody{Subject: subject, Check: v.checks(), Link: len(v.site.Doors) > 0}
	if d, ok := v.site.Doors[DoorSSO]; ok {
		body.SSO, body.SSOMessage = true, d.Message
	}
	doors := []string{DoorVisitors, DoorJoinCode, DoorMembersLink}
	if at := slices.Index(doors, tried); at > 0 {
		doors = append([]string{tried}, slices.Delete(doors, at, at+1)...)
	}
	for _, door := range doors {
		open, ok := v.site.Doors[door]
		if !ok {
			continue
		}
		values := given
		if door != tried {
			values = nil
		}
		f := form{
			Door: door, Title: v.Say("signin." + door), Message: open.Message, Consent: v.asks(door, inputConsent),
			Consented: values.Get(inputConsent) != "", AgeGiven: values.Get(inputOldEnough) != "",
		}
		if age := v.ageAsked(door); age > 0 {
			f.Age = v.Say("field.old_enough", strconv.FormatInt(age, 10))
		}
		if door == DoorJoinCode {
			f.Fields = append(f.Fields, field{Name: inputCode, Type: "text", Label: v.Say("field.code"), Autocomplete: "off", Longest: longestInput})
		}
		if v.asks(door, inputName) {
			f.Fields = append(f.Fields, field{Name: inputName, Type: "text", Label: v.Say("field.name"), Autocomplete: "name", Longest: longestInput})
		}
		if v.asks(door, inputEmail) {
			f.Fields = append(f.Fields, field{Name: inputEmail, Type: "email", Label: v.Say("field.email"), Autocomplete: "email", Longest: longestEmail})
		}
		for i := range f.Fields {
			f.Fields[i].Value = values.Get(f.Fields[i].Name)
		}
		body.Forms = append(body.Forms, f)
	}
	s.Body = body
	return s
}

const (
	longestInput = 200
	longestEmail = 254
)

// linkDoors are opened by the token of a link, which the page's script reads from
// behind the "#" and hands over.
var linkDoors = []string{DoorEmbed, DoorCustomers, DoorMembersLink, DoorCase, DoorEscalation, DoorCandidates}

// signIn lets somebody in, or says why not.
func (v *view) signIn(door string) error {
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	given := v.r.PostForm
	about, err := v.named(given.Get(inputSubject))
	if err != nil {
		return err
	}
	v.about = subjectName(about)
	byLink := slices.Contains(linkDoors, door)
	if door == DoorMembersLink && given.Get(inputToken) == "" {
		return v.askForLink(given)
	}
	if !byLink && door != DoorVisitors && door != DoorJoinCode {
		return errNoPage
	}
	e := v.entry(door, given)
	refusedAt := "link"
	if !byLink {
		refusedAt = "code"
		err = v.check(e)
	}
	var entered Entered
	if err == nil {
		entered, err = v.h.Doors.Enter(v.r.Context(), v.site, e)
	}
	v.framedBy(entered.AllowedOrigins)
	if err != nil {
		return v.notIn(refusalOf(err, refusedAt), err, v.about, door, given)
	}
	v.keep(entered)
	return v.goTo(afterwards(entered.Visit, v.about, given.Get(inputCheck) != ""))
}

// entry is what a form gave.
func (v *view) entry(door string, given url.Values) Entry {
	return Entry{
		Door: door, Name: strings.TrimSpace(given.Get(inputName)), Email: strings.TrimSpace(given.Get(inputEmail)),
		Consent: given.Get(inputConsent) != "", OldEnough: given.Get(inputOldEnough) != "",
		Code: strings.TrimSpace(given.Get(inputCode)), Token: given.Get(inputToken), Language: v.language, Address: v.h.Address(v.r),
	}
}

// check refuses what a form did not give, before a door is asked.
func (v *view) check(e Entry) error {
	_, open := v.site.Doors[e.Door]
	address, notAddress := mail.ParseAddress(e.Email)
	switch {
	case !open:
		return refused(http.StatusForbidden, "refused.door_closed")
	case e.Door == DoorJoinCode && (e.Code == "" || len(e.Code) > longestInput):
		return refused(http.StatusUnprocessableEntity, "refused.code")
	case v.asks(e.Door, inputName) && e.Name == "", utf8.RuneCountInString(e.Name) > longestInput:
		return refused(http.StatusUnprocessableEntity, "refused.name")
	case (v.asks(e.Door, inputEmail) || e.Email != "") && (notAddress != nil || address.Address != e.Email || len(e.Email) > longestEmail):
		return refused(http.StatusUnprocessableEntity, "refused.email")
	case v.asks(e.Door, inputConsent) && !e.Consent:
		return refused(http.StatusUnprocessableEntity, "refused.consent")
	case v.asks(e.Door, inputOldEnough) && !e.OldEnough:
		return refused(http.StatusUnprocessableEntity, "refused.old_enough")
	}
	return nil
}

// notIn shows the ways in again, with why one of them refused and what was given.
func (v *view) notIn(found *refusal, err error, subject, door string, given url.Values) error {
	v.h.note(v.r, found, err)
	hint(v.w, found)
	s := v.signInSheet(subject, door, given)
	s.Message = s.Say(found.key)
	wrong := strings.TrimPrefix(found.key, "refused.")
	body := s.Body.(signInBody)
	for i := range body.Forms {
		if body.Forms[i].Door != door {
			continue
		}
		body.Forms[i].Wrong = wrong
		for j := range body.Forms[i].Fields {
			f := &body.Forms[i].Fields[j]
			f.Wrong = f.Name == wrong
		}
	}
	return v.show(found.status, "signin", s)
}

// afterwards is the page that somebody sees who has come in; check says that they wish to check
// microphone and sound before they talk.
func afterwards(visit Visit, subject string, check bool) string {
	if !visit.Subject.IsZero() {
		subject = visit.Subject.String()
	}
	switch {
	case visit.Door == DoorCandidates:
		return "/interview"
	case subject != "":
		return checked("/talk?subject="+subject, check)
	case slices.Contains([]string{DoorVisitors, DoorCase, DoorEscalation}, visit.Door):
		return checked("/talk", check)
	}
	return "/"
}

// enterPage is where links lead that open the portal in a frame of another page: there
// is nothing on it to press and nobody's name, so anybody may frame it.
func (v *view) enterPage() error {
	v.framed = true
	return v.page("/enter", "enter", func() *sheet { return v.sheet("signin") })
}

// signOut ends the visit, also that of somebody who would not be let in any more.
func (v *view) signOut() error {
	if err := v.recognise(); err != nil {
		v.h.note(v.r, refusalOf(err, ""), err)
	}
	if v.secret != "" {
		if err := v.h.Doors.Leave(v.r.Context(), v.site, v.secret); err != nil {
			return err
		}
	}
	v.drop()
	return v.goTo("/")
}
