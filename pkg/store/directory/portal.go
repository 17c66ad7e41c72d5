package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
)

// AddressKind tells the ways to name a portal's page.
type AddressKind string

// The kinds.
const (
	Slug AddressKind = "slug"
	Host AddressKind = "host"
)

// Address is what a portal's page is found by, among all of the deployment's.
type Address struct {
	Kind AddressKind
	Name string
}

func (a Address) String() string { return string(a.Kind) + " " + a.Name }

// Claim says whose an address is. A claim comes before the portal takes its
// address, so it can be of one that never did (package portal, Addresses).
type Claim struct {
	Org    id.Org
	Portal id.Portal
	At     time.Time
}

// Portal finds whose an address is, as far as this process knows. The portal
// has the last word whether it still has it. The error is ErrUnknown.
func (d *Directory) Portal(ctx context.Context, kind AddressKind, name string) (id.Org, id.Portal, error) {
	c, err := d.portals.Get(ctx, Address{kind, name})
	return c.Org, c.Portal, err
}

// Claimed finds the claim of an address. The error is ErrUnknown.
func (d *Directory) Claimed(ctx context.Context, a Address) (Claim, error) {
	var c Claim
	err := d.DB.QueryRow(ctx, `
		SELECT org_id, portal_id, claimed_at FROM portal_address WHERE kind = $1 AND name = $2`, a.Kind, a.Name).
		Scan(&c.Org, &c.Portal, &c.At)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, fmt.Errorf("%s: %w", a, ErrUnknown)
	}
	return c, err
}

// Claim enters a claim of an address that nobody has; taken says that somebody
// has it.
func (d *Directory) Claim(ctx context.Context, a Address, c Claim) (taken bool, err error) {
	tag, err := d.DB.Exec(ctx, `
		INSERT INTO portal_address (kind, name, org_id, portal_id, claimed_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kind, name) DO NOTHING`, a.Kind, a.Name, c.Org, c.Portal, c.At)
	return err == nil && tag.RowsAffected() == 0, err
}

// TakeOver replaces a claim that was found by another; done is false when it is
// not as it was found any more.
func (d *Directory) TakeOver(ctx context.Context, a Address, from, to Claim) (done bool, err error) {
	tag, err := d.DB.Exec(ctx, `
		UPDATE portal_address SET org_id = $6, portal_id = $7, claimed_at = $8
		WHERE kind = $1 AND name = $2 AND org_id = $3 AND portal_id = $4 AND claimed_at = $5`,
		a.Kind, a.Name, from.Org, from.Portal, from.At, to.Org, to.Portal, to.At)
	return tag.RowsAffected() == 1, err
}

// Release takes a claim back, unless somebody has renewed it.
func (d *Directory) Release(ctx context.Context, a Address, c Claim) error {
	_, err := d.DB.Exec(ctx, `
		DELETE FROM portal_address WHERE kind = $1 AND name = $2 AND org_id = $3 AND portal_id = $4 AND claimed_at = $5`,
		a.Kind, a.Name, c.Org, c.Portal, c.At)
	return err
}
