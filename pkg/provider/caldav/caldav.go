// Package caldav reads and writes calendars of a CalDAV server (RFC 4791). The kept library for it
// writes without If-Match and follows addresses wherever they lead, so requests are made here; what is said in
// them is small.
package caldav

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/upstream"
)

var _ calendars.Service = (*Client)(nil)

// Client is an account at a server.
type Client struct {
	// HTTP is a guard's: it follows no redirects, and bounds answers.
	HTTP *http.Client
	// BaseURL is where the server is: its root, or the page of the account or of a calendar.
	BaseURL string
	// Secret is the user's name and password with a colon between (HTTP Basic).
	Secret string
	Now    func() time.Time
}

// xmlType is what bodies are.
const xmlType = "application/xml; charset=utf-8"

// request is what is asked of the server.
type request struct {
	method, address, body, kind string
	depth                       string
	header                      map[string]string
}

// send asks. Where a request is answered elsewhere at the same server it is made once more there.
func (c *Client) send(ctx context.Context, r request) (*answer, error) {
	for try := 0; ; try++ {
		a, err := c.sendOnce(ctx, r)
		moved, redirected := errors.AsType[*egress.RedirectError](err)
		if !redirected || try == 2 {
			return a, err
		}
		next, wrong := c.resolve(r.address, moved.Location)
		if wrong != nil {
			return nil, err
		}
		r.address = next
	}
}

// answer is what came.
type answer struct {
	body []byte
	etag string
}

func (c *Client) sendOnce(ctx context.Context, r request) (*answer, error) {
	if !c.trusts(r.address) {
		return nil, &upstream.Error{Code: upstream.AddressRefused}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.address, strings.NewReader(r.body))
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.Secret)))
	if r.body != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.depth != "" {
		req.Header.Set("Depth", r.depth)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	var a answer
	err = upstream.Stream(c.HTTP, req, func(resp *http.Response) (err error) {
		a.etag = resp.Header.Get("ETag")
		a.body, err = readAll(resp)
		return err
	})
	return &a, err
}

// shards of Apple's: accounts are on one of many hosts, which the first one names.
var shards = regexp.MustCompile(`^p[0-9]{1,4}-caldav\.icloud\.com(:443)?$`)

// trusts says whether the secret may be shown under an address: at the server that it was given for, and
// for iCloud at those of its own that hold accounts.
func (c *Client) trusts(address string) bool {
	u, err := url.Parse(address)
	base, wrong := url.Parse(c.BaseURL)
	if err != nil || wrong != nil || u.Scheme != "https" || u.User != nil {
		return false
	}
	host, of := hostOf(u), hostOf(base)
	return host == of || of == "caldav.icloud.com:443" && shards.MatchString(host)
}

func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Port() == "" {
		host += ":443"
	}
	return host
}

// resolve is the address of a reference that an answer to another one holds. The error is that it leads
// elsewhere.
func (c *Client) resolve(from, ref string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	to, err := base.Parse(strings.TrimSpace(ref))
	if err != nil || !c.trusts(to.String()) {
		return "", &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	return to.String(), nil
}

// multistatus is the answer to a PROPFIND or REPORT.
type multistatus struct {
	XMLName   xml.Name   `xml:"DAV: multistatus"`
	Responses []response `xml:"DAV: response"`
}

type response struct {
	Href string `xml:"DAV: href"`
	// Status is of the whole, where there are no Stats.
	Status string     `xml:"DAV: status"`
	Stats  []propstat `xml:"DAV: propstat"`
}

type propstat struct {
	Status string `xml:"DAV: status"`
	Prop   prop   `xml:"DAV: prop"`
}

type prop struct {
	Principal struct {
		Href string `xml:"DAV: href"`
	} `xml:"DAV: current-user-principal"`
	Home struct {
		Hrefs []string `xml:"DAV: href"`
	} `xml:"urn:ietf:params:xml:ns:caldav calendar-home-set"`
	Name string `xml:"DAV: displayname"`
	Type struct {
		Calendar *struct{} `xml:"urn:ietf:params:xml:ns:caldav calendar"`
	} `xml:"DAV: resourcetype"`
	Components struct {
		All []struct {
			Name string `xml:"name,attr"`
		} `xml:"urn:ietf:params:xml:ns:caldav comp"`
	} `xml:"urn:ietf:params:xml:ns:caldav supported-calendar-component-set"`
	Privileges *struct {
		All []struct {
			Write   *struct{} `xml:"DAV: write"`
			Content *struct{} `xml:"DAV: write-content"`
			Bind    *struct{} `xml:"DAV: bind"`
			Whole   *struct{} `xml:"DAV: all"`
		} `xml:"DAV: privilege"`
	} `xml:"DAV: current-user-privilege-set"`
	ETag string `xml:"DAV: getetag"`
	Data string `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
}

// found is what of a response was found.
func (r *response) found() prop {
	for _, s := range r.Stats {
		if s.Status == "" || strings.Contains(s.Status, " 200") {
			return s.Prop
		}
	}
	return prop{}
}

// withheld says whether a response is of something that is there and was not told, or of a list that was cut short
// (507, RFC 6578, 3.6).
func (r *response) withheld() bool {
	failed := func(status string) bool {
		return status != "" && !strings.Contains(status, " 200") && !strings.Contains(status, " 404") && !strings.Contains(status, " 410")
	}
	return failed(r.Status) || slices.ContainsFunc(r.Stats, func(s propstat) bool { return failed(s.Status) })
}

// ask makes a PROPFIND or REPORT.
func (c *Client) ask(ctx context.Context, method, address, depth, body string) (*multistatus, error) {
	a, err := c.send(ctx, request{method: method, address: address, depth: depth, body: `<?xml version="1.0" encoding="utf-8"?>` + body, kind: xmlType})
	if err != nil {
		return nil, err
	}
	var m multistatus
	if err := xml.Unmarshal(bytes.Map(legal, a.body), &m); err != nil { // which knows no entities of a text's own
		return nil, &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return &m, nil
}

// legal blanks what no XML may have, and a stranger's title can.
func legal(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF' {
		return ' '
	}
	return r
}

const (
	askPrincipal = `<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>`
	askHome      = `<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><C:calendar-home-set/></prop></propfind>`
	askCalendars = `<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><displayname/><resourcetype/>` +
		`<C:supported-calendar-component-set/><current-user-privilege-set/></prop></propfind>`
)

// Calendars implements calendars.Service: from the account's principal to its home, and what is there
// (RFC 6764, 6).
func (c *Client) Calendars(ctx context.Context) ([]calendars.Calendar, error) {
	principal, err := c.principal(ctx)
	if err != nil {
		return nil, err
	}
	m, err := c.ask(ctx, "PROPFIND", principal, "0", askHome)
	if err != nil {
		return nil, err
	}
	var all []calendars.Calendar
	homes := 0
	for _, r := range m.Responses {
		of := r.found()
		for _, ref := range of.Home.Hrefs {
			if homes++; homes > mostHomes {
				break
			}
			home, err := c.resolve(principal, ref)
			if err != nil {
				return nil, err
			}
			found, err := c.calendarsIn(ctx, home)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	if homes == 0 {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	return all, nil
}

const (
	mostHomes     = 4
	mostCalendars = 200
)

// principal finds the page of the account.
func (c *Client) principal(ctx context.Context) (string, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return "", &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	known := base.ResolveReference(&url.URL{Path: "/.well-known/caldav"}).String()
	var failed error
	for _, start := range []string{c.BaseURL + "/", known} {
		m, err := c.ask(ctx, "PROPFIND", start, "0", askPrincipal)
		if err != nil {
			if failed == nil || !errors.Is(err, upstream.ErrRejected) {
				failed = err
			}
			if !errors.Is(err, upstream.ErrRejected) && !errors.Is(err, upstream.ErrMalformed) {
				return "", err
			}
			continue
		}
		for _, r := range m.Responses {
			of := r.found()
			if ref := of.Principal.Href; ref != "" {
				return c.resolve(start, ref)
			}
		}
	}
	if failed == nil {
		failed = &upstream.Error{Code: upstream.Malformed}
	}
	return "", failed
}

// calendarsIn lists those of a home that hold events.
func (c *Client) calendarsIn(ctx context.Context, home string) (all []calendars.Calendar, err error) {
	m, err := c.ask(ctx, "PROPFIND", home, "1", askCalendars)
	if err != nil {
		return nil, err
	}
	for _, r := range m.Responses {
		of := r.found()
		if of.Type.Calendar == nil || len(all) == mostCalendars || !of.holdsEvents() {
			continue
		}
		address, err := c.resolve(home, r.Href)
		if err != nil {
			continue // it is shown from another server
		}
		if which := c.idOf(address); len(which) <= calendars.LongestID {
			all = append(all, calendars.Calendar{ID: which, Name: calendars.NameOf(of.Name), Writable: of.writable()})
		}
	}
	slices.SortFunc(all, func(a, b calendars.Calendar) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func (p *prop) holdsEvents() bool {
	if len(p.Components.All) == 0 {
		return true // nothing is said of it
	}
	for _, one := range p.Components.All {
		if strings.EqualFold(one.Name, "VEVENT") {
			return true
		}
	}
	return false
}

func (p *prop) writable() bool {
	if p.Privileges == nil {
		return true // nothing is said of it
	}
	for _, one := range p.Privileges.All {
		if one.Write != nil || one.Whole != nil || one.Content != nil || one.Bind != nil {
			return true
		}
	}
	return false
}

// idOf is what a calendar is called: its path, or its address at one of Apple's other hosts.
func (c *Client) idOf(address string) string {
	u, err := url.Parse(address)
	base, wrong := url.Parse(c.BaseURL)
	if err == nil && wrong == nil && hostOf(u) == hostOf(base) {
		return u.EscapedPath()
	}
	return address
}

// addressOf is the address of a calendar by its id, with a slash at its end.
func (c *Client) addressOf(calendar string) (string, error) {
	if !strings.HasSuffix(calendar, "/") {
		calendar += "/"
	}
	return c.resolve(c.BaseURL+"/", calendar)
}

// eventOf is the address of an event of ours.
func (c *Client) eventOf(calendar string, k calendars.Key) (string, error) {
	address, err := c.addressOf(calendar)
	return address + string(k) + ".ics", err
}

// at is a moment as a time-range has it.
func at(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// The properties of events that are asked for: no words.
const eventProps = `<C:prop name="UID"/><C:prop name="DTSTART"/><C:prop name="DTEND"/><C:prop name="DURATION"/><C:prop name="RRULE"/><C:prop name="RDATE"/>` +
	`<C:prop name="EXDATE"/><C:prop name="RECURRENCE-ID"/><C:prop name="STATUS"/><C:prop name="TRANSP"/><C:prop name="X-MICROSOFT-CDO-BUSYSTATUS"/>`

// Read implements calendars.Service, by a calendar-query, which tells whose events there are. Where the account
// may read no events, or the server knows no such query, it is asked when it is busy (free-busy-query), which it
// works out itself.
func (c *Client) Read(ctx context.Context, calendar string, within calendars.Span, zone *time.Location) (calendars.Reading, error) {
	address, err := c.addressOf(calendar)
	if err != nil {
		return calendars.Reading{}, err
	}
	reading, err := c.query(ctx, address, within, zone)
	if status := upstream.StatusOf(err); status == http.StatusForbidden || status == http.StatusNotImplemented || status == http.StatusMethodNotAllowed || errors.Is(err, errWhole) || errors.Is(err, errPartial) {
		merged, failed := c.freeBusy(ctx, address, within, zone)
		if failed == nil {
			return merged, nil
		}
	}
	return reading, asUpstream(err)
}

// errPartial says that a server told some of the events alone.
var errPartial = errors.New("the server told some of the events alone")

// errWhole says that a calendar is too large to be read event by event.
var errWhole = fmt.Errorf("read event by event: %w", calendars.ErrTooMuch)

// asUpstream has what cannot be read be an answer that makes no sense.
func asUpstream(err error) error {
	if _, ok := errors.AsType[*upstream.Error](err); err == nil || ok || errors.Is(err, context.Canceled) {
		return err
	}
	return &upstream.Error{Code: upstream.Malformed, Err: err}
}

func (c *Client) query(ctx context.Context, address string, within calendars.Span, zone *time.Location) (calendars.Reading, error) {
	m, err := c.ask(ctx, "REPORT", address, "1", fmt.Sprintf(
		`<C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><C:calendar-data><C:comp name="VCALENDAR"><C:prop name="VERSION"/>`+
			`<C:comp name="VEVENT">%s</C:comp><C:comp name="VTIMEZONE"/></C:comp></C:calendar-data></prop>`+
			`<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="%s" end="%s"/></C:comp-filter></C:comp-filter></C:filter>`+
			`</C:calendar-query>`, eventProps, at(within.From), at(within.To)))
	switch {
	case errors.Is(err, egress.ErrTooLarge):
		return calendars.Reading{}, errors.Join(errWhole, err)
	case err != nil:
		return calendars.Reading{}, err
	}
	reader := calendars.Reader{Within: within, Zone: zone, Now: c.Now}
	for _, r := range m.Responses {
		data := r.found().Data
		switch {
		case r.withheld():
			return calendars.Reading{}, errPartial
		case data == "":
			continue
		}
		if err := reader.Add(ctx, data); errors.Is(err, calendars.ErrTooMuch) {
			return calendars.Reading{}, errors.Join(errWhole, err)
		} else if err != nil {
			return calendars.Reading{}, err
		}
	}
	return reader.Reading(), nil
}

// freeBusy asks when a calendar is busy (RFC 4791, 7.10).
func (c *Client) freeBusy(ctx context.Context, address string, within calendars.Span, zone *time.Location) (calendars.Reading, error) {
	a, err := c.send(ctx, request{method: "REPORT", address: address, depth: "1", kind: xmlType, body: fmt.Sprintf(
		`<?xml version="1.0" encoding="utf-8"?><C:free-busy-query xmlns:C="urn:ietf:params:xml:ns:caldav"><C:time-range start="%s" end="%s"/></C:free-busy-query>`,
		at(within.From), at(within.To))})
	if err != nil {
		return calendars.Reading{}, err
	}
	reader := calendars.Reader{Within: within, Zone: zone, Now: c.Now}
	if err := reader.Add(ctx, string(a.body)); err != nil {
		return calendars.Reading{}, asUpstream(err)
	}
	reading := reader.Reading()
	reading.Merged = true
	return reading, nil
}

// get reads an event of ours; nil where it is not there.
func (c *Client) get(ctx context.Context, address string) (*answer, error) {
	a, err := c.send(ctx, request{method: http.MethodGet, address: address})
	if gone(err) {
		return nil, nil
	}
	return a, err
}

// gone says whether an error is that something is not there.
func gone(err error) bool {
	status := upstream.StatusOf(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// Find implements calendars.Service.
func (c *Client) Find(ctx context.Context, calendar string, k calendars.Key, zone *time.Location) (*calendars.Span, error) {
	address, err := c.eventOf(calendar, k)
	if err != nil {
		return nil, err
	}
	a, err := c.get(ctx, address)
	if err != nil || a == nil {
		return nil, err
	}
	ever := calendars.Span{From: time.Unix(0, 0), To: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)}
	reader := calendars.Reader{Within: ever, Zone: zone, Now: c.Now}
	if err := reader.Add(ctx, string(a.body)); err != nil {
		return nil, asUpstream(err)
	}
	if s, there := reader.Reading().Ours[k]; there {
		return &s, nil
	}
	if k.Holds(string(a.body)) {
		return nil, calendars.ErrUnclear
	}
	return nil, nil
}

// mostWrites is how often a write is made again that somebody else's came between.
const mostWrites = 4

// Write implements calendars.Service. What is there is read first, and written over as it was read (If-Match), or not
// there at all (If-None-Match): a retry finds what it wrote, and of two writers the one with the later
// change stays.
func (c *Client) Write(ctx context.Context, calendar string, e calendars.Event) (newer bool, err error) {
	address, err := c.eventOf(calendar, e.Key)
	if err != nil {
		return false, err
	}
	for try := 0; ; try++ {
		there, err := c.get(ctx, address)
		if err != nil {
			return false, err
		}
		text, header := "", map[string]string{"If-None-Match": "*"}
		if there == nil {
			text = e.Text()
		} else {
			over, done, newer, err := e.Over(string(there.body))
			if err != nil {
				return false, &upstream.Error{Code: upstream.Malformed, Err: err}
			}
			if done || newer {
				return newer, nil
			}
			text, header = over, ifMatch(there.etag)
		}
		_, err = c.send(ctx, request{method: http.MethodPut, address: address, body: text, kind: "text/calendar; charset=utf-8", header: header})
		if upstream.StatusOf(err) != http.StatusPreconditionFailed || try == mostWrites {
			return false, unwritten(err)
		}
	}
}

func ifMatch(etag string) map[string]string {
	if etag == "" || strings.HasPrefix(etag, "W/") { // a weak one never matches
		return nil
	}
	return map[string]string{"If-Match": etag}
}

// unwritten has a calendar that is gone, or is written by something else, be waited for.
func unwritten(err error) error {
	e, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return err
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusGone, http.StatusConflict:
		return &upstream.Error{Code: upstream.Malformed, Status: e.Status, Err: err}
	case http.StatusPreconditionFailed:
		return &upstream.Error{Code: upstream.Unavailable, Status: e.Status, Err: err}
	case http.StatusInsufficientStorage:
		return &upstream.Error{Code: upstream.Refused, Status: e.Status, Err: err}
	}
	return err
}

// Remove implements calendars.Service. What is taken away is what was read: of a booking that was made anew meanwhile the
// event stays.
func (c *Client) Remove(ctx context.Context, calendar string, k calendars.Key, sequence int64) (newer bool, err error) {
	address, err := c.eventOf(calendar, k)
	if err != nil {
		return false, err
	}
	for try := 0; ; try++ {
		there, err := c.get(ctx, address)
		if err != nil || there == nil {
			return false, err
		}
		if calendars.SequenceOf(string(there.body)) > sequence {
			return true, nil
		}
		_, err = c.send(ctx, request{method: http.MethodDelete, address: address, header: ifMatch(there.etag)})
		switch {
		case gone(err):
			return false, nil
		case upstream.StatusOf(err) != http.StatusPreconditionFailed:
			return false, err
		case try == mostWrites:
			return false, unwritten(err)
		}
	}
}
