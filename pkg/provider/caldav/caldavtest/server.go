// Package caldavtest is CalDAV servers for tests: one of its own, which can be made to fail, and Radicale where that is
// installed.
package caldavtest

import (
	"crypto/x509"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"visavis.dev/pkg/base/egress"
)

// What the account of a Server is, and where its calendar.
const (
	Secret   = "ada:pass wörd"
	Home     = "/dav/ada/"
	Calendar = "/dav/ada/desk/"
)

// Server is an account with one calendar. It answers every event whatever time is asked for, as servers may.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	events   map[string]stored
	next     int
	behaves  []http.HandlerFunc
	always   http.HandlerFunc
	requests []string
	// Homes are what it says that the account's calendars are in.
	Homes string
}

type stored struct{ text, etag string }

// Start starts one with an empty calendar.
func Start() *Server {
	s := &Server{events: map[string]stored{}, Homes: Home}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	return s
}

// Guard reaches the server.
func (s *Server) Guard() *egress.Guard { return guard(s.Certificate()) }

func guard(c *x509.Certificate) *egress.Guard {
	roots := x509.NewCertPool()
	roots.AddCert(c)
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
}

// Behave has the next requests answered otherwise, one each.
func (s *Server) Behave(by ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaves = append(s.behaves, by...)
}

// Always has every request answered otherwise; nil has them answered again.
func (s *Server) Always(by http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = by
}

// Put writes a text into the calendar, as a person does.
func (s *Server) Put(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(Calendar+name, text)
}

func (s *Server) put(path, text string) string {
	s.next++
	s.events[path] = stored{text, fmt.Sprintf(`"%d"`, s.next)}
	return s.events[path].etag
}

// Remove takes a text out of the calendar, as a person does.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.events, Calendar+name)
}

// Texts are what the calendar holds, by their names.
func (s *Server) Texts() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for path, e := range s.events {
		all[strings.TrimPrefix(path, Calendar)] = e.text
	}
	return all
}

// Requests are the methods of what was asked, and its paths in the calendar.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+strings.TrimPrefix(r.URL.Path, Calendar))
	by := s.always
	if len(s.behaves) > 0 {
		by, s.behaves = s.behaves[0], s.behaves[1:]
	}
	s.mu.Unlock()
	if by != nil {
		by(w, r)
		return
	}
	s.Serve(w, r)
}

// Serve answers as usual.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if user, password, _ := r.BasicAuth(); user+":"+password != Secret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	at, there := s.events[r.URL.Path]
	switch r.Method {
	case "PROPFIND":
		s.find(w, r.URL.Path)
	case "REPORT":
		s.report(w, r.URL.Path, string(body))
	case http.MethodGet:
		if !there {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", at.etag)
		_, _ = io.WriteString(w, at.text)
	case http.MethodPut, http.MethodDelete:
		s.change(w, r, string(body), at, there)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *Server) change(w http.ResponseWriter, r *http.Request, body string, at stored, there bool) {
	if !strings.HasPrefix(r.URL.Path, Calendar) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	match := r.Header.Get("If-Match")
	if there && r.Header.Get("If-None-Match") == "*" || match != "" && (!there || match != at.etag) {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	switch {
	case r.Method == http.MethodPut:
		w.Header().Set("ETag", s.put(r.URL.Path, body))
		w.WriteHeader(http.StatusCreated)
	case !there:
		w.WriteHeader(http.StatusNotFound)
	default:
		delete(s.events, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	}
}

func multistatus(w http.ResponseWriter, responses string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = io.WriteString(w, `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">`+responses+`</d:multistatus>`)
}

func response(href, prop string) string {
	return `<d:response><d:href>` + href + `</d:href><d:propstat><d:prop>` + prop + `</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
}

func (s *Server) find(w http.ResponseWriter, path string) {
	switch path {
	case "/", "/dav/":
		multistatus(w, response(path, `<d:current-user-principal><d:href>/principals/ada/</d:href></d:current-user-principal>`))
	case "/principals/ada/":
		multistatus(w, response(path, `<c:calendar-home-set><d:href>`+s.Homes+`</d:href></c:calendar-home-set>`))
	case Home:
		multistatus(w, response(Home, `<d:displayname>Ada</d:displayname><d:resourcetype><d:collection/></d:resourcetype>`)+
			response(Calendar, `<d:displayname>Work &amp; more</d:displayname><d:resourcetype><d:collection/><c:calendar/></d:resourcetype>`)+
			response("/dav/ada/tasks/", `<d:resourcetype><c:calendar/></d:resourcetype><c:supported-calendar-component-set><c:comp name="VTODO"/></c:supported-calendar-component-set>`)+
			response("/dav/bob/shown/", `<d:resourcetype><c:calendar/></d:resourcetype><d:current-user-privilege-set><d:privilege><d:read/></d:privilege></d:current-user-privilege-set>`))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *Server) report(w http.ResponseWriter, path, body string) {
	if path != Calendar {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if strings.Contains(body, "free-busy-query") {
		_, _ = io.WriteString(w, "BEGIN:VCALENDAR\r\nBEGIN:VFREEBUSY\r\nFREEBUSY:20260708T100000Z/PT1H\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n")
		return
	}
	var all strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.events)) {
		var text strings.Builder
		_ = xml.EscapeText(&text, []byte(s.events[path].text))
		all.WriteString(response(path, `<d:getetag>`+s.events[path].etag+`</d:getetag><c:calendar-data>`+text.String()+`</c:calendar-data>`))
	}
	multistatus(w, all.String())
}

// Event is the text of an event that is no appointment's, between two moments in UTC such as 20260708T100000Z.
func Event(uid, from, to string, lines ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:" + from + "\r\nDTEND:" + to + "\r\n" +
		strings.Join(append(lines, ""), "\r\n") + "END:VEVENT\r\nEND:VCALENDAR\r\n"
}
