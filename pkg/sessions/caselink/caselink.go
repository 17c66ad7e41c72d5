// Package caselink is links by which customers see their case and talk about it with
// the avatar (spec, Portals).
package caselink

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// State is where a link stands.
type State string

// The states. A link is used when a conversation began by it.
const (
	Created State = "created"
	// Sent: it was mailed.
	Sent    State = "sent"
	Opened  State = "opened"
	Used    State = "used"
	Expired State = "expired"
	Revoked State = "revoked"
)

// Contact is who the link is for.
type Contact struct {
	Name  *string `json:"name" maxLength:"200" doc:"A full name; null where it is not known."`
	Email *string `json:"email" maxLength:"254" doc:"A mail address; null where it is not known."`
	Phone *string `json:"phone" maxLength:"40" doc:"A phone number; null where it is not known."`
}

// Link is one link.
type Link struct {
	ID                          id.CaseLink
	Portal                      id.Portal
	CaseRef                     string
	CustomerRef                 *string
	Title, Summary              string
	Language                    string
	Channel                     string
	Contact                     *Contact
	ExpiresAt                   time.Time
	MaxOpens                    *int64
	OpenCount                   int64
	OpenedAt, UsedAt, RevokedAt *time.Time
	Session                     id.Session
	ExternalID                  *string
	Metadata                    map[string]string
	CreatedBy                   string
	CreatedAt                   time.Time
	// SentAt is when it was mailed to the contact.
	SentAt *time.Time
	// Sandbox says that a test key made it: the conversation is a trial.
	Sandbox bool
}

// The channels by which a link reaches who it is for.
const (
	// ByHand: the organization sends it.
	ByHand = "link"
	// ByEmail: it is mailed to the contact.
	ByEmail = "email"
)

// SentTo is the address that it was mailed to, with all but its beginning and its
// domain covered; nil before.
func (l *Link) SentTo() *string {
	if l.SentAt == nil || l.Contact == nil || l.Contact.Email == nil {
		return nil
	}
	local, domain, _ := strings.Cut(*l.Contact.Email, "@")
	first, _ := utf8.DecodeRuneInString(local)
	masked := string(first) + "…@" + domain
	return &masked
}

// State is where the link stands at a moment.
func (l *Link) State(now time.Time) State {
	switch {
	case l.RevokedAt != nil:
		return Revoked
	case !now.Before(l.ExpiresAt):
		return Expired
	case l.UsedAt != nil:
		return Used
	case l.OpenedAt != nil:
		return Opened
	case l.SentAt != nil:
		return Sent
	}
	return Created
}

// Noun is what errors call a link.
const Noun errdefs.Noun = "case link"

// Errors of this package, besides those of package errdefs.
var (
	ErrExpired = errors.New("the case link has expired")
	ErrRevoked = errors.New("the case link was revoked")
	ErrUsedUp  = errors.New("the case link was opened as often as it may")
)

// Token opens a link. Only its hash is stored.
type Token string

// NewToken makes a token of 130 random bits.
func NewToken() Token { return Token("vcl_" + rand.Text()) }

func (t Token) hash() []byte {
	sum := sha256.Sum256([]byte(t))
	return sum[:]
}

const columns = `id, portal_id, case_ref, customer_ref, title, case_summary, language, channel, contact, expires_at, max_opens, open_count,
	opened_at, used_at, revoked_at, session_id, external_id, metadata, created_by, created_at, sent_at, sandbox`

func scan(row pgx.CollectableRow) (Link, error) { return pgx.RowToStructByPos[Link](row) }

// Insert enters a link.
func Insert(ctx context.Context, tx *tenant.Tx, l Link, token Token, who activity.Actor) error {
	tx.Touch("case_link", l.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO case_link (org_id, id, portal_id, case_ref, customer_ref, title, case_summary, language, channel, contact, token_hash,
			expires_at, max_opens, open_count, external_id, metadata, created_by, created_at, sandbox)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15, $16, $17, $18)`,
		tx.Org, l.ID, l.Portal, l.CaseRef, l.CustomerRef, l.Title, l.Summary, l.Language, l.Channel, l.Contact, token.hash(),
		l.ExpiresAt, l.MaxOpens, l.ExternalID, l.Metadata, l.CreatedBy, l.CreatedAt, l.Sandbox); err != nil {
		return err
	}
	who.Log(tx, "case_link.created", "case_link", l.ID, map[string]any{"portalId": l.Portal, "caseRef": l.CaseRef})
	return nil
}

// Get finds a link. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, l id.CaseLink) (Link, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(l), `SELECT `+columns+` FROM case_link WHERE org_id = $1 AND id = $2`, org, l)
}

// List is a page of a portal's links, newest first, after one of them; the zero id
// for the first page. It rides case_link_by_portal.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal, after id.CaseLink, limit int) ([]Link, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM case_link WHERE org_id = $1 AND portal_id = $2 AND ($3::UUID IS NULL OR id < $3)
		ORDER BY id DESC LIMIT $4`, org, p, after, limit)
}

// Find finds a link in a transaction. The error is errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, l id.CaseLink) (Link, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(l), `SELECT `+columns+` FROM case_link WHERE org_id = $1 AND id = $2`, tx.Org, l)
}

// Good says whether a link opens now. The error is ErrRevoked or ErrExpired.
func (l *Link) Good(now time.Time) error {
	switch l.State(now) {
	case Revoked:
		return ErrRevoked
	case Expired:
		return ErrExpired
	case Created, Sent, Opened, Used:
	}
	return nil
}

// Open opens what a token opens on a portal, and tells of the first time. It rides
// case_link_by_token. The error is errdefs.NotFound,
// ErrRevoked, ErrExpired or ErrUsedUp.
func Open(ctx context.Context, tx *tenant.Tx, p id.Portal, token Token, now time.Time) (Link, error) {
	l, err := tenant.OneIn(ctx, tx, scan, errdefs.NotFound{Noun: Noun}, `
		SELECT `+columns+` FROM case_link WHERE org_id = $1 AND token_hash = $2 AND portal_id = $3 FOR UPDATE`, tx.Org, token.hash(), p)
	if err != nil {
		return l, err
	}
	if err := l.Good(now); err != nil {
		return l, err
	}
	if l.MaxOpens != nil && l.OpenCount >= *l.MaxOpens {
		return l, ErrUsedUp
	}
	l.OpenCount++
	if l.OpenedAt == nil {
		l.OpenedAt = &now
		event.Emit(tx, event.Draft{Type: event.CaseLinkOpened, At: now, Fields: map[string]any{
			"caseLinkId": l.ID, "portalId": l.Portal, "caseRef": l.CaseRef, "customerRef": l.CustomerRef, "openedAt": now.UTC(), "openCount": l.OpenCount,
		}})
	}
	tx.Touch("case_link", l.ID)
	_, err = tx.Exec(ctx, `UPDATE case_link SET open_count = $3, opened_at = $4 WHERE org_id = $1 AND id = $2`, tx.Org, l.ID, l.OpenCount, l.OpenedAt)
	return l, err
}

// Use notes that a conversation began by a link.
func Use(ctx context.Context, tx *tenant.Tx, which id.CaseLink, in id.Session, now time.Time) error {
	tx.Touch("case_link", which)
	_, err := tx.Exec(ctx, `UPDATE case_link SET session_id = $3, used_at = COALESCE(used_at, $4) WHERE org_id = $1 AND id = $2`, tx.Org, which, in, now)
	return err
}

// Revoke closes a link for good. One that was revoked is answered as it is. The error
// is errdefs.NotFound.
func Revoke(ctx context.Context, tx *tenant.Tx, which id.CaseLink, who activity.Actor) (Link, error) {
	tx.Touch("case_link", which)
	l, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `
		UPDATE case_link SET revoked_at = COALESCE(revoked_at, $3) WHERE org_id = $1 AND id = $2 RETURNING `+columns, tx.Org, which, who.At)
	if err != nil {
		return l, err
	}
	who.Log(tx, "case_link.revoked", "case_link", which, nil)
	return l, nil
}
