// Package signin lets people in to portals: by tokens that an organization's own
// system gets for them, by a code, by a link, or as they come. Whoever came in has a
// visit, which their browser holds the secret of. Which doors are open is package
// door's, and what a session needs package admission's.
package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// VisitFor is how long somebody who came in stays so.
const VisitFor = 12 * time.Hour

// Secret is what a browser holds of a visit. It names the organization. Only its
// hash is stored.
type Secret string

const (
	secretPrefix = "vvs_"
	// bareID is the length of an id without its prefix.
	bareID = 22
)

func newSecret(org id.Org) Secret {
	return Secret(secretPrefix + org.Bare() + rand.Text() + rand.Text())
}

// Org is the organization that a secret names; false for what is no secret.
func (s Secret) Org() (id.Org, bool) {
	rest, ok := strings.CutPrefix(string(s), secretPrefix)
	if !ok || len(rest) <= bareID || len(rest) > 128 {
		return id.Org{}, false
	}
	org, err := id.ParseOrg(rest[:bareID])
	return org, err == nil
}

func (s Secret) hash() hexed {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// hexed is a hash that is part of a row's key.
type hexed []byte

func (h hexed) String() string { return hex.EncodeToString(h) }

// Details are what a token, or a visitor, said of who it is and what it is for. Of
// people with a place nothing is kept here that their erasure would have to find.
type Details struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
	Phone string `json:"phone,omitempty"`
	// Ref is the organization's own name for a customer, and Verified says that it
	// vouches for who that is.
	Ref        string            `json:"ref,omitempty"`
	Verified   bool              `json:"verified,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	// Subject is what the visit is for; nil for any.
	Subject *id.Subject `json:"subject,omitempty"`
	// AllowedOrigins are of the pages that may show the portal in a frame.
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
	// ReturnURL is where they go afterwards; empty for nowhere.
	ReturnURL string `json:"returnUrl,omitempty"`
	// Mailed says that a candidate came by a link that was mailed to them, and shown to nobody else.
	Mailed bool `json:"mailed,omitempty"`
	// Sandbox says that a test key made the token: its sessions are trials.
	Sandbox bool `json:"sandbox,omitempty"`
}

// Visit is somebody who came in.
type Visit struct {
	Portal id.Portal
	// Door is the way they came: a door.Key, or ByEscalation or ByCase.
	Door       string
	Person     id.Person
	Membership id.Membership
	Escalation id.Escalation
	CaseLink   id.CaseLink
	Candidate  id.Candidate
	// Interview is the session of the candidate's last interview that was held in this visit; zero for none.
	Interview            id.Session
	Details              Details
	CreatedAt, ExpiresAt time.Time
}

const visitColumns = `portal_id, door, person_id, membership_id, escalation_id, case_link_id, candidate_id, interview_id, details, created_at, expires_at`

// keep enters a visit.
func (v *Visit) keep(ctx context.Context, tx *tenant.Tx, s Secret) error {
	tx.Touch("portal_visit", s.hash())
	_, err := tx.Exec(ctx, `
		INSERT INTO portal_visit (org_id, hash, portal_id, door, person_id, membership_id, escalation_id, case_link_id, candidate_id, details, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		tx.Org, []byte(s.hash()), v.Portal, v.Door, v.Person, v.Membership, v.Escalation, v.CaseLink, v.Candidate, v.Details, v.CreatedAt, v.ExpiresAt)
	return err
}

// Interviewed notes that a session is a candidate's interview that is held in a visit. It rides
// portal_visit_pkey.
func (g *Gate) Interviewed(ctx context.Context, tx *tenant.Tx, s Secret, held id.Session) error {
	tx.Touch("portal_visit", s.hash())
	_, err := tx.Exec(ctx, `UPDATE portal_visit SET interview_id = $3 WHERE org_id = $1 AND hash = $2`, tx.Org, []byte(s.hash()), held)
	return err
}

// Leave ends a visit. One that is over is no error.
func (g *Gate) Leave(ctx context.Context, s Secret) error {
	org, ok := s.Org()
	if !ok {
		return nil
	}
	return g.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("portal_visit", s.hash())
		_, err := tx.Exec(ctx, `DELETE FROM portal_visit WHERE org_id = $1 AND hash = $2`, tx.Org, []byte(s.hash()))
		return err
	}, tenant.Idempotent(true))
}
