// Package certificate keeps what people get to show for what they passed: certificates with
// a number that anybody can look up, their expiry and their revocation (spec, Results).
// Package paper prints them and package badge makes them portable.
package certificate

import (
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
)

// State is where a certificate stands.
type State string

// The states. One that is expiring is valid still.
const (
	Valid    State = "valid"
	Expiring State = "expiring"
	Expired  State = "expired"
	Revoked  State = "revoked"
)

// The templates, which say what a certificate looks like.
const (
	Classic = "classic"
	Plain   = "plain"
)

// Certificate says that somebody achieved something. Of one whose person was erased there is
// neither who nor what for, and it is revoked.
type Certificate struct {
	ID     id.Certificate
	Number Number
	// Ordinal counts the organization's certificates from 1: a place in its status lists.
	Ordinal    int64
	Person     id.Person
	Membership id.Membership
	Subject    id.Subject
	Portal     id.Portal
	// Result and Completion are what it rests on; zero for nothing.
	Result     id.Result
	Completion id.Completion
	Template   string
	// Language is the one that it is written in.
	Language string
	// Recipient and Title are the names of the person and the subject when it was issued.
	Recipient, Title string
	IssuedAt         time.Time
	IssuedBy         string
	ExpiresAt        *time.Time
	// RenewedBy took its place; zero for none.
	RenewedBy  id.Certificate
	RevokedAt  *time.Time
	ReasonCode *string
	// Percent and Band are what the result is worth now, if that is shown.
	Percent *float64
	Band    *string
}

const columns = `c.id, c.number, c.ordinal, c.person_id, c.membership_id, c.subject_id, c.portal_id, c.result_id, c.completion_id, c.template,
	c.language, c.recipient_name, c.title, c.issued_at, c.issued_by, c.expires_at, c.renewed_by, c.revoked_at, c.reason_code, r.percent, r.band`

// tables are certificates with their results, as far as those are shown.
const tables = `certificate c LEFT JOIN result r ON r.org_id = c.org_id AND r.id = c.result_id AND r.state IN ('released', 'contested')`

func scan(row pgx.CollectableRow) (Certificate, error) {
	return pgx.RowToStructByPos[Certificate](row)
}

// Noun is what errors of this package are about.
const Noun errdefs.Noun = "certificate"

// The reasons of this package's conflicts.
const (
	// ReasonCertified: the result has a certificate.
	ReasonCertified = "already_certified"
	// ReasonRevoked: the certificate counts for nothing.
	ReasonRevoked = "revoked"
)

// Erased is the reason for which the platform revokes what it knows no person of any more.
const Erased = "erased"

const day = 24 * time.Hour

// ahead are how long before its expiry something is told of a certificate, the longest first.
var ahead = []time.Duration{60 * day, 30 * day, 7 * day}

// State is where the certificate stands.
func (c *Certificate) State(now time.Time) State {
	switch {
	case c.RevokedAt != nil:
		return Revoked
	case c.ExpiresAt == nil || now.Before(c.ExpiresAt.Add(-ahead[0])):
		return Valid
	case now.Before(*c.ExpiresAt):
		return Expiring
	}
	return Expired
}

// nextNotice is when something is to be told next of what expires then; nil for never.
func nextNotice(expires *time.Time, now time.Time) *time.Time {
	if expires == nil {
		return nil
	}
	for _, before := range ahead {
		if at := expires.Add(-before); at.After(now) {
			return &at
		}
	}
	if expires.After(now) {
		return expires
	}
	return nil
}

// daysLeft are the days that have begun until an expiry.
func daysLeft(expires, now time.Time) int { return int((expires.Sub(now) + day - 1) / day) }

// Usable says whether the certificate may be handed out. The error is a conflict
// (ReasonRevoked).
func (c *Certificate) Usable() error {
	if c.RevokedAt == nil {
		return nil
	}
	return &errdefs.Conflict{Noun: Noun, ID: c.ID.String(), Reason: ReasonRevoked, Message: "The certificate was revoked."}
}
