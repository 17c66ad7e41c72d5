// Package door is the ways in to a portal: which are open, and what each asks of
// those who come (spec, Doors). They are no part of a portal's draft: a door that is
// closed is closed now. Letting people in is package signin's.
package door

import (
	"context"
	"crypto/rand"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// Key names a door.
type Key string

// The doors.
const (
	// Visitors lets in whoever comes.
	Visitors Key = "visitors"
	// MembersLink lets in members by a link that is mailed to them.
	MembersLink Key = "members_link"
	// SSO lets in whom the organization's identity provider vouches for.
	SSO Key = "sso"
	// Candidates lets in those who were invited to an interview, by their link.
	Candidates Key = "candidates"
	// JoinCode lets in who knows the code, and gives them a place.
	JoinCode Key = "join_code"
	// Embed lets in learners whom the organization's own system signed in, and
	// Staff those of the other roles.
	Embed Key = "embed"
	Staff Key = "staff"
	// Customers lets in customers that the organization vouches for, those whose chat
	// it hands over, and those it sends a link to their case.
	Customers Key = "customers"
)

// Keys are the doors that every portal has, in the order to show.
var Keys = []Key{Visitors, MembersLink, JoinCode, SSO, Embed, Customers, Staff, Candidates}

// Door is one way in.
type Door struct {
	Key  Key
	Open bool
	// Requires is what is asked of who comes: name, email, consent, age_check.
	Requires []string
	Message  *string
	// Code is that of a join code; nil for others, and before the first.
	Code *string
	// ChangedAt is when it was opened or closed last; nil where it never was.
	ChangedAt *time.Time
	ChangedBy *string
	// Connection is the identity provider's of SSO; zero for none.
	Connection id.Connection
}

const columns = `key, open, requires, message, code, changed_at, changed_by, connection_id`

// List is every door of a portal. It rides portal_door_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) ([]Door, error) {
	var found []Door
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Door])
			return err
		}, `SELECT `+columns+` FROM portal_door WHERE org_id = $1 AND portal_id = $2`, org, p)
	})
	doors := make([]Door, len(Keys))
	for i, key := range Keys {
		doors[i] = Door{Key: key, Requires: []string{}}
		if at := slices.IndexFunc(found, func(d Door) bool { return d.Key == key }); at >= 0 {
			doors[i] = found[at]
		}
	}
	return doors, err
}

// Find finds a door in a transaction; one that was never opened is closed.
func Find(ctx context.Context, tx *tenant.Tx, p id.Portal, key Key) (Door, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM portal_door WHERE org_id = $1 AND portal_id = $2 AND key = $3`, tx.Org, p, key)
	if err != nil {
		return Door{}, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Door])
	if err != nil || len(found) == 0 {
		return Door{Key: key, Requires: []string{}}, err
	}
	return found[0], nil
}

// Change is how a door is to be.
type Change struct {
	Open     bool
	Requires []string
	Message  *string
	// Connection is of SSO. The caller says that it is an identity provider's.
	Connection id.Connection
}

// Set opens or closes a door of a portal that is locked. A join code is made each
// time that its door is opened: whoever knew the one before does not come in by it
// any more. The error can be a connection.UnusableError.
func Set(ctx context.Context, tx *tenant.Tx, p portal.Portal, key Key, c Change, who portal.Author) (Door, error) {
	d, err := Build(ctx, tx, p, key, c, who)
	if err == nil {
		portal.TellUpdated(tx, p, []string{"doors"}, who)
	}
	return d, err
}

// Build is Set for a portal that is being built, which tells of the whole.
func Build(ctx context.Context, tx *tenant.Tx, p portal.Portal, key Key, c Change, who portal.Author) (Door, error) {
	d, err := Find(ctx, tx, p.ID, key)
	if err != nil {
		return d, err
	}
	if key == JoinCode && c.Open && !d.Open {
		code := newCode()
		d.Code = &code
	}
	if key == SSO {
		d.Connection = c.Connection
		if err := connection.SetUses(ctx, tx, connection.ByPortal(p.ID), used(c.Connection)...); err != nil {
			return d, err
		}
	}
	d.Open, d.Requires, d.Message, d.ChangedAt, d.ChangedBy = c.Open, c.Requires, c.Message, &who.At, &who.By
	tx.Touch("portal_door", p.ID, text(key))
	if _, err := tx.Exec(ctx, `
		INSERT INTO portal_door (org_id, portal_id, key, open, requires, message, code, changed_at, changed_by, connection_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (org_id, portal_id, key) DO UPDATE SET open = EXCLUDED.open, requires = EXCLUDED.requires, message = EXCLUDED.message,
			code = EXCLUDED.code, changed_at = EXCLUDED.changed_at, changed_by = EXCLUDED.changed_by, connection_id = EXCLUDED.connection_id`,
		tx.Org, p.ID, d.Key, d.Open, d.Requires, d.Message, d.Code, d.ChangedAt, d.ChangedBy, d.Connection); err != nil {
		return d, err
	}
	if err := portal.Refresh(ctx, tx, p.ID); err != nil {
		return d, err
	}
	who.Log(tx, "portal.door_changed", "portal", p.ID, map[string]any{"door": key, "open": d.Open})
	return d, nil
}

// used are the connections of a door: one, or none.
func used(c id.Connection) []id.Connection {
	if c.IsZero() {
		return nil
	}
	return []id.Connection{c}
}

// text is a key as part of a row's key.
type text string

func (t text) String() string { return string(t) }

// letters are those of a join code: none is taken for another.
const letters = "ABCDEFGHJKMNPQRSTVWXYZ23456789"

// newCode makes a join code such as K7QM-4XPT. It is short, to be written on a
// board: guessing is bounded where it is tried.
func newCode() string {
	var b strings.Builder
	for i := range 8 {
		if i == 4 {
			b.WriteByte('-')
		}
		at, _ := rand.Int(rand.Reader, big.NewInt(int64(len(letters)))) // never fails: the program ends instead
		b.WriteByte(letters[at.Int64()])
	}
	return b.String()
}

// SameCode says whether somebody wrote a code, whatever the case, spaces and dashes.
func SameCode(code, written string) bool { return bare(code) != "" && bare(code) == bare(written) }

func bare(code string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters, r) {
			return r
		}
		return -1
	}, strings.ToUpper(code))
}
