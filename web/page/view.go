package page

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/published"
)

// view is one request for a page of a site.
type view struct {
	h    *Handler
	w    http.ResponseWriter
	r    *http.Request
	site *published.Site
	// base is what the paths of the portal's pages begin with, without a slash at
	// its end.
	base string
	// language is of the page, and speech what the page says in it.
	language string
	speech   speech
	// visit is who is signed in; nil for nobody.
	visit  *Visit
	secret string
	// path is of the page, and about the subject that it is asked for; empty for none.
	path, about string
	// framed says that any page may show this one in a frame, and origins are of those
	// that may: the portal's, and what the browser showed, also where it is refused.
	framed  bool
	origins []string
	// blobs says that the page shows pictures that its script has fetched.
	blobs bool
	// media says that it plays sound from files.
	media bool
	// rooms are the addresses of the media server that it connects to.
	rooms []string
	// formsTo are origins that its forms lead to, besides the portal.
	formsTo []string
}

// nobodys is a view of no site, to say that there is none.
func nobodys(h *Handler, w http.ResponseWriter, r *http.Request) *view {
	offered := slices.Sorted(maps.Keys(speeches()))
	accept := r.Header.Get("Accept-Language")
	if len(accept) > longestAccept {
		accept = ""
	}
	code := match(accept, offered, fallback)
	site := &published.Site{Definition: portal.Definition{Languages: []string{code}, DefaultLanguage: code}}
	return &view{h: h, w: w, r: r, site: site, language: code, speech: spoken(code)}
}

// serve answers with the page at a path within the site.
func (v *view) serve(path string) error {
	v.path = path
	var chosen bool
	if v.language, chosen = v.h.choose(v.r, v.site); chosen {
		c := v.cookie(languageCookie, v.language) //nolint:gosec // as every cookie of the portal's
		c.MaxAge = int(keepLanguage.Seconds())
		http.SetCookie(v.w, c)
	}
	v.speech = spoken(v.language)
	if rest, ok := strings.CutPrefix(path, ltiPrefix); ok {
		return v.lti(rest)
	}
	switch v.r.Method {
	case http.MethodGet, http.MethodHead:
		return v.get(path)
	case http.MethodPost:
		return v.post(path)
	}
	v.w.Header().Set("Allow", "GET, HEAD, POST")
	return refused(http.StatusMethodNotAllowed, "refused.other")
}

// The methods that a path takes.
var (
	reading = []string{http.MethodGet, http.MethodHead}
	posting = []string{http.MethodPost}
)

// taking serves a path that takes these methods.
func (v *view) taking(methods []string, serve func() error) error {
	if slices.Contains(methods, v.r.Method) {
		return serve()
	}
	v.w.Header().Set("Allow", strings.Join(methods, ", "))
	return refused(http.StatusMethodNotAllowed, "refused.other")
}

// errNoPage is for a path that has no page.
var errNoPage = refused(http.StatusNotFound, "missing.text")

func (v *view) get(path string) error {
	switch {
	case strings.HasPrefix(path, themePrefix) && path == v.themePath():
		return v.theme()
	case path == "/portrait":
		return v.portrait()
	case strings.HasPrefix(path, portraitPrefix):
		return v.hostPortrait(strings.TrimPrefix(path, portraitPrefix))
	case strings.HasPrefix(path, livingPrefix):
		return v.publicLiving(strings.TrimPrefix(path, livingPrefix))
	case strings.HasPrefix(path, picturePrefix):
		return v.picture(strings.TrimPrefix(path, picturePrefix))
	}
	if path == "/enter" {
		return v.enterPage() // before anybody is recognised: whoever frames it sees no name
	}
	if err := v.recognise(); err != nil {
		if path == "/talk" || path == checkPath || isLearning(path) {
			return err
		}
		// What is for everybody needs nobody's name.
		v.h.note(v.r, refusalOf(err, ""), err)
	}
	switch path {
	case "/":
		return v.page("/", "welcome", v.welcome)
	case "/sign-in":
		return v.comeIn()
	case "/sso":
		return v.askProvider()
	case ssoCallback:
		return v.answered()
	case "/link":
		return v.linkPage()
	case "/talk":
		return v.talk()
	case checkPath:
		if v.visit == nil {
			v.refuseScript(ErrNoVisit)
			return nil
		}
		v.soundCheck(v.site)
		return nil
	case "/interview":
		return v.interview("")
	case "/interview/data", "/interview/data.json":
		return v.given(path != "/interview/data")
	}
	if path == demographics.Page {
		return v.audit()
	}
	if name, ok := strings.CutPrefix(path, "/s/"); ok {
		return v.subject(name)
	}
	if isLearning(path) {
		return v.learning(path)
	}
	if takesForms(path) {
		return v.taking(posting, nil)
	}
	return errNoPage
}

// takesForms says whether a path is where forms and scripts send something to.
func takesForms(path string) bool {
	return path == "/sessions" || path == "/sign-out" || strings.HasPrefix(path, "/interview/") || strings.HasPrefix(path, "/sessions/") || strings.HasPrefix(path, "/sign-in/")
}

// isPage says whether a path is a page's, or a picture's on one.
func isPage(path string) bool {
	return slices.Contains([]string{"/", "/enter", "/link", "/portrait", "/sign-in", "/sso", ssoCallback, "/talk", checkPath, "/interview", demographics.Page}, path) ||
		slices.ContainsFunc([]string{"/s/", themePrefix, livingPrefix, portraitPrefix, picturePrefix}, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

func (v *view) post(path string) error {
	if err := v.h.origins.Check(v.r); err != nil || v.h.secure && strings.HasPrefix(v.r.Header.Get("Origin"), "http://") {
		return refused(http.StatusForbidden, "refused.foreign")
	}
	longest := int64(longestForm)
	if isLearning(path) {
		longest = longestWords
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, longest)
	if path == "/sessions" {
		return v.start()
	}
	if name, ok := strings.CutPrefix(path, "/sessions/"); ok {
		return v.rate(name)
	}
	if path == "/sign-out" {
		return v.signOut()
	}
	if what, ok := strings.CutPrefix(path, "/interview/"); ok {
		return v.applied(what)
	}
	if door, ok := strings.CutPrefix(path, "/sign-in/"); ok {
		return v.signIn(door)
	}
	if isLearning(path) {
		return v.learned(path)
	}
	if isPage(path) {
		return v.taking(reading, nil)
	}
	return errNoPage
}

// longestForm is in bytes; tokens are the longest that is sent.
const longestForm = 16 << 10

// longestWords is that of the members' pages: 4,000 characters, of which each can take twelve bytes
// in a form, and beside them the points of each criterion, given and seen.
const longestWords = 64<<10 + mostScores*256

// longestSecret bounds what is asked of the doors.
const longestSecret = 400

// recognise finds who is signed in.
func (v *view) recognise() error {
	c, err := v.r.Cookie(visitCookie)
	if err != nil || c.Value == "" || len(c.Value) > longestSecret {
		return nil //nolint:nilerr // nobody is signed in
	}
	v.secret = c.Value
	visit, err := v.h.Doors.Visit(v.r.Context(), v.site, v.secret)
	v.framedBy(visit.AllowedOrigins)
	switch {
	case errors.Is(err, ErrNoVisit):
		return nil
	case err != nil:
		return err
	}
	v.visit = &visit
	return nil
}

// framedBy lets more pages show this one in a frame.
func (v *view) framedBy(origins []string) { v.origins = slices.Concat(v.origins, origins) }

// named finds the subject that a form or an address names; nil for none.
func (v *view) named(value string) (*published.Subject, error) {
	if value == "" {
		return nil, nil //nolint:nilnil // a conversation needs no subject
	}
	wanted, err := id.ParseSubject(value)
	if err != nil {
		return nil, errNoPage
	}
	found, ok := v.site.Subject(wanted)
	if !ok {
		return nil, errNoPage
	}
	return found, nil
}

// goTo sends the browser to another page of the portal.
func (v *view) goTo(path string) error {
	v.w.Header().Set("Cache-Control", "no-store")
	http.Redirect(v.w, v.r, v.at(path), http.StatusSeeOther) //nolint:gosec // to a page of the portal
	return nil
}

// at is the address of a page of the portal.
func (v *view) at(path string) string {
	if path == "/" && v.base != "" {
		return v.base
	}
	return v.base + path
}
