package mailer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// How long links are good for, and how long one that is not is still told apart from
// one that never was.
const (
	signInFor      = 15 * time.Minute
	invitationFor  = 14 * 24 * time.Hour
	keptAfterwards = 24 * time.Hour
)

// Token opens a portal for somebody once. Only its hash is stored.
type Token string

// newToken makes a token of 130 random bits.
func newToken() Token { return Token("vml_" + rand.Text()) }

func hash(text string) hexed {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// hexed is a hash that is part of a row's key.
type hexed []byte

func (h hexed) String() string { return hex.EncodeToString(h) }

// Errors of links.
var (
	ErrUnknownLink = errors.New("no such link")
	ErrExpiredLink = errors.New("the link has expired")
	ErrUsedLink    = errors.New("the link was used")
	// ErrRevokedLink says that the person has another address by now.
	ErrRevokedLink = errors.New("the link was revoked")
)

// link makes a link to a place of somebody with an address.
func link(ctx context.Context, tx *tenant.Tx, m person.Membership, address string, goodFor time.Duration, now time.Time) (Token, error) {
	_, key, ok := person.Address(address)
	if !ok {
		return "", ErrNoAddress
	}
	token := newToken()
	which := hash(string(token))
	tx.Touch("mail_link", which)
	_, err := tx.Exec(ctx, `
		INSERT INTO mail_link (org_id, hash, portal_id, person_id, membership_id, address_hash, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.Org, []byte(which), m.Portal, m.Person, m.ID, []byte(hash(key)), now, now.Add(goodFor))
	return token, err
}

// Link is what a token opens.
type Link struct {
	Person     id.Person
	Membership id.Membership
	address    []byte
}

// Use uses up the link of a token on a portal. It rides mail_link_pkey. The error is
// ErrUnknownLink, ErrExpiredLink or ErrUsedLink.
func Use(ctx context.Context, tx *tenant.Tx, p id.Portal, token Token, now time.Time) (Link, error) {
	var (
		l       Link
		expires time.Time
		used    *time.Time
		which   = hash(string(token))
	)
	err := tx.QueryRow(ctx, `
		SELECT person_id, membership_id, address_hash, expires_at, used_at FROM mail_link
		WHERE org_id = $1 AND hash = $2 AND portal_id = $3 FOR UPDATE`, tx.Org, []byte(which), p).
		Scan(&l.Person, &l.Membership, &l.address, &expires, &used)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return l, ErrUnknownLink
	case err != nil:
		return l, err
	case used != nil:
		return l, ErrUsedLink
	case !now.Before(expires):
		return l, ErrExpiredLink
	}
	tx.Touch("mail_link", which)
	_, err = tx.Exec(ctx, `UPDATE mail_link SET used_at = $3 WHERE org_id = $1 AND hash = $2`, tx.Org, []byte(which), now)
	return l, err
}

// Reached says whether the link went to the address that the person has now. The
// error is ErrRevokedLink.
func (l Link) Reached(p person.Person) error {
	if p.Email != nil {
		if _, key, ok := person.Address(*p.Email); ok && string(hash(key)) == string(l.address) {
			return nil
		}
	}
	return ErrRevokedLink
}
