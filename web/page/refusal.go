package page

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/tenant"
)

// refusal is an error as a visitor reads it: a status and a text.
type refusal struct {
	status int
	// key is of the strings: "refused.code"; with stands for its "%s".
	key  string
	with []string
	// retryAfter is in seconds; zero for no hint.
	retryAfter int
}

func (r *refusal) Error() string { return r.key }

func refused(status int, key string, with ...string) *refusal {
	return &refusal{status: status, key: key, with: with}
}

// byReason and byCode choose what a visitor reads where a door or the mint of a
// session refuses.
var byReason = map[string]string{
	"not_published": "closed", "door_closed": "door_closed", "too_many_tries": "rate", "visit_ended": "visit",
	"token_invalid": "link", "token_elsewhere": "link", "token_expired": "link_expired", "token_used": "link_used",
	"link_unknown": "link", "link_expired": "link_expired", "link_revoked": "link_expired", "link_used_up": "link_used",
	"provider_away": "provider_away", "provider_denied": "provider_denied", "answer_refused": "answer", "domain_refused": "account", "account_unknown": "account",
	"too_many_mails": "mails", "no_mail": "mail", "code_unknown": "code", "address_known": "known", "name_required": "name", "email_required": "email", "consent_required": "consent", "age_required": "old_enough",
	"person_gone": "inactive", "no_membership": "inactive", "person_disabled": "inactive", "membership_disabled": "inactive",
	"not_started": "inactive", "membership_ended": "inactive", "guardian_consent_missing": "guardian", "too_young": "too_young",
	"person_sessions": "daily", "no_attempts_left": "attempts", "prerequisites_missing": "prerequisites", "assignment_not_open": "not_open", "not_assigned": "not_assigned",
	"excused": "not_assigned", "not_assignable": "not_assigned", "assignment_of_other": "not_assigned", "daily_sessions": "closed", "switched_off": "closed", "closed": "closed", "full": "places",
}

var byCode = map[problem.Code]string{
	problem.AccountPaused: "closed", problem.FeatureNotInPlan: "closed", problem.InsufficientMinutes: "closed", problem.UpgradeRequired: "closed", problem.Forbidden: "inactive",
	problem.Capacity: "busy", problem.FaceNotReady: "busy", problem.DuoNotLive: "busy",
	problem.UpstreamError: "busy", problem.UpstreamTimeout: "busy",
	problem.ConcurrencyLimit: "places", problem.RateLimited: "rate", problem.Gone: "link_expired", problem.ConsentRequired: "consent",
	problem.Unauthorized: "visit",
}

// byParam chooses for an input that is wrong.
var byParam = map[string]string{
	"body.name": "name", "body.email": "email", "body.consent": "consent", "body.age": "old_enough", "body.oldEnough": "old_enough",
	"body.code": "code", "body.token": "link", "assignmentId": "not_assigned",
}

// refusalOf is what a visitor reads of an error. at is what is asked at: "code" and
// "link" say that something unknown is that.
func refusalOf(err error, at string) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	p, ok := errors.AsType[*problem.Problem](err)
	switch {
	case errors.Is(err, ErrNoPortrait):
		return errNoPage
	case errors.Is(err, ErrNoVisit):
		return refused(http.StatusUnauthorized, "refused.visit")
	case !ok && tenant.Unavailable(err):
		return &refusal{status: http.StatusServiceUnavailable, key: "refused.busy", retryAfter: 1}
	case !ok:
		return refused(http.StatusInternalServerError, "refused.other")
	}
	reason, _ := p.Details["reason"].(string)
	key := byReason[reason]
	if key == "" {
		key = byParam[p.Param]
	}
	if key == "" && at != "" && (p.Code == problem.NotFound || p.Code == problem.Unauthorized) {
		key = at
	}
	if key == "" {
		key = byCode[p.Code]
	}
	if key == "" {
		key = "other"
	}
	return &refusal{status: p.Code.Status(), key: "refused." + key, retryAfter: int(math.Ceil(p.RetryAfter.Seconds()))}
}

// note logs what is our fault.
func (h *Handler) note(r *http.Request, found *refusal, err error) {
	if found.status >= http.StatusInternalServerError {
		h.Log.WarnContext(r.Context(), "a page was refused", "path", loggedPath(r.URL.Path), "status", found.status, "error", err)
	}
}

// loggedPath is a path as the log may have it: whoever has the rest of that of a dashboard or an
// appointment can open it.
func loggedPath(path string) string {
	for _, prefix := range []string{dashboardPrefix, mailer.LinkPath} {
		if strings.HasPrefix(path, prefix) {
			return prefix
		}
	}
	return path
}

// refuse shows a page of the site that says what was wrong.
func (h *Handler) refuse(v *view, err error) {
	found := refusalOf(err, "")
	h.note(v.r, found, err)
	v.path = "/" // the one that was asked for is anybody's words
	s := v.sheet("refused.title")
	if found.status == http.StatusNotFound {
		s = v.sheet("missing.title")
	}
	s.Message = s.Say(found.key, found.with...)
	hint(v.w, found)
	_ = v.show(found.status, "message", s) // it answers its own errors
}

// hint says when to try again.
func hint(w http.ResponseWriter, found *refusal) {
	if found.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(found.retryAfter))
	}
}

// refuseScript tells a script what was wrong, in the page's language.
func (v *view) refuseScript(err error) {
	found := refusalOf(err, "")
	v.h.note(v.r, found, err)
	hint(v.w, found)
	v.answer(found.status, map[string]any{"code": found.key, "message": v.speech.say(found.key, found.with...)})
}

// answer answers a script.
func (v *view) answer(status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(errors.Join(errors.New("an answer cannot be written"), err)) // a fault of the program
	}
	header := v.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(text) // the caller went away
}

// over says that too much was asked for, of whichever portal.
func (h *Handler) over(w http.ResponseWriter, r *http.Request, err error) {
	v := nobodys(h, w, r)
	if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/sessions") {
		v.refuseScript(err)
		return
	}
	h.refuse(v, err)
}

// nothing shows that there is no portal at an address.
func (h *Handler) nothing(w http.ResponseWriter, r *http.Request, err error) {
	found, title := refused(http.StatusNotFound, "missing.text"), "missing.title"
	switch {
	case errors.Is(err, published.ErrNone):
	case errors.Is(err, published.ErrGone):
		found, title = refused(http.StatusGone, "gone.text"), "gone.title"
	case r.Context().Err() != nil:
		return
	case tenant.Unavailable(err):
		found, title = &refusal{status: http.StatusServiceUnavailable, key: "busy.text", retryAfter: 1}, "busy.title"
	default:
		found, title = refused(http.StatusInternalServerError, "busy.text"), "busy.title"
	}
	h.note(r, found, err)
	hint(w, found)
	v := nobodys(h, w, r)
	s := v.sheet(title)
	s.Message = s.Say(found.key, found.with...)
	_ = v.show(found.status, "message", s) // it answers its own errors
}
