package page

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/provider/lti"
)

// Platforms are the learning platforms that launch portals by LTI 1.3.
type Platforms interface {
	// Begin sends somebody to the platform of a connection, which answers to redirect.
	Begin(ctx context.Context, site *published.Site, which id.Connection, h lti.Hint, redirect string) (PlatformQuestion, error)
	// Launch reads what the platform answered. Where it refuses, it answers the Origins.
	Launch(ctx context.Context, site *published.Site, which id.Connection, a PlatformAnswer) (Launched, error)
	// Choose answers the platform with what somebody chose by a Choice. Where it refuses, it answers
	// the Origins.
	Choose(ctx context.Context, site *published.Site, which id.Connection, choice string, item lti.Item) (Chosen, error)
	// Keys are those by which the platform checks what the portal's organization signs. The
	// error is a problem where the connection is none of the portal's.
	Keys(ctx context.Context, site *published.Site, which id.Connection) ([]byte, error)
}

// PlatformQuestion is a browser's way to a learning platform, which answers with the state.
type PlatformQuestion struct {
	// URL is where it goes, and Cookie what the browser keeps meanwhile, for State.
	URL, State, Cookie string
	ExpiresAt          time.Time
}

// PlatformAnswer is what a browser brings back from a learning platform.
type PlatformAnswer struct{ State, Token, Cookie string }

// Launched is what came of a launch.
type Launched struct {
	// Entered is who came in, where nothing is to be chosen.
	Entered Entered
	// Choice is set where somebody is to choose what a course links to: what Choose takes.
	Choice string
	// Origins are of the pages that may show what comes of it in a frame.
	Origins []string
}

// Chosen is how a platform is answered that asked to have something chosen.
type Chosen struct {
	// ReturnURL is where the browser takes the signed Token.
	ReturnURL, Token string
	// Origins are of the pages that may show that in a frame.
	Origins []string
}

const (
	ltiPrefix = "/lti/"
	// longestLaunch is in bytes: what a platform says of a person and a course.
	longestLaunch = 128 << 10
	// longestState is that of a state, and longestHint that of each part of a hint.
	longestState, longestHint = 4 << 10, 4 << 10
	// longestChoice is of a form with a choice, which holds what the platform said of it.
	longestChoice = 2 * longestLaunch
)

// lti serves what a learning platform asks of its tool, by the connection. Its requests come from
// the platform's pages: they are checked by what they bring, not by where they come from.
func (v *view) lti(path string) error {
	name, what, _ := strings.Cut(path, "/")
	which, err := id.ParseConnection(name)
	if err != nil || v.h.Platforms == nil {
		return errNoPage
	}
	v.w.Header().Set("Cache-Control", "no-store")
	v.path = "/" // the language is switched there
	switch what {
	case "login":
		return v.taking([]string{http.MethodGet, http.MethodPost}, func() error { return v.ltiLogin(which) })
	case "launch":
		return v.taking(posting, func() error { return v.ltiLaunch(which) })
	case "choice":
		return v.taking(posting, func() error { return v.choose(which) })
	case "jwks":
		return v.taking(reading, func() error { return v.ltiKeys(which) })
	case "config.json":
		return v.taking(reading, func() error { return v.ltiConfig(which) })
	}
	return errNoPage
}

// ltiAt is the address of a part of the tool, as the platform knows it.
func (v *view) ltiAt(which id.Connection, what string) string {
	return v.own() + ltiPrefix + which.String() + "/" + what
}

// ltiLogin begins a launch: it sends the browser to the platform, and has it keep what shows that
// it is the same one when it comes back.
func (v *view) ltiLogin(which id.Connection) error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, longestForm)
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	given := v.r.Form
	h := lti.Hint{
		Issuer: given.Get("iss"), Login: given.Get("login_hint"), Message: given.Get("lti_message_hint"),
		ClientID: given.Get("client_id"), Deployment: given.Get("lti_deployment_id"),
	}
	if slices.ContainsFunc([]string{h.Issuer, h.Login, h.Message, h.ClientID, h.Deployment}, func(s string) bool { return len(s) > longestHint }) {
		return refused(http.StatusBadRequest, "refused.other")
	}
	q, err := v.h.Platforms.Begin(v.r.Context(), v.site, which, h, v.ltiAt(which, "launch"))
	if err != nil {
		return err
	}
	c := v.ltiCookie(q.State, q.Cookie) //nolint:gosec // as every cookie of the portal's
	c.Expires = q.ExpiresAt
	http.SetCookie(v.w, c)
	http.Redirect(v.w, v.r, q.URL, http.StatusSeeOther) // to where the organization's connection says
	return nil
}

// ltiCookie keeps what shows that a browser began a launch. It comes back from a page of another
// site, perhaps in a frame there, where browsers keep cookies apart by the site of the frame.
// Each launch has one: several can be under way.
func (v *view) ltiCookie(state, value string) *http.Cookie {
	hash := sha256.Sum256([]byte(state))
	c := v.cookie("lti-"+hex.EncodeToString(hash[:8]), value) //nolint:gosec // as every cookie of the portal's
	c.Path = "/"
	if v.h.secure {
		c.Name, c.SameSite, c.Partitioned = "__Host-"+c.Name, http.SameSiteNoneMode, true
	}
	return c
}

// ltiLaunch lets in whom the platform sends, or has them choose what a course links to.
func (v *view) ltiLaunch(which id.Connection) error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, longestLaunch)
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	a := PlatformAnswer{State: v.r.PostForm.Get("state"), Token: v.r.PostForm.Get("id_token")}
	if a.State == "" || len(a.State) > longestState {
		return refused(http.StatusForbidden, "refused.answer")
	}
	if c, err := v.r.Cookie(v.ltiCookie(a.State, "").Name); err == nil && len(c.Value) <= longestSecret {
		a.Cookie = c.Value
		gone := v.ltiCookie(a.State, "") //nolint:gosec // as above
		gone.MaxAge, gone.Expires = -1, time.Unix(1, 0)
		http.SetCookie(v.w, gone) // whatever comes of it, it is over
	}
	launched, err := v.h.Platforms.Launch(v.r.Context(), v.site, which, a)
	v.framedBy(launched.Origins)
	switch {
	case err != nil && a.Cookie == "" && refusalOf(err, "").key == "refused.answer":
		return refused(http.StatusForbidden, "refused.cookies")
	case err != nil:
		return err
	case launched.Choice != "":
		return v.pick(which, launched.Choice)
	}
	v.keep(launched.Entered)
	return v.goTo(afterwards(launched.Entered.Visit, "", false))
}

// pickBody is the page's own on which a course's link is chosen.
type pickBody struct {
	Action, Choice string
	Picks          []card
}

// pick shows what a course can link to.
func (v *view) pick(which id.Connection, choice string) error {
	body := pickBody{Action: v.at(ltiPrefix + which.String() + "/choice"), Choice: choice}
	for _, each := range v.site.Subjects {
		if each.Kind != subject.Screening {
			body.Picks = append(body.Picks, v.card(each))
		}
	}
	s := v.sheet("lti.pick")
	s.Body = body
	return v.show(http.StatusOK, "pick", s)
}

// chosenBody is the page's own that takes a choice to the platform.
type chosenBody struct {
	ReturnURL, JWT string
	Card           card
}

// choose signs what was chosen, that alone, and has the browser take it to the platform.
func (v *view) choose(which id.Connection) error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, longestChoice)
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	about, err := id.ParseSubject(v.r.PostForm.Get("subject"))
	if err != nil {
		return refused(http.StatusNotFound, "missing.text")
	}
	each, ok := v.site.Subject(about)
	if !ok || each.Kind == subject.Screening {
		return refused(http.StatusNotFound, "missing.text")
	}
	c := v.card(*each)
	item := lti.Item{
		URL: v.ltiAt(which, "launch"), Title: cmp.Or(c.Title, v.site.Name), Text: c.Intro.Text,
		Custom: map[string]string{"subject": each.ID.String()},
	}
	if each.Kind == subject.Practice || each.Kind == subject.Assessment {
		item.Resource, item.ScoreMaximum = each.ID.String(), lti.ScoreMaximum
	}
	chosen, err := v.h.Platforms.Choose(v.r.Context(), v.site, which, v.r.PostForm.Get("choice"), item)
	v.framedBy(chosen.Origins)
	if err != nil {
		return err
	}
	if at, err := url.Parse(chosen.ReturnURL); err == nil {
		v.formsTo = slices.Concat(v.origins, []string{at.Scheme + "://" + at.Host})
	}
	s := v.sheet("lti.pick")
	s.Body = chosenBody{ReturnURL: chosen.ReturnURL, JWT: chosen.Token, Card: c}
	return v.show(http.StatusOK, "chosen", s)
}

// ltiKeys shows the keys by which the platform checks what the organization signs.
func (v *view) ltiKeys(which id.Connection) error {
	set, err := v.h.Platforms.Keys(v.r.Context(), v.site, which)
	if err != nil {
		return err
	}
	return v.document(set)
}

// document answers with JSON that everybody may know.
func (v *view) document(text []byte) error {
	header := v.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "public, max-age=60")
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(text) // the caller went away
	}
	return nil
}

// ltiConfig is what an administrator enters at a platform that reads a tool's settings as JSON, as
// Canvas does.
func (v *view) ltiConfig(which id.Connection) error {
	if _, err := v.h.Platforms.Keys(v.r.Context(), v.site, which); err != nil {
		return err
	}
	title := v.sheet("home").Brand.Text
	launch := v.ltiAt(which, "launch")
	placement := func(name, message string) map[string]any {
		return map[string]any{"placement": name, "message_type": message, "target_link_uri": launch, "text": title}
	}
	text, err := json.Marshal(map[string]any{
		"title": title, "description": title, "oidc_initiation_url": v.ltiAt(which, "login"), "target_link_uri": launch,
		"redirect_uris": []string{launch}, "public_jwk_url": v.ltiAt(which, "jwks"), "scopes": []string{lti.ScoreScope, lti.MembersScope},
		"extensions": []any{map[string]any{
			"platform": "canvas.instructure.com", "privacy_level": "name_only",
			"settings": map[string]any{"text": title, "placements": []any{
				placement("link_selection", lti.DeepLink), placement("assignment_selection", lti.DeepLink),
			}},
		}},
	})
	if err != nil {
		return err
	}
	return v.document(text)
}
