package page

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/published"
)

// The ways in that the pages know.
const (
	DoorVisitors    = "visitors"
	DoorJoinCode    = "join_code"
	DoorEmbed       = "embed"
	DoorCustomers   = "customers"
	DoorMembersLink = "members_link"
	DoorSSO         = "sso"
	DoorCase        = "case"
	DoorEscalation  = "escalation"
	DoorCandidates  = "candidates"
)

// Doors let people in (package signin). What they refuse is a problem; its code
// and reason choose what the visitor reads.
type Doors interface {
	// Visit finds who is signed in, by what the browser holds. The error is ErrNoVisit.
	// Of somebody who was in and is not any more, the AllowedOrigins are answered with it.
	Visit(ctx context.Context, site *published.Site, secret string) (Visit, error)
	// Enter lets somebody in. Where it refuses, it answers the AllowedOrigins of whoever
	// could prove them: the refusal is read in the same frame.
	Enter(ctx context.Context, site *published.Site, e Entry) (Entered, error)
	// Ask mails a link to a member; of an address that is nobody's the answer is the same.
	Ask(ctx context.Context, site *published.Site, e Entry) error
	// AskProvider sends somebody to the organization's identity provider, which
	// answers to redirect.
	AskProvider(ctx context.Context, site *published.Site, redirect string) (Question, error)
	// Leave ends a visit; one that is over is no error.
	Leave(ctx context.Context, site *published.Site, secret string) error
}

// ErrNoVisit says that nobody is signed in.
var ErrNoVisit = errors.New("nobody is signed in")

// Entry is what somebody shows at a door.
type Entry struct {
	// Door is one of the ways in above.
	Door string
	// Name and Email are empty where they are not given.
	Name, Email string
	// Consent says that the privacy notice was agreed to, OldEnough that the person
	// is as old as the portal asks.
	Consent, OldEnough bool
	// Code is of a join code.
	Code string
	// Token is of the doors that are opened by a link, and what a browser kept while
	// it was at an identity provider.
	Token string
	// Answer is the provider's.
	Answer   url.Values
	Language string
	Address  netip.Addr
}

// Question is a browser's way to an identity provider.
type Question struct {
	// URL is where it goes, and Cookie what it brings back with the answer.
	URL, Cookie string
	ExpiresAt   time.Time
}

// Visit is who is signed in.
type Visit struct {
	Door string
	// Name is what the person is called; empty for a visitor without one.
	Name string
	// Member says that they have a place on the portal, and Supervises that it is one of somebody
	// who has to do with the learning of others.
	Member, Supervises bool
	// Subject is what the visit is for; zero for any.
	Subject id.Subject
	// AllowedOrigins are of the pages that may show the portal in a frame.
	AllowedOrigins []string
	// ReturnURL is where the person goes afterwards; empty for nowhere.
	ReturnURL string
	ExpiresAt time.Time
}

// Entered is a visit that begins. Secret is for the browser's cookie.
type Entered struct {
	Visit
	Secret string
}

// Conversations are what visits are for (packages admission and session).
type Conversations interface {
	// Start mints a session for whoever is signed in by the secret.
	Start(ctx context.Context, site *published.Site, secret string, s Start) (Ticket, error)
	// Join finds what a session's own token opens. The error is ErrNoSession or ErrLate.
	Join(ctx context.Context, session id.Session, token string) (Joined, error)
	// JoinStaff finds what a team member's token opens. The error is ErrNoSession, ErrLate or
	// ErrUsed.
	JoinStaff(ctx context.Context, session id.Session, token string) (Joining, error)
	// Hears is who understands what is said in a site's conversations, one of the constants.
	Hears(ctx context.Context, site *published.Site) (string, error)
	// Hold keeps a session that has not begun for somebody who checks microphone and sound first.
	Hold(ctx context.Context, site *published.Site, session id.Session) error
	// Rate keeps what somebody thought of a conversation; the token is the session's.
	Rate(ctx context.Context, session id.Session, token string, r Rating) error
}

// Start is what is wished of a session.
type Start struct {
	// Subject is zero for a conversation about anything.
	Subject id.Subject
	// Assignment is what it is to be part of; zero for whichever is open for the person. The
	// session is then of the assignment's kind.
	Assignment id.Assignment
	Language   string
	Address    netip.Addr
	// Origin is of the page, which alone may connect.
	Origin string
	// Page is the address of the page, and Referrer of the one that led there; empty where the browser does not say.
	Page, Referrer string
}

// Ticket is what a browser needs to connect (web/client/live.js).
type Ticket struct {
	Session   TicketSession `json:"session"`
	Token     string        `json:"token"`
	ConnectBy time.Time     `json:"connectBy"`
	Transport Transport     `json:"transport"`
}

// TicketSession is the session of a ticket.
type TicketSession struct {
	ID       id.Session `json:"id"`
	Language string     `json:"language"`
}

// Transport is where a browser connects.
type Transport struct {
	Kind string `json:"kind"`
	URL  string `json:"url"`
	// Token lets into the room of a media server; empty for our own sockets.
	Token string `json:"token,omitempty"`
}

// Rating is what somebody thought of a conversation.
type Rating struct {
	Score   int64   `json:"score"`
	Scale   int64   `json:"scale"`
	Comment *string `json:"comment"`
}

// Portraits are the pictures of those who speak, and those of the sites.
type Portraits interface {
	// Portrait is the picture of who speaks at a site. The error is ErrNoPortrait.
	Portrait(ctx context.Context, site *published.Site) (data []byte, contentType string, err error)
	// Lives says whether who speaks at a site is more than a picture, and what their face's
	// edition is called: another one has another address.
	Lives(ctx context.Context, site *published.Site) (edition string, ok bool, err error)
	// OfLibrary says whether a face is everybody's.
	OfLibrary(worn id.Avatar) bool
	// Living is who speaks at a site as a browser moves it, of one of avatar.LivingSides.
	// The error is ErrNoPortrait where there is only a picture.
	Living(ctx context.Context, site *published.Site, side int) (face.Moved, error)
	// Picture is a picture of a site's own.
	Picture(ctx context.Context, site *published.Site, p artwork.Picture) ([]byte, error)
}

// ErrNoPortrait says that there is no picture to show.
var ErrNoPortrait = errors.New("no portrait")
