package page

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal/published"
)

// talkBody is the conversation's page's own.
type talkBody struct {
	Subject, About string
	// Assignment is what the conversation is to be part of; empty for whichever is open.
	Assignment string
	Ending     phrase
	// Words is what the script says, as JSON.
	Words string
	// Base is what the addresses of what the script asks for begin with.
	Base string
	// Joins says that the page is for one session, which its address opens.
	Joins bool
	// Check says that microphone and sound are checked before it begins.
	Check bool
	// Face is where the speaker's face is, with {side} and {kind} for what is wanted;
	// empty where there is only a picture.
	Face string
	// Hosts are those of a duo, as JSON; empty where one alone speaks.
	Hosts     string
	ReturnURL string
	// Pauses says that the conversation can wait, and Watches that the script notes what the page sees beside the words:
	// of a candidate's interview.
	Pauses, Watches bool
}

// talk shows the conversation, to whoever is signed in.
func (v *view) talk() error {
	about, err := v.named(v.r.URL.Query().Get(inputSubject))
	if err != nil {
		return err
	}
	part, err := v.part(v.r.URL.Query().Get(inputAssignment))
	if err != nil {
		return err
	}
	if v.visit == nil {
		if about != nil {
			return v.goTo(checked("/sign-in?subject="+about.ID.String(), v.checks()))
		}
		return v.goTo(checked("/sign-in", v.checks()))
	}
	v.about = subjectName(about)
	s := v.sheet("home")
	s.Title = v.Say("talk.title", v.site.Speaker.Name)
	words, err := json.Marshal(v.speech.under("join.ready", "talk.", "state.", "sound.", "mic.", "recording.", "notice.", "ended.", "rating.", "refused.", "time."))
	if err != nil {
		return err
	}
	body := talkBody{Words: string(words), Base: v.base, Check: v.checks() && !v.h.Silent, Face: v.livingPath(), ReturnURL: pageURL(&v.visit.ReturnURL)}
	if body.Hosts, err = v.hostsPath(); err != nil {
		return err
	}
	if about != nil {
		body.Subject, body.About, body.Ending = about.ID.String(), v.titled(about), v.text(about.Content.Ending.Message)
	}
	if !part.IsZero() {
		body.Assignment = part.String()
	}
	if v.visit.Door == DoorCandidates && v.h.Candidates != nil {
		body.Pauses = true
		if body.Watches, err = v.h.Candidates.Watched(v.r.Context(), v.site, v.secret); err != nil {
			return err
		}
	}
	s.Body = body
	return v.show(http.StatusOK, "talk", s)
}

// start mints a session for the script of the conversation's page.
func (v *view) start() error {
	ticket, err := v.mint()
	if err != nil {
		v.refuseScript(err)
		return nil
	}
	v.answer(http.StatusCreated, ticket)
	return nil
}

func (v *view) mint() (Ticket, error) {
	if err := v.recognise(); err != nil {
		return Ticket{}, err
	}
	if v.visit == nil {
		return Ticket{}, ErrNoVisit
	}
	about, err := v.named(v.r.PostFormValue(inputSubject))
	if err != nil {
		return Ticket{}, err
	}
	part, err := v.part(v.r.PostFormValue(inputAssignment))
	if err != nil {
		return Ticket{}, err
	}
	s := Start{Assignment: part, Language: v.language, Address: v.h.Address(v.r), Origin: v.origin(), Page: v.r.PostFormValue("page"), Referrer: v.r.PostFormValue("referrer")}
	if about != nil {
		s.Subject = about.ID
	}
	return v.h.Conversations.Start(v.r.Context(), v.site, v.secret, s)
}

// inputAssignment names what a conversation is to be part of.
const inputAssignment = "assignment"

// part is the assignment that a form or an address names; zero for none.
func (v *view) part(value string) (id.Assignment, error) {
	if value == "" {
		return id.Assignment{}, nil
	}
	which, err := id.ParseAssignment(value)
	if err != nil {
		return which, errNoPage
	}
	return which, nil
}

// origin is the page's own, which alone may connect with the ticket.
func (v *view) origin() string {
	scheme := "http://"
	if v.h.secure {
		scheme = "https://"
	}
	return scheme + strings.ToLower(v.r.Host)
}

// longestComment is in characters (rateSession).
const longestComment = 2000

// rate passes a rating on. The session's own token is enough: whoever ended a
// conversation may be signed out by now.
func (v *view) rate(path string) error {
	err := v.passOn(path)
	if err != nil {
		v.refuseScript(err)
		return nil
	}
	v.w.Header().Set("Cache-Control", "no-store")
	v.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (v *view) passOn(path string) error {
	name, found := strings.CutSuffix(path, "/rating")
	session, err := id.ParseSession(name)
	if !found || err != nil {
		return errNoPage
	}
	var r Rating
	if err := json.NewDecoder(v.r.Body).Decode(&r); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	if r.Scale != 2 && r.Scale != 5 || r.Score < 1 || r.Score > r.Scale || r.Comment != nil && utf8.RuneCountInString(*r.Comment) > longestComment {
		return refused(http.StatusUnprocessableEntity, "refused.other")
	}
	return v.h.Conversations.Rate(v.r.Context(), session, v.r.Header.Get(tokenHeader), r)
}

// subjectName is what a conversation is about; empty for anything.
func subjectName(s *published.Subject) string {
	if s == nil {
		return ""
	}
	return s.ID.String()
}
