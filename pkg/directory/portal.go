package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
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
