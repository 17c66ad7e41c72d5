// Package pagetest stands in for what portal pages ask of others: sites, doors and
// conversations, for tests and for who works on the look of the pages.
package pagetest

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/web/page"
)

// Sites are sites by address.
type Sites map[directory.Address]*published.Site

// Site implements page.Sites.
func (s Sites) Site(_ context.Context, a directory.Address) (*published.Site, error) {
	if site, ok := s[a]; ok {
		return site, nil
	}
	return nil, published.ErrNone
}

// Doors let everybody in whom nothing forbids: Code opens the join code's, and a
// token is whatever Tokens has.
type Doors struct {
	Code   string
	Tokens map[string]page.Visit
	// Refusal is what every door answers, unless it is nil.
	Refusal error

	mu      sync.Mutex
	visits  map[string]page.Visit
	Entries []page.Entry
	// Asked are those who asked for a link.
	Asked []page.Entry
}

// visitFor is how long a visit lasts.
const visitFor = 8 * time.Hour

// Enter implements page.Doors.
func (d *Doors) Enter(_ context.Context, _ *published.Site, e page.Entry) (page.Entered, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Entries = append(d.Entries, e)
	if d.Refusal != nil {
		return page.Entered{Visit: page.Visit{AllowedOrigins: d.Tokens[e.Token].AllowedOrigins}}, d.Refusal
	}
	visit := page.Visit{Door: e.Door, Name: e.Name, ExpiresAt: time.Now().Add(visitFor)}
	switch {
	case e.Door == page.DoorJoinCode && e.Code != d.Code:
		return page.Entered{}, problem.Missing("code").WithParam("body.code")
	case e.Token != "":
		known, ok := d.Tokens[e.Token]
		if !ok {
			return page.Entered{}, problem.New(problem.Unauthorized, "The token does not open the portal.")
		}
		visit = known
		visit.Door, visit.ExpiresAt = e.Door, time.Now().Add(visitFor)
	}
	secret := rand.Text()
	if d.visits == nil {
		d.visits = map[string]page.Visit{}
	}
	d.visits[secret] = visit
	return page.Entered{Visit: visit, Secret: secret}, nil
}

// Ask implements page.Doors.
func (d *Doors) Ask(_ context.Context, _ *published.Site, e page.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Asked = append(d.Asked, e)
	return d.Refusal
}

// AskProvider implements page.Doors.
func (d *Doors) AskProvider(_ context.Context, _ *published.Site, redirect string) (page.Question, error) {
	return page.Question{URL: "https://login.example.com/?redirect_uri=" + url.QueryEscape(redirect), Cookie: "kept", ExpiresAt: time.Now().Add(time.Minute)}, d.Refusal
}

// Visit implements page.Doors.
func (d *Doors) Visit(_ context.Context, _ *published.Site, secret string) (page.Visit, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.visits[secret]; ok {
		return v, nil
	}
	return page.Visit{}, page.ErrNoVisit
}

// Leave implements page.Doors.
func (d *Doors) Leave(_ context.Context, _ *published.Site, secret string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.visits, secret)
	return nil
}

// Conversations mint sessions whose socket is at URL.
type Conversations struct {
	URL     string
	Refusal error
	// Hearing is what Hears answers.
	Hearing string
	// Staff are what team members' tokens open.
	Staff map[string]page.Joining
	// Sessions are those that tokens open.
	Sessions map[string]page.Joined

	mu      sync.Mutex
	Started []page.Start
	Ratings []page.Rating
	Held    []id.Session
}

// Start implements page.Conversations.
func (c *Conversations) Start(_ context.Context, _ *published.Site, _ string, s page.Start) (page.Ticket, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Started = append(c.Started, s)
	if c.Refusal != nil {
		return page.Ticket{}, c.Refusal
	}
	session := id.NewSession()
	return page.Ticket{
		Session: page.TicketSession{ID: session, Language: s.Language}, Token: rand.Text(), ConnectBy: time.Now().Add(time.Minute),
		Transport: page.Transport{Kind: "websocket", URL: c.URL},
	}, nil
}

// Join implements page.Conversations. A token that is known opens its session alone.
func (c *Conversations) Join(_ context.Context, session id.Session, token string) (page.Joined, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Refusal != nil {
		return page.Joined{}, c.Refusal
	}
	if j, ok := c.Sessions[token]; ok && j.Session.ID == session {
		return j, nil
	}
	return page.Joined{}, page.ErrNoSession
}

// JoinStaff implements page.Conversations, as Join does.
func (c *Conversations) JoinStaff(_ context.Context, session id.Session, token string) (page.Joining, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Refusal != nil {
		return page.Joining{}, c.Refusal
	}
	if j, ok := c.Staff[token]; ok && j.Session.ID == session {
		return j, nil
	}
	return page.Joining{}, page.ErrNoSession
}

// Hears implements page.Conversations.
func (c *Conversations) Hears(context.Context, *published.Site) (string, error) {
	return c.Hearing, c.Refusal
}

// Hold implements page.Conversations.
func (c *Conversations) Hold(_ context.Context, _ *published.Site, session id.Session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Held = append(c.Held, session)
	return c.Refusal
}

// Rate implements page.Conversations.
func (c *Conversations) Rate(_ context.Context, _ id.Session, token string, r page.Rating) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token == "" {
		return problem.Missing("session")
	}
	c.Ratings = append(c.Ratings, r)
	return c.Refusal
}

// Portraits draws library faces, and has the Pictures of sites by their files.
type Portraits struct {
	Library  *avatar.Library
	Pictures map[id.File][]byte
}

// Picture implements page.Portraits.
func (p Portraits) Picture(_ context.Context, _ *published.Site, wanted artwork.Picture) ([]byte, error) {
	return p.Pictures[wanted.File], nil
}

// Portrait implements page.Portraits.
func (p Portraits) Portrait(_ context.Context, site *published.Site) ([]byte, string, error) {
	if _, ok := p.Library.Find(site.Speaker.Avatar); !ok {
		return nil, "", page.ErrNoPortrait
	}
	data, err := p.Library.Picture(site.Speaker.Avatar, 512)
	return data, "image/png", err
}

// OfLibrary implements page.Portraits.
func (p Portraits) OfLibrary(worn id.Avatar) bool {
	_, ok := p.Library.Find(worn)
	return ok
}

// Lives implements page.Portraits.
func (p Portraits) Lives(_ context.Context, site *published.Site) (edition string, ok bool, err error) {
	_, ok = p.Library.Find(site.Speaker.Avatar)
	return site.Speaker.Avatar.Bare(), ok, nil
}

// Living implements page.Portraits.
func (p Portraits) Living(_ context.Context, site *published.Site, side int) (face.Moved, error) {
	if _, ok := p.Library.Find(site.Speaker.Avatar); !ok {
		return face.Moved{}, page.ErrNoPortrait
	}
	return face.DrawnMoved(p.Library, site.Speaker.Avatar, side), nil
}

// Address takes every request's address as it came.
func Address(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr)
	return at.Addr()
}

// Open is a door that is open and asks for something.
func Open(key string, requires ...string) published.Door {
	return published.Door{Key: key, Requires: slices.Clone(requires)}
}
