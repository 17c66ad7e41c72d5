// Package page is the published portals as pages: welcome, subjects, the ways in,
// and the conversation in text. What is shown is package published's business; who
// may come in and what a session needs are asked of the Doors and the Conversations
// that the program wires in.
//
// Everything but the conversation itself works without a script.
package page

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/web/packed"
)

// Options are what pages need.
type Options struct {
	Sites         Sites
	Doors         Doors
	Conversations Conversations
	// Audits are what portals show of how often people of each category were selected; nil for none.
	Audits Audits
	// Candidates are how candidates stand; nil where there are none.
	Candidates Candidates
	// Appointments are what the links in mails about them open; nil of none.
	Appointments Appointments
	// Learning is what members learn, and Classes what they have to do with the learning of others;
	// nil where there are no pages of it.
	Learning  Learning
	Classes   Classes
	Portraits Portraits
	// Certificates says which certificates count; nil of none.
	Certificates Certificates
	// Recordings finds what was recorded of sessions; nil where nothing is.
	Recordings Recordings
	// Dashboards finds what links to dashboards open; nil where nothing is.
	Dashboards Dashboards
	// Platforms are learning platforms that launch portals; nil where none do.
	Platforms Platforms
	// Silent says that portals converse in text alone.
	Silent bool
	// PortalURL is where portals are that have no host of their own, without a
	// path. Portals with one are served on every other host.
	PortalURL string
	// PublicURL is where the API is, without a path; empty where it tells nobody of agents.
	PublicURL string
	// LiveURL is where browsers open sockets, ws:// or wss:// without a path.
	LiveURL string
	// Address is who a request comes from, as the deployment's proxies say.
	Address func(*http.Request) netip.Addr
	// Count counts a request for the limit of who it comes from, and says so in the
	// header. The error is a problem; nil counts nothing.
	Count func(http.ResponseWriter, *http.Request) error
	// Name says what a request is for, in few words for the figures, such as
	// page.talk; nil says it to nobody.
	Name func(ctx context.Context, name string)
	Log  *slog.Logger
	// Rendered is the largest number of pages that are kept as they are sent; zero
	// means 4,000.
	Rendered int
}

// Sites find what is published; package published has them.
type Sites interface {
	// Site finds what is published at an address. The error is published.ErrNone or
	// published.ErrGone where nothing is.
	Site(ctx context.Context, a directory.Address) (*published.Site, error)
}

// Certificates say whether the certificate with a number counts; package certificate's
// registry does.
type Certificates interface {
	// Verify looks a number up. The error is errdefs.NotFound where no certificate has it.
	Verify(ctx context.Context, n certificate.Number) (certificate.Verified, error)
}

// Handler serves portals, by host or under /p/{slug}.
type Handler struct {
	Options
	own      string // the host of PortalURL
	secure   bool
	rendered lru.Cache[renderKey, *packed.Document]
	wishes   lru.Cache[wish, string]
	origins  *http.CrossOriginProtection
}

// SlugPrefix is under what portals without a host of their own are.
const SlugPrefix = "/p/"

// New makes a handler.
func New(o Options) (*Handler, error) {
	if o.Rendered == 0 {
		o.Rendered = 4000
	}
	at, err := url.Parse(o.PortalURL)
	if err != nil {
		return nil, err
	}
	h := &Handler{Options: o, own: hostOf(at.Host), secure: at.Scheme == "https", origins: http.NewCrossOriginProtection()}
	if h.rendered, err = lru.New[renderKey, *packed.Document](o.Rendered); err != nil {
		return nil, err
	}
	// No visitor waits for what a process that shows pages makes once.
	theAssets()
	templates()
	speeches()
	names()
	h.wishes, err = lru.New[wish, string](4 * o.Rendered)
	return h, err
}

// ServeHTTP finds the portal that a request is for and the page within it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w.Header())
	if h.secure {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.name(r, "none") // until it is known
	if h.Count != nil {
		if err := h.Count(w, r); err != nil {
			h.over(w, r, err)
			return
		}
	}
	if strings.HasPrefix(r.URL.Path, assetPrefix) {
		h.name(r, "asset")
		serveAsset(w, r)
		return
	}
	if rest, found := strings.CutPrefix(r.URL.Path, joinPrefix); found {
		h.name(r, "join")
		h.join(w, r, rest)
		return
	}
	if rest, found := strings.CutPrefix(r.URL.Path, staffPrefix); found {
		h.name(r, "staff")
		h.staff(w, r, rest)
		return
	}
	if rest, found := strings.CutPrefix(r.URL.Path, recordingPrefix); found && h.Recordings != nil {
		h.name(r, "recording")
		h.recording(w, r, rest)
		return
	}
	if token, found := strings.CutPrefix(r.URL.Path, mailer.LinkPath); found && h.Appointments != nil && hostOf(r.Host) == h.own {
		h.name(r, "booking")
		h.booking(w, r, token)
		return
	}
	if rest, found := strings.CutPrefix(r.URL.Path, dashboardPrefix); found && h.Dashboards != nil {
		h.name(r, "dashboard")
		h.dashboard(w, r, rest)
		return
	}
	if rest, found := strings.CutPrefix(r.URL.Path, certificate.VerifyPath); found && h.Certificates != nil {
		h.name(r, "verify")
		if hostOf(r.Host) != h.own {
			h.toOwn(w, r)
			return
		}
		h.verify(w, r, rest)
		return
	}
	address, base, rest, ok := h.locate(r)
	if !ok {
		h.nothing(w, r, published.ErrNone)
		return
	}
	site, err := h.Sites.Site(r.Context(), address)
	if err != nil {
		h.nothing(w, r, err)
		return
	}
	if address.Kind == directory.Slug && site.Slug != address.Name {
		h.moved(w, r, SlugPrefix+site.Slug+rest)
		return
	}
	if document := wellKnown[rest]; document != "" && address.Kind == directory.Host && h.PublicURL != "" && site.Stamp.Agents {
		h.name(r, "card")
		h.toAgent(w, r, site.Slug, document)
		return
	}
	h.name(r, kindOf(r.Method, rest))
	v := &view{h: h, w: w, r: r, site: site, base: base, origins: site.Definition.AllowedOrigins}
	if err := v.serve(rest); err != nil {
		h.refuse(v, err)
	}
}

// name says what a request is for.
func (h *Handler) name(r *http.Request, kind string) {
	if h.Name != nil {
		h.Name(r.Context(), "page."+kind)
	}
}

// kindOf is what a path within a portal is for: what there is one of for each subject,
// picture or session has one name.
func kindOf(method, path string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case kind == "":
		return "welcome"
	case kind == "s":
		return "subject"
	case strings.HasPrefix(path, themePrefix):
		return "theme"
	case kind == "sessions" && strings.HasSuffix(path, "/rating"):
		return "rating"
	case kind == "sign-in" && method == http.MethodPost:
		return "door"
	case slices.Contains([]string{"portrait", "face", "picture", "sign-in", "enter", "talk", "interview", "sessions", "sign-out", "work", "results", "record", "certificates", "reports", "class", "bias-audit", "lti"}, kind):
		return kind
	}
	return "none"
}

// Fault says on a page that the program has a fault.
func (h *Handler) Fault(w http.ResponseWriter, r *http.Request) {
	h.refuse(nobodys(h, w, r), refused(http.StatusInternalServerError, "refused.other"))
}

// locate reads which portal a request is for, the path that its pages begin
// with, and what comes after it.
func (h *Handler) locate(r *http.Request) (a directory.Address, base, rest string, ok bool) {
	if after, found := strings.CutPrefix(r.URL.Path, SlugPrefix); found {
		slug, rest, _ := strings.Cut(after, "/")
		return directory.Address{Kind: directory.Slug, Name: slug}, SlugPrefix + slug, "/" + rest, isSlug(slug)
	}
	host := hostOf(r.Host)
	return directory.Address{Kind: directory.Host, Name: host}, "", r.URL.Path, host != h.own && isHost(host)
}

// moved sends a browser on that came by a former slug: links that people keep go on
// to work.
func (h *Handler) moved(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Cache-Control", "no-store") // the slug may become somebody else's
	to := url.URL{Path: strings.TrimSuffix(path, "/"), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
}

// toOwn sends a browser on to the same path of the deployment's own host. What is nobody's
// portal is not served on theirs, where it would seem to be theirs.
func (h *Handler) toOwn(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")                                                                // the host may become the deployment's own
	http.Redirect(w, r, strings.TrimSuffix(h.PortalURL, "/")+r.URL.RequestURI(), http.StatusTemporaryRedirect) //nolint:gosec // to the deployment's own host
}

// wellKnown are the places where assistants look for what a host has for them, and what of an agent is there: the card of
// the Agent2Agent protocol, and the catalogs of all protocols and of MCP's servers, whose entries have the same form.
var wellKnown = map[string]string{
	"/.well-known/agent-card.json":  "card.json",
	"/.well-known/ai-catalog.json":  "catalog.json",
	"/.well-known/mcp/catalog.json": "catalog.json",
}

// toAgent sends a client on to a document about the agent of a portal with a host of its own. Whether there is
// one the API says.
func (h *Handler) toAgent(w http.ResponseWriter, r *http.Request, slug, document string) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cache-Control", "no-store")                                                                             // the host may become somebody else's
	http.Redirect(w, r, strings.TrimSuffix(h.PublicURL, "/")+"/v1/agents/"+slug+"/"+document, http.StatusTemporaryRedirect) //nolint:gosec // to the deployment's own API
}

// Serves says whether a request is for the pages, in a process that serves other
// things on the same address: it is for a slug, or for the host of a portal.
func (h *Handler) Serves(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, SlugPrefix) || strings.HasPrefix(r.URL.Path, mailer.LinkPath) || strings.HasPrefix(r.URL.Path, certificate.VerifyPath) {
		return true
	}
	address, _, _, ok := h.locate(r)
	if !ok {
		return false
	}
	_, err := h.Sites.Site(r.Context(), address)
	return !errors.Is(err, published.ErrNone)
}

// longest names: a label of DNS, and a host.
const (
	longestSlug = 63
	longestHost = 253
)

// isSlug says whether something can be a slug at all, before anybody is asked.
func isSlug(s string) bool { return len(s) <= longestSlug && made(s, "-") }

func isHost(s string) bool {
	return len(s) <= longestHost && strings.Contains(s, ".") && made(s, "-.")
}

// made says whether a name is made of small letters, digits, and others between them.
func made(s, others string) bool {
	if s == "" || strings.ContainsAny(s[:1]+s[len(s)-1:], others) {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune(others, c) {
			return false
		}
	}
	return true
}

// hostOf is a host without its port, in small letters.
func hostOf(host string) string {
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:at]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
