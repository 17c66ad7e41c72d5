package page

import (
	"net/http"
	"time"
)

// ssoCallback is where an identity provider answers.
const ssoCallback = "/sso/callback"

// askProvider sends the browser to the organization's identity provider. It is a link
// rather than a form: a page's forms lead to nobody else.
func (v *view) askProvider() error {
	if _, open := v.site.Doors[DoorSSO]; !open {
		return refused(http.StatusForbidden, "refused.door_closed")
	}
	q, err := v.h.Doors.AskProvider(v.r.Context(), v.site, v.own()+ssoCallback)
	if err != nil {
		return err
	}
	c := v.ssoCookie(q.Cookie) //nolint:gosec // as every cookie of the portal's
	c.Expires = q.ExpiresAt
	http.SetCookie(v.w, c)
	v.w.Header().Set("Cache-Control", "no-store")
	http.Redirect(v.w, v.r, q.URL, http.StatusSeeOther) // to where the organization's connection says
	return nil
}

// answered lets somebody in who comes back from an identity provider.
func (v *view) answered() error {
	var kept string
	if c, err := v.r.Cookie(v.ssoCookie("").Name); err == nil && len(c.Value) <= longestAttempt {
		kept = c.Value
	}
	gone := v.ssoCookie("") //nolint:gosec // as above
	gone.MaxAge, gone.Expires = -1, time.Unix(1, 0)
	http.SetCookie(v.w, gone) // whatever comes of it, it is over
	entered, err := v.h.Doors.Enter(v.r.Context(), v.site, Entry{
		Door: DoorSSO, Token: kept, Answer: v.r.URL.Query(), Language: v.language, Address: v.h.Address(v.r),
	})
	if err != nil {
		return err
	}
	v.keep(entered)
	return v.goTo(afterwards(entered.Visit, "", false))
}

// longestAttempt is in bytes.
const longestAttempt = 4 << 10

// ssoCookie keeps a question while somebody is at the provider. The answer is brought
// by a link from there, with which a browser sends Lax cookies. Where pages are on
// https nobody but this very host can have set it.
func (v *view) ssoCookie(value string) *http.Cookie {
	c := v.cookie("sso", value) //nolint:gosec // as every cookie of the portal's
	c.Path = "/"
	if v.h.secure {
		c.Name = "__Host-sso"
	}
	return c
}

// own is the portal's address, as providers know it.
func (v *view) own() string {
	if v.base == "" {
		return "https://" + v.site.Host
	}
	return v.h.PortalURL + v.base
}
