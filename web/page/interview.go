package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/disclosure"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal/published"
)

// Application is how a candidate stands with the interview that they are invited to.
type Application struct {
	// Role is what the role is called, and Description what candidates read of it, in Markdown.
	Role, Description string
	// Notice is what they must be told, and Process what happens instead of the interview.
	Notice  []string
	Process string
	// State is as package candidate has it.
	State string
	// Agreed says that they agreed to the interview, and Done that it was held.
	Agreed, Done bool
	// Standing is what people have done since: read (the answers), decided, or reopened (the decision);
	// empty for nothing.
	Standing string
	// StartsFrom is when it may begin, where that is not yet; zero for now.
	StartsFrom time.Time
	// Zone is that of the role's place.
	Zone *time.Location
	// Refusal is the reason for which it cannot begin at the moment, as a conflict has it; empty
	// for none.
	Refusal string
	// Requests are what they have asked for, newest first, and Askable the kinds of what they can
	// ask for now, as package candidate has them.
	Requests []ApplicationRequest
	Askable  []string
	// Meetings are their interviews with people, newest first.
	Meetings []Meeting
	// DataUntil is until when they get what is kept about them, which they asked for; zero for not now.
	DataUntil time.Time
	// Data says how they get it; empty for not now.
	Data Access
	// Voluntary says that they can say their sex and race.
	Voluntary bool
}

// Access is how a candidate gets what is kept about them.
type Access string

// The ways: at once; by a link that was mailed to them, and not by the one that they came by; and, as long as
// nobody may learn who they are, in the browser in which they held the interview.
const (
	AccessHere   Access = "here"
	AccessByMail Access = "by_mail"
	AccessLater  Access = "later"
)

// Meeting is an interview with people; Token opens its page.
type Meeting struct {
	State    string
	StartsAt time.Time
	Zone     *time.Location
	Token    string
}

// ApplicationRequest is something that a candidate has asked for.
type ApplicationRequest struct {
	Kind, State string
	// DueAt is by when it is answered, and Answer what was answered; empty for nothing.
	DueAt  time.Time
	Answer string
}

// Candidates are how candidates stand, and what they do on their page (package candidate).
type Candidates interface {
	// Application is how the candidate stands whom a browser's secret is of. The error is
	// ErrNoVisit.
	Application(ctx context.Context, site *published.Site, secret string) (Application, error)
	// Agree notes that they have read the notice and agree to the interview.
	Agree(ctx context.Context, site *published.Site, secret string) error
	// Withdraw takes what they agreed to back, and their application.
	Withdraw(ctx context.Context, site *published.Site, secret string) error
	// Watched says whether what their page sees during the interview is noted, as they were told.
	Watched(ctx context.Context, site *published.Site, secret string) (bool, error)
	// Observe notes what their page saw. Where it is none that can be noted the error is ErrUnfit.
	Observe(ctx context.Context, site *published.Site, secret string, s screening.Signal) error
	// Ask enters what they ask for, of a kind that Askable had, with their words; empty for none.
	// Where that is not so any more the error is ErrUnfit.
	Ask(ctx context.Context, site *published.Site, secret, kind, words string) error
	// Data is what is kept about them, to be read on the page or taken away as a file; their record says that they
	// got it. Where they have no request for it that is done the error is ErrUnfit.
	Data(ctx context.Context, site *published.Site, secret string, file bool) (disclosure.Data, error)
	// Describe keeps what they say of themselves of their own free will, apart from all else. Where
	// they are not asked any more the error is ErrUnfit.
	Describe(ctx context.Context, site *published.Site, secret string, a demographics.Answer) error
}

// ErrUnfit says that something cannot be asked for as things stand.
var ErrUnfit = errors.New("that cannot be asked for as things stand")

// longestRequest is how many characters the words of a request have at most.
const longestRequest = 4000

// interviewBody is the candidate's page's own.
type interviewBody struct {
	Application
	// When is when the interview may begin, as text; empty for now.
	When string
	// Ready says that it may begin.
	Ready bool
	// DataUntil is the day until which they get what is kept about them; empty for not now.
	DataUntil string
	// Checkable says that they can check microphone and sound for it, and Base is what addresses begin with.
	Checkable bool
	Base      string
	// Asked are the requests as they are shown.
	Asked []askedBody
	// People are interviews with people as they are shown.
	People []meetingBody
	// Sent says that they come from sending what they said of themselves; that something is kept is not told.
	Sent bool
	// Sexes and Races are what they can choose of; unknown is last.
	Sexes []demographics.Sex
	Races []demographics.Race
}

// meetingBody is an interview with people, with its time as text; empty before one is chosen.
type meetingBody struct{ State, When, URL string }

// askedBody is a request with its day as text; empty once it is answered.
type askedBody struct{ Kind, State, Due, Answer string }

// interview shows a candidate how they stand.
func (v *view) interview(message string) error {
	if v.visit == nil || v.visit.Door != DoorCandidates {
		return v.goTo("/sign-in")
	}
	if v.h.Candidates == nil {
		return errNoPage
	}
	a, err := v.h.Candidates.Application(v.r.Context(), v.site, v.secret)
	if errors.Is(err, ErrNoVisit) {
		return v.goTo("/sign-in")
	}
	if err != nil {
		return err
	}
	s := v.sheet("interview.title")
	s.Title, s.Message = a.Role, message
	body := interviewBody{Application: a, Sexes: demographics.Sexes(), Races: demographics.Races(), Sent: v.r.URL.Query().Has(sentQuery)}
	if !a.StartsFrom.IsZero() {
		body.When = a.StartsFrom.In(a.Zone).Format("2006-01-02 15:04 MST")
	}
	body.Ready = a.Agreed && !a.Done && body.When == "" && a.Refusal == ""
	if !a.DataUntil.IsZero() {
		body.DataUntil = a.DataUntil.In(a.Zone).Format(time.DateOnly)
	}
	open := a.Standing == "" || a.Standing == "reopened"
	body.Checkable, body.Base = open && !a.Done && a.Refusal == "" && !v.h.Silent, v.base
	for _, q := range a.Requests {
		one := askedBody{Kind: q.Kind, State: q.State, Answer: q.Answer}
		if q.State == "open" {
			one.Due = q.DueAt.In(a.Zone).Format(time.DateOnly)
		}
		body.Asked = append(body.Asked, one)
	}
	for _, m := range a.Meetings {
		one := meetingBody{State: m.State, URL: v.h.PortalURL + mailer.LinkPath + m.Token + "?" + url.Values{languageQuery: {v.language}}.Encode()}
		if !m.StartsAt.IsZero() {
			one.When = m.StartsAt.In(m.Zone).Format("2006-01-02 15:04 MST")
		}
		body.People = append(body.People, one)
	}
	s.Body = body
	return v.show(http.StatusOK, "interview", s)
}

// dataName is what the file is called that a candidate takes away.
const dataName = "my-application.json"

// given shows a candidate what is kept about them, or sends it as a file.
func (v *view) given(file bool) error {
	if v.visit == nil || v.visit.Door != DoorCandidates || v.h.Candidates == nil {
		return v.goTo("/sign-in")
	}
	d, err := v.h.Candidates.Data(v.r.Context(), v.site, v.secret, file)
	switch {
	case errors.Is(err, ErrNoVisit):
		return v.goTo("/sign-in")
	case errors.Is(err, ErrUnfit):
		return errNoPage
	case err != nil:
		return err
	}
	if file {
		text, err := json.MarshalIndent(d, "", "  ")
		return v.download(File{Name: dataName, ContentType: "application/json", Data: text}, err)
	}
	s := v.sheet("data.title")
	s.Body = d
	return v.show(http.StatusOK, "data", s)
}

// applied does what a candidate wants on their page, and shows it again.
func (v *view) applied(what string) error {
	if err := v.recognise(); err != nil {
		return err
	}
	if v.visit == nil || v.visit.Door != DoorCandidates || v.h.Candidates == nil {
		return v.goTo("/sign-in")
	}
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	var err error
	switch what {
	case "agree":
		if v.r.PostForm.Get("notice") == "" || v.r.PostForm.Get("consent") == "" {
			return v.interview(v.Say("interview.agree_first"))
		}
		err = v.h.Candidates.Agree(v.r.Context(), v.site, v.secret)
	case "withdraw":
		err = v.h.Candidates.Withdraw(v.r.Context(), v.site, v.secret)
	case "signal":
		return v.observed()
	case "ask":
		return v.asked()
	case "voluntary":
		return v.described()
	default:
		return errNoPage
	}
	if err != nil {
		return err
	}
	return v.goTo("/interview")
}

// sentQuery is in the address of the page that is shown to who has just sent what they say of themselves.
const sentQuery = "sent"

// described keeps what a candidate says of themselves.
func (v *view) described() error {
	a := demographics.Answer{Sex: demographics.Sex(v.r.PostForm.Get("sex")), Race: demographics.Race(v.r.PostForm.Get("race"))}
	if a.Check() != nil {
		return v.interview(v.Say("voluntary.missing"))
	}
	err := v.h.Candidates.Describe(v.r.Context(), v.site, v.secret, a)
	if errors.Is(err, ErrUnfit) {
		return v.interview(v.Say("interview.ask_refused"))
	}
	if err != nil {
		return err
	}
	return v.goTo("/interview?" + sentQuery + "=1")
}

// observed notes what the script of the conversation's page saw.
func (v *view) observed() error {
	number := func(name string) (n int64, err error) {
		if text := v.r.PostForm.Get(name); text != "" {
			n, err = strconv.ParseInt(text, 10, 64)
		}
		return n, err
	}
	away, err := number("durationMs")
	if err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	pasted, err := number("characters")
	if err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	err = v.h.Candidates.Observe(v.r.Context(), v.site, v.secret, screening.Signal{
		Kind: screening.SignalKind(v.r.PostForm.Get("kind")), DurationMs: away, Characters: pasted,
	})
	if errors.Is(err, ErrUnfit) {
		return refused(http.StatusBadRequest, "refused.other")
	}
	if err != nil {
		return err
	}
	v.w.WriteHeader(http.StatusNoContent)
	return nil
}

// asked enters what a candidate asks for on their page.
func (v *view) asked() error {
	kind, words := v.r.PostForm.Get("kind"), strings.TrimSpace(v.r.PostForm.Get("words"))
	if kind == "" {
		return v.interview(v.Say("interview.ask_missing"))
	}
	if utf8.RuneCountInString(words) > longestRequest || !utf8.ValidString(words) || strings.ContainsRune(words, 0) {
		return refused(http.StatusBadRequest, "refused.other")
	}
	err := v.h.Candidates.Ask(v.r.Context(), v.site, v.secret, kind, words)
	if errors.Is(err, ErrUnfit) {
		return v.interview(v.Say("interview.ask_refused"))
	}
	if err != nil {
		return err
	}
	return v.goTo("/interview")
}
