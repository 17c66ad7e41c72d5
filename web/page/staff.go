package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// staffPrefix is under what the pages are on which team members join conversations, on every
// host. A slug has no "~".
const staffPrefix = session.StaffPath

// ErrUsed says that the token was used, and that another has taken its place.
var ErrUsed = errors.New("the token was used")

// Attended is the error where others were called with the team member, and one of them, of this name, is in the
// session: until they leave, the token lets nobody in.
type Attended struct{ Name string }

func (e *Attended) Error() string { return "another team member is there" }

// Joining is what a team member's token opens, as the page shows it before they join. Of a
// session that is over only EndReason is known.
type Joining struct {
	Ticket
	// Name is the team member's, and Mode what they come in as: listen, speak or takeover.
	Name string `json:"name"`
	Mode string `json:"mode"`
	// Speaker is what the avatar is called.
	Speaker string `json:"speaker"`
	// EndReason is why the session is over; empty while it is not.
	EndReason string  `json:"endReason"`
	Visitor   Visitor `json:"visitor"`
}

// Visitor is who talks with the avatar, as far as the session says; null for what it does not.
type Visitor struct {
	Name       *string    `json:"name"`
	Email      *string    `json:"email"`
	Phone      *string    `json:"phone"`
	Company    *string    `json:"company"`
	ExternalID *string    `json:"externalId"`
	Language   string     `json:"language"`
	Source     string     `json:"source"`
	Channel    string     `json:"channel"`
	BeganAt    *time.Time `json:"beganAt"`
	// Reason is why they asked for a person, in their words, and WaitingSince when.
	Reason       *string    `json:"reason"`
	WaitingSince *time.Time `json:"waitingSince"`
	// Told is what they told the avatar.
	Told []Told `json:"told"`
}

// Told is what a visitor told, and what of.
type Told struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// staff serves the page on which a team member joins a session, and what belongs to it. The page
// itself is the same for every session: nobody learns from it whether there is one.
func (h *Handler) staff(w http.ResponseWriter, r *http.Request, path string) {
	v := nobodys(h, w, r)
	v.framed = true // it holds no cookie: whoever frames it has the token
	if err := v.staffing(path); err != nil {
		h.refuse(v, err)
	}
}

func (v *view) staffing(path string) error {
	name, what, _ := strings.Cut(path, "/")
	session, err := id.ParseSession(name)
	if err != nil {
		return errNoPage
	}
	switch what {
	case "":
		return v.taking(reading, v.staffPage)
	case "ticket":
		return v.taking(posting, func() error { v.staffTicket(session); return nil })
	}
	return errNoPage
}

func (v *view) staffPage() error {
	s := v.sheet("staff.title")
	words, err := json.Marshal(v.speech.under("staff.", "talk.", "notice.", "ended.", "refused."))
	if err != nil {
		return err
	}
	s.Body = talkBody{Words: string(words), Base: strings.TrimSuffix(v.r.URL.Path, "/")}
	return v.show(http.StatusOK, "staff", s)
}

// staffTicket tells the page's script what the token opens.
func (v *view) staffTicket(session id.Session) {
	token := v.r.Header.Get(tokenHeader)
	if token == "" || len(token) > longestSecret {
		v.refuseScript(refused(http.StatusNotFound, "staff.unknown"))
		return
	}
	j, err := v.h.Conversations.JoinStaff(v.r.Context(), session, token)
	if first, ok := errors.AsType[*Attended](err); ok {
		err = refused(http.StatusConflict, "staff.attended", first.Name)
	}
	switch {
	case errors.Is(err, ErrNoSession):
		err = refused(http.StatusNotFound, "staff.unknown")
	case errors.Is(err, ErrLate):
		err = refused(http.StatusGone, "staff.expired")
	case errors.Is(err, ErrUsed):
		err = refused(http.StatusGone, "staff.used")
	}
	if err != nil {
		v.refuseScript(err)
		return
	}
	v.answer(http.StatusOK, j)
}
