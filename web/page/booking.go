package page

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	words "visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/mailer"
)

// Appointment is an appointment as whoever has its link sees it.
type Appointment struct {
	// Title is what it is, and Location where; empty for nowhere that is known.
	Title, Location string
	// State is requested, confirmed, moved, cancelled, over, or offered, where a time is yet to be
	// chosen.
	State            string
	StartsAt, EndsAt time.Time
	Zone             *time.Location
	// Language is of whoever it was made with, as a code.
	Language string
	// Offered are the beginnings of times that can be chosen; none where none can.
	Offered []time.Time
	// Open says that it can be cancelled.
	Open bool
}

// Appointments are bookings and interviews with people, by the tokens of the links in their mails.
type Appointments interface {
	// Appointment finds what a token opens. The error is mailer.ErrNoAppointment.
	Appointment(ctx context.Context, token string) (Appointment, error)
	// Choose chooses another time, and Cancel cancels. The error is mailer.ErrNoAppointment, or
	// ErrUnfit where that is not so any more.
	Choose(ctx context.Context, token string, at time.Time) error
	Cancel(ctx context.Context, token string) error
}

// bookingBody is the page's own.
type bookingBody struct {
	Appointment
	// When is the time as text, Times those that can be chosen.
	When  string
	Times []bookingTime
	// Action is where the forms go.
	Action string
}

// bookingTime is a time with what a form sends for it.
type bookingTime struct{ Value, Text string }

// longestToken bounds the token of a link.
const longestToken = 400

// booking serves the page of an appointment. It is nobody's: whoever has the link may see it, on the
// deployment's own host alone. Only a form changes something, so that programs that follow the links
// in mails change nothing.
func (h *Handler) booking(w http.ResponseWriter, r *http.Request, token string) {
	v := nobodys(h, w, r)
	v.path = mailer.LinkPath + token
	if len(token) > longestToken || strings.Contains(token, "/") {
		h.refuse(v, errNoPage)
		return
	}
	a, err := h.Appointments.Appointment(r.Context(), token)
	if errors.Is(err, mailer.ErrNoAppointment) {
		err = errNoPage
	}
	if err != nil {
		h.refuse(v, err)
		return
	}
	v.switchTo(a.Language)
	if err := v.bookingPage(token, a); err != nil {
		h.refuse(v, err)
	}
}

// switchTo takes the language that the address names, or else one that somebody has.
func (v *view) switchTo(code string) {
	offered := slices.Sorted(maps.Keys(speeches()))
	v.site.Definition.Languages = offered
	asked := words.Key(v.r.URL.Query().Get(languageQuery))
	if !slices.Contains(offered, asked) {
		asked = code
	}
	if slices.Contains(offered, asked) {
		v.language, v.speech = asked, spoken(asked)
	}
}

func (v *view) bookingPage(token string, a Appointment) error {
	if v.r.Method == http.MethodPost {
		return v.rebook(token, a)
	}
	return v.taking(reading, func() error { return v.showBooking(http.StatusOK, a, "") })
}

func (v *view) showBooking(status int, a Appointment, message string) error {
	s := v.sheet("booking.title")
	s.Title, s.Message = a.Title, message
	body := bookingBody{Appointment: a, Action: v.path + "?" + url.Values{languageQuery: {v.language}}.Encode()}
	if !a.StartsAt.IsZero() {
		body.When = a.StartsAt.In(a.Zone).Format("2006-01-02 15:04 MST") + " (" + a.Zone.String() + ")"
	}
	for _, at := range a.Offered {
		body.Times = append(body.Times, bookingTime{at.UTC().Format(time.RFC3339), at.In(a.Zone).Format("2006-01-02 15:04 MST")})
	}
	s.Body = body
	return v.show(status, "booking", s)
}

// rebook does what a form on the page says, and shows the page again.
func (v *view) rebook(token string, a Appointment) error {
	if err := v.h.origins.Check(v.r); err != nil || v.h.secure && strings.HasPrefix(v.r.Header.Get("Origin"), "http://") {
		return refused(http.StatusForbidden, "refused.other")
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, 10_000)
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	var err error
	switch v.r.PostForm.Get("do") {
	case "cancel":
		err = v.h.Appointments.Cancel(v.r.Context(), token)
	case "choose":
		at, wrong := time.Parse(time.RFC3339, v.r.PostForm.Get("time"))
		if wrong != nil {
			return v.showBooking(http.StatusBadRequest, a, v.Say("booking.choose_missing"))
		}
		err = v.h.Appointments.Choose(v.r.Context(), token, at)
	default:
		return refused(http.StatusBadRequest, "refused.other")
	}
	if errors.Is(err, ErrUnfit) {
		now, again := v.h.Appointments.Appointment(v.r.Context(), token)
		if again != nil {
			return again
		}
		return v.showBooking(http.StatusConflict, now, v.Say("booking.unfit"))
	}
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, v.path+"?"+url.Values{languageQuery: {v.language}}.Encode(), http.StatusSeeOther) //nolint:gosec // to the same page
	return nil
}
