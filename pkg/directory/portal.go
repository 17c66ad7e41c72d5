package directory

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
)

// AddressKind tells the names of portals apart.
type AddressKind string

// The kinds: a part of a path, and a host of a customer's own.
const (
	Slug AddressKind = "slug"
	Host AddressKind = "host"
)

// Portal is whose portal a slug or a host was last claimed for. The claim comes
// before the portal's own row: only that row says whether it carries the name. The
// error is ErrUnknown. It rides the primary key.
func (d *Directory) Portal(ctx context.Context, kind AddressKind, name string) (org id.Org, p id.Portal, err error) {
	err = d.DB.QueryRow(ctx, `
		SELECT org_id, portal_id FROM portal_address WHERE kind = $1 AND name = $2`, kind, name).Scan(&org, &p)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%s %q: %w", kind, name, ErrUnknown)
	}
	return org, p, err
}
