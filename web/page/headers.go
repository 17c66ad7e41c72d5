package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// harden sets what every answer says.
func harden(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	// Forms must show where they come from, and nobody else learns of the page.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(self), payment=(), usb=()")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// policy is the Content-Security-Policy of a page that these ancestors may show in
// a frame: nothing comes from elsewhere, and a browser connects to the sockets
// alone. Its forms lead to the portal, and to the origins of formsTo. blobs lets it show pictures that its script has fetched with a token, media
// play sound from files, and with asks it asks the portal's agent. rooms are addresses of a media server that it connects to.
func (h *Handler) policy(ancestors string, formsTo, rooms []string, blobs, media, asks bool) string {
	sounds := ""
	if media {
		sounds = "; media-src 'self'"
	}
	pictures := "'self'"
	if blobs {
		pictures += " blob:"
	}
	connections := strings.Join(append([]string{"'self'", h.LiveURL}, rooms...), " ")
	if at, err := url.Parse(h.PublicURL); asks && err == nil {
		connections += " " + at.Scheme + "://" + at.Host
	}
	forms := "'self'"
	if to := ancestorsOf(formsTo); len(formsTo) > 0 && to != "'none'" {
		forms += " " + to
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src " + pictures + sounds + "; connect-src " + connections +
		"; form-action " + forms + "; base-uri 'none'; require-trusted-types-for 'script'; frame-ancestors " + ancestors
}

// ancestorsOf are the pages of origins, as those that may frame the portal. Nothing but
// origins gets into the header.
func ancestorsOf(origins []string) string {
	sources := slices.DeleteFunc(slices.Clone(origins), func(o string) bool {
		at, err := url.Parse(o)
		return err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Scheme+"://"+at.Host != o || !isHostPort(at.Host)
	})
	for i, o := range sources {
		if o == "http://localhost" { // of any port, as everywhere
			sources[i] += ":*"
		}
	}
	if len(sources) == 0 {
		return "'none'"
	}
	return strings.Join(sources, " ")
}

// serverOf are the addresses of a media server, wss://…, as sources of connections: it is also asked over HTTPS why
// it lets nobody in. There are none where the address is no such one.
func serverOf(address string) []string {
	at, err := url.Parse(address)
	if err != nil {
		return nil
	}
	host := strings.ToLower(at.Host)
	if at.Scheme != "wss" || !isHostPort(host) || strings.Contains(host, "*") {
		return nil
	}
	return []string{"wss://" + host, "https://" + host}
}

// isHostPort says whether something is a host, perhaps with a port, and no part of
// another directive.
func isHostPort(s string) bool {
	host, port, found := strings.Cut(s, ":")
	return made(strings.TrimPrefix(host, "*."), "-.") && (!found || made(port, ""))
}

// visitCookie keeps a browser's visit, languageCookie what it switched to.
const visitCookie = "visit"

// cookie is a cookie of the portal's.
func (v *view) cookie(name, value string) *http.Cookie {
	path := v.base
	if path == "" {
		path = "/"
	}
	return &http.Cookie{ //nolint:gosec // Secure is as the portal's address is
		Name: name, Value: value, Path: path, HttpOnly: true, Secure: v.h.secure, SameSite: http.SameSiteLaxMode,
	}
}

// keep has the browser keep a visit. One in a frame of another site's needs a
// cookie that is sent there; that forms come from the portal itself is checked
// anyway (http.CrossOriginProtection).
func (v *view) keep(e Entered) {
	c := v.cookie(visitCookie, e.Secret) //nolint:gosec // as every cookie of the portal's
	c.Expires = e.ExpiresAt
	v.set(c)
}

// set has the browser keep a cookie of a visit, in the frame that it is in. The other variant of it
// goes first: a window of its own is sent both what a frame kept for its site (Partitioned) and what
// is kept for every page, the older one before the newer, so that it would stay in the visit before.
// It goes first since browsers that do not know partitions take both for one.
func (v *view) set(c *http.Cookie) {
	if v.h.secure {
		framed := len(v.origins) > 0
		gone := *c //nolint:gosec // as every cookie of the portal's
		gone.Value, gone.MaxAge, gone.Expires = "", -1, time.Time{}
		inFrames(&gone, !framed)
		http.SetCookie(v.w, &gone)
		inFrames(c, framed)
	}
	http.SetCookie(v.w, c)
}

// inFrames makes a cookie one of pages in frames of other sites' pages, or of others.
func inFrames(c *http.Cookie, framed bool) { //nolint:gosec // as above
	if framed {
		c.SameSite, c.Partitioned = http.SameSiteNoneMode, true
	}
}

// drop has the browser forget a visit.
func (v *view) drop() {
	c := v.cookie(visitCookie, "") //nolint:gosec // as above
	c.MaxAge = -1
	v.set(c)
}
