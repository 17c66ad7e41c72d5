package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/web/packed"
)

// joinPrefix is under what the pages of single sessions are, on every host. A slug has no
// "~".
const joinPrefix = SlugPrefix + "~join/"

// tokenHeader has a session's token. It is in no address: behind the "#" of the link it
// reaches the page's script alone, which takes it out of the address bar.
const tokenHeader = "X-Session-Token"

// serverQuery names the media server in whose room a session takes place, so that the page may connect there. It
// says no more than where that is allowed: whether and how it connects, the session's ticket says.
const serverQuery = "server"

// JoinURL is the page of a session below where the pages are, for whoever has its token. The server is the address
// of the media server in whose room it takes place; empty for none.
func JoinURL(pages string, session id.Session, token, server string) string {
	query := ""
	if to := serverOf(server); len(to) > 0 {
		query = "?" + url.Values{serverQuery: to[:1]}.Encode()
	}
	return pages + joinPrefix + session.String() + query + "#" + token
}

// Errors of Conversations.Join.
var (
	// ErrNoSession says that the token opens nothing.
	ErrNoSession = errors.New("the token opens no session")
	// ErrLate says that the session was not begun in time.
	ErrLate = errors.New("the session was not begun in time")
)

// Joined is a session as its page needs it.
type Joined struct {
	Ticket
	// Site has who speaks and for whom.
	Site *published.Site
	// Channel is video, voice or chat.
	Channel string
	// Began says that the conversation is under way, and EndReason why it is over; empty
	// while it is not.
	Began     bool
	EndReason string
}

// invitation is what the page's script is told of a session.
type invitation struct {
	Ticket
	Channel   string `json:"channel"`
	Began     bool   `json:"began"`
	EndReason string `json:"endReason"`
	Speaker   string `json:"speaker"`
	// Face is where the living face is; empty where there is only the picture.
	Face string `json:"face"`
	// Hosts are those of a duo; none where one alone speaks.
	Hosts []hostBody `json:"hosts,omitempty"`
	// Notice says that an AI speaks.
	Notice phrase `json:"notice"`
}

// join serves the page of a session and what belongs to it. The page itself is the same
// for every session: nobody learns from it whether there is one.
func (h *Handler) join(w http.ResponseWriter, r *http.Request, path string) {
	v := nobodys(h, w, r)
	v.framed, v.blobs = true, true // it holds no cookie: whoever frames it has the token
	if err := v.joining(path); err != nil {
		h.refuse(v, err)
	}
}

func (v *view) joining(path string) error {
	name, what, _ := strings.Cut(path, "/")
	if name == "face" {
		return v.taking(reading, func() error { return v.joinFace(what) })
	}
	session, err := id.ParseSession(name)
	if err != nil {
		return errNoPage
	}
	if file, ok := strings.CutPrefix(what, "face/"); ok {
		return v.taking(reading, func() error { return v.joinedFace(session, file) })
	}
	if seat, ok := strings.CutPrefix(what, "portrait/"); ok {
		return v.taking(reading, func() error { return v.joinPortrait(session, seat) })
	}
	switch what {
	case "":
		return v.taking(reading, v.joinPage)
	case "portrait":
		return v.taking(reading, func() error { return v.joinPortrait(session, "") })
	case "check":
		return v.taking(posting, func() error { v.joinCheck(session); return nil })
	case "ticket":
		return v.taking(posting, func() error { v.joinTicket(session); return nil })
	case "rating":
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, longestForm)
		return v.taking(posting, func() error { return v.rate(path) })
	}
	return errNoPage
}

func (v *view) joinPage() error {
	s := v.sheet("join.title")
	words, err := json.Marshal(v.speech.under("join.", "talk.", "state.", "sound.", "mic.", "recording.", "notice.", "ended.", "rating.", "refused.", "time."))
	if err != nil {
		return err
	}
	s.Body = talkBody{Words: string(words), Base: strings.TrimSuffix(v.r.URL.Path, "/"), Joins: true}
	v.rooms = serverOf(v.r.URL.Query().Get(serverQuery))
	return v.show(http.StatusOK, "join", s)
}

// joined finds the session that the request's token opens.
func (v *view) joined(session id.Session) (Joined, error) {
	token := v.r.Header.Get(tokenHeader)
	if token == "" || len(token) > longestSecret {
		return Joined{}, refused(http.StatusNotFound, "join.unknown")
	}
	j, err := v.h.Conversations.Join(v.r.Context(), session, token)
	switch {
	case errors.Is(err, ErrNoSession):
		err = refused(http.StatusNotFound, "join.unknown")
	case errors.Is(err, ErrLate):
		err = refused(http.StatusGone, "join.expired")
	}
	return j, err
}

// joinTicket tells the page's script what the token opens.
func (v *view) joinTicket(session id.Session) {
	j, err := v.joined(session)
	if err != nil {
		v.refuseScript(err)
		return
	}
	told := invitation{
		Ticket: j.Ticket, Channel: j.Channel, Began: j.Began, EndReason: j.EndReason, Speaker: j.Site.Speaker.Name,
	}
	v.site = j.Site
	told.Notice = v.notice()
	told.Face = v.livingAt(j.Site, v.faceUnder(j.Site, strings.TrimSuffix(v.r.URL.Path, "/ticket")))
	told.Hosts = v.hostsAt(j.Site, strings.TrimSuffix(v.r.URL.Path, "/ticket"))
	v.answer(http.StatusOK, told)
}

// joinCheck tells the page's script what the check of microphone and sound needs, and keeps the session
// meanwhile.
func (v *view) joinCheck(session id.Session) {
	j, err := v.joined(session)
	if err == nil {
		err = v.h.Conversations.Hold(v.r.Context(), j.Site, session)
	}
	if err != nil {
		v.refuseScript(err)
		return
	}
	v.soundCheck(j.Site)
}

// joinPortrait sends the picture of who speaks in a session, or of a host of a duo by their seat, to who has its token.
func (v *view) joinPortrait(session id.Session, seat string) error {
	j, err := v.joined(session)
	if err != nil {
		return err
	}
	return v.portraitOf(j.Site, seat)
}

// portraitOf sends the picture of who speaks, or of a host of a duo by their seat, to who holds a secret.
func (v *view) portraitOf(site *published.Site, seat string) error {
	v.site = site
	if seat != "" {
		if err := v.sit(seat); err != nil {
			return err
		}
	}
	data, contentType, err := v.h.Portraits.Portrait(v.r.Context(), v.site)
	if err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", keptByNone)
	packed.New(data, contentType).Serve(v.w, v.r, http.StatusOK)
	return nil
}

// faceUnder is under what a speaker's living face is: a library face is the same for
// everybody, and an own one for those who may see the page that has the path.
func (v *view) faceUnder(site *published.Site, page string) string {
	if v.h.Portraits.OfLibrary(site.Speaker.Avatar) {
		return joinPrefix + "face/" + site.Speaker.Avatar.Bare() + "/"
	}
	return page + livingPrefix
}

// joinedFace sends the living face of who speaks in a session, to who has its token.
func (v *view) joinedFace(session id.Session, file string) error {
	j, err := v.joined(session)
	if err != nil {
		return err
	}
	v.site = j.Site
	return v.heldLiving(file)
}

// joinFace sends a living face of the library, which is anybody's to see.
func (v *view) joinFace(path string) error {
	name, file, _ := strings.Cut(path, "/")
	face, err := id.ParseAvatar(name)
	if err != nil {
		return errNoPage
	}
	v.site = &published.Site{Speaker: published.Speaker{Avatar: face}}
	if !v.h.Portraits.OfLibrary(face) {
		return errNoPage
	}
	return v.living(file, keptByAll)
}
