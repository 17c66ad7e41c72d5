package connection

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// New is a connection as it is entered.
func New(o Offer, name string, config Config, secret Secret, at time.Time) Connection {
	return Connection{
		ID: id.NewConnection(), Kind: o.Kind, Provider: o.Provider, Name: name, State: Unverified, Config: config,
		SecretSet: secret != "", SecretLast4: secret.last4(), Health: Health{P95Ms: -1}, SettledAt: at, CreatedAt: at, UpdatedAt: at,
	}
}

// Create enters a connection with its secret; an empty one is none.
func Create(ctx context.Context, tx *tenant.Tx, v *vault.Vault, c Connection, s Secret, who activity.Actor) error {
	tx.Touch("connection", c.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO connection (org_id, id, kind, provider, name, state, config, timeout_ms, fallback, secret, secret_last4,
			error_code, failures, p95_ms, settled_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', 0, -1, $12, $12, $12)`,
		tx.Org, c.ID, c.Kind, c.Provider, c.Name, c.State, c.Config, c.TimeoutMs, c.Fallback, s.seal(v, tx.Org, c.ID), c.SecretLast4, c.CreatedAt)
	if err != nil {
		return err
	}
	who.Log(tx, "connection.created", "connection", c.ID, map[string]any{"name": c.Name, "kind": c.Kind, "provider": c.Provider})
	if c.Kind != ATS { // nothing else waits for who comes in the place of another
		return c.read(ctx, tx, who.At)
	}
	return c.resume(ctx, tx, who.At)
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	Kind     Kind
	Provider Provider
	State    State
}

// List is a page of the connections, newest first, after one of them; the zero
// id for the first page. It rides connection_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Connection, limit int) ([]Connection, error) {
	return tenant.All(ctx, t, org, scanWhole, `
		SELECT `+whole+` FROM connection c
		WHERE c.org_id = $1 AND ($2::UUID IS NULL OR c.id < $2) AND c.deleted_at IS NULL
			AND ($3 = '' OR c.kind = $3) AND ($4 = '' OR c.provider = $4) AND ($5 = '' OR c.state = $5)
		ORDER BY c.id DESC LIMIT $6`, org, after, f.Kind, f.Provider, f.State, limit)
}

const (
	selectOne   = `SELECT ` + columns + ofOne
	selectWhole = `SELECT ` + whole + ofOne
	ofOne       = ` FROM connection c WHERE c.org_id = $1 AND c.id = $2`
)

// Get finds a connection. The error is errdefs.NotFound or errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Connection) (Connection, error) {
	var found []Connection
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scanWhole)
			return err
		}, selectWhole, org, which)
	})
	if err != nil {
		return Connection{}, err
	}
	return alone(which, found)
}

// alone is the one connection that was found and is not deleted.
func alone(which id.Connection, found []Connection) (Connection, error) {
	switch {
	case len(found) == 0:
		return Connection{}, Noun.NotFound(which)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(which)
	}
	return found[0], nil
}

// Lock finds a connection and holds its row until the transaction ends. Who
// begins to use one does so too, so that one in use is never deleted. The error
// is errdefs.NotFound or errdefs.Gone.
func Lock(ctx context.Context, tx *tenant.Tx, which id.Connection) (Connection, error) {
	return lock(ctx, tx, which, selectWhole, scanWhole)
}

// Find finds a connection in a transaction. The error is errdefs.NotFound or errdefs.Gone.
func Find(ctx context.Context, tx *tenant.Tx, which id.Connection) (Connection, error) {
	found, err := tenant.AllIn(ctx, tx, scan, selectOne, tx.Org, which)
	if err != nil {
		return Connection{}, err
	}
	return alone(which, found)
}

// Succeeds says whether the connection was made anew in the place of a deleted one, whose service was at an
// address, or named to go on for it. What went to that one is none of another's that was there beside it: it can be another
// account's.
func (c Connection) Succeeds(before Connection, address string) bool {
	if before.DeletedAt == nil || c.Kind != before.Kind || c.Provider != before.Provider || c.Address() != address {
		return false
	}
	return before.Successor == c.ID || before.Successor.IsZero() && !c.CreatedAt.Before(*before.DeletedAt)
}

// Heir finds the newest connection that succeeds a deleted one, whose service was at an address. The error is
// errdefs.NotFound. It rides connection_pkey.
func Heir(ctx context.Context, tx *tenant.Tx, of id.Connection, address string) (Connection, error) {
	before, err := Find(ctx, tx, of)
	for err != nil && errdefs.IsAbsent(err, Noun) && !before.Successor.IsZero() { // who was named may be deleted too
		next, gone := Find(ctx, tx, before.Successor)
		if next.DeletedAt == nil {
			break
		}
		before, err = next, gone
	}
	if err != nil && !errdefs.IsAbsent(err, Noun) {
		return Connection{}, err
	}
	found, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM connection c
		WHERE c.org_id = $1 AND c.kind = $2 AND c.provider = $3 AND c.deleted_at IS NULL ORDER BY c.id DESC`, tx.Org, before.Kind, before.Provider)
	if err != nil {
		return Connection{}, err
	}
	for _, c := range found {
		if c.Succeeds(before, address) {
			return c, nil
		}
	}
	return Connection{}, Noun.NotFound(of)
}

// Hold says whether a connection is still as it was settled at a moment, and keeps it so until the
// transaction ends. It rides connection_pkey.
func Hold(ctx context.Context, tx *tenant.Tx, which id.Connection, settled time.Time) (bool, error) {
	found, err := tenant.AllIn(ctx, tx, pgx.RowTo[time.Time], `
		SELECT settled_at FROM connection WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`, tx.Org, which)
	return err == nil && len(found) == 1 && found[0].Equal(settled), err
}

// hold is Lock without the tools of a server.
func hold(ctx context.Context, tx *tenant.Tx, which id.Connection) (Connection, error) {
	return lock(ctx, tx, which, selectOne, scan)
}

func lock(ctx context.Context, tx *tenant.Tx, which id.Connection, selects string, scan pgx.RowToFunc[Connection]) (Connection, error) {
	rows, err := tx.Query(ctx, selects+` FOR UPDATE OF c`, tx.Org, which)
	if err != nil {
		return Connection{}, err
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return Connection{}, err
	}
	return alone(which, found)
}

// Configure makes a change of a connection that Lock found, and answers it as it is then. A
// change of nothing is none. The errors are those of Apply.
func Configure(ctx context.Context, tx *tenant.Tx, v *vault.Vault, before Connection, change Change, who activity.Actor) (Connection, error) {
	after, changes, err := before.Apply(change, who.At)
	if err != nil || len(changes) == 0 {
		return before, err
	}
	if err := Update(ctx, tx, after); err != nil {
		return before, err
	}
	if len(after.Discovered) != len(before.Discovered) {
		if err := keepTools(ctx, tx, after); err != nil {
			return before, err
		}
	}
	if change.Secret != nil {
		if err := dropLinks(ctx, tx, after.ID, false); err != nil { // it can be another account's
			return before, err
		}
		if err := ReplaceSecret(ctx, tx, v, after.ID, *change.Secret, time.Time{}); err != nil {
			return before, err
		}
	}
	who.Log(tx, "connection.updated", "connection", after.ID, changes)
	if after.SettledAt.Equal(before.SettledAt) {
		return after, nil
	}
	return after, errors.Join(after.resume(ctx, tx, who.At), after.read(ctx, tx, who.At))
}

// Rotate gives a connection that Lock found another secret, and answers it as it is then.
// The old one is tried too for a while; zero lets it go at once.
func Rotate(
	ctx context.Context, tx *tenant.Tx, v *vault.Vault, before Connection, s Secret, grace time.Duration, who activity.Actor,
) (Connection, error) {
	after := before.Rotated(s, who.At)
	if err := Update(ctx, tx, after); err != nil {
		return before, err
	}
	var oldUntil time.Time
	if grace > 0 {
		oldUntil = who.At.Add(grace)
	}
	if err := dropLinks(ctx, tx, after.ID, false); err != nil { // it can be another account's
		return before, err
	}
	if err := ReplaceSecret(ctx, tx, v, after.ID, s, oldUntil); err != nil {
		return before, err
	}
	who.Log(tx, "connection.secret_rotated", "connection", after.ID, map[string]any{"graceS": int64(grace / time.Second)})
	return after, after.resume(ctx, tx, who.At)
}

// Update writes the row of a connection that Lock found.
func Update(ctx context.Context, tx *tenant.Tx, c Connection) error {
	tx.Touch("connection", c.ID)
	_, err := tx.Exec(ctx, `
		UPDATE connection SET name = $3, state = $4, config = $5, timeout_ms = $6, fallback = $7, secret_last4 = $8, ok_at = $9,
			error_at = $10, error_code = $11, failures = $12, p95_ms = $13, settled_at = $14, updated_at = $15
		WHERE org_id = $1 AND id = $2`,
		tx.Org, c.ID, c.Name, c.State, c.Config, c.TimeoutMs, c.Fallback, c.SecretLast4, c.Health.OKAt,
		c.Health.ErrorAt, c.Health.ErrorCode, c.Health.Failures, c.Health.P95Ms, c.SettledAt, c.UpdatedAt)
	return err
}

// keepTools writes what was found of a server's tools, apart from the rest: it can be large, and
// the row is written whenever calls are noted.
func keepTools(ctx context.Context, tx *tenant.Tx, c Connection) error {
	tx.Touch("connection", c.ID)
	_, err := tx.Exec(ctx, `UPDATE connection SET tools = $3 WHERE org_id = $1 AND id = $2`, tx.Org, c.ID, c.Discovered)
	return err
}

// ReplaceSecret gives a connection that Lock found another secret. The old one
// is tried too until a moment; the zero one lets it go at once.
func ReplaceSecret(ctx context.Context, tx *tenant.Tx, v *vault.Vault, c id.Connection, s Secret, oldUntil time.Time) error {
	tx.Touch("connection", c)
	if oldUntil.IsZero() {
		_, err := tx.Exec(ctx, `
			UPDATE connection SET secret = $3, secret_last4 = $4, previous_secret = NULL, previous_until = NULL
			WHERE org_id = $1 AND id = $2`, tx.Org, c, s.seal(v, tx.Org, c), s.last4())
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE connection SET previous_secret = secret, previous_until = $5, secret = $3, secret_last4 = $4
		WHERE org_id = $1 AND id = $2`, tx.Org, c, s.seal(v, tx.Org, c), s.last4(), oldUntil)
	return err
}

// Rotated is the connection with a new secret that is to take the old one's
// place: it works on as it did, and one that failed is tried afresh.
func (c Connection) Rotated(s Secret, at time.Time) Connection {
	c.SecretSet, c.SecretLast4, c.UpdatedAt, c.SettledAt = true, s.last4(), at, at
	c.Health.Failures = 0
	if c.State == Failing {
		c.State = Unverified
	}
	return c
}

// Delete removes a connection that nobody uses. Its secrets are gone at once. Another one of its kind, provider and
// address can go on with what it did, and with what it was named to go on with; the zero id for none.
// The error is errdefs.NotFound, errdefs.Gone, an errdefs.Conflict, or an errdefs.Invalid of successorId.
func Delete(ctx context.Context, tx *tenant.Tx, which, successor id.Connection, who activity.Actor) error {
	c, err := hold(ctx, tx, which)
	if err != nil {
		return err
	}
	if c.UsedBy.any() {
		return c.UsedBy.refusal(which)
	}
	next, err := c.succeededBy(ctx, tx, successor)
	if err != nil {
		return err
	}
	tx.Touch("connection", which)
	if _, err := tx.Exec(ctx, `
		UPDATE connection SET deleted_at = $3, updated_at = $3, config = '{}', tools = NULL, secret = NULL, secret_last4 = '',
			previous_secret = NULL, previous_until = NULL, successor_id = $4
		WHERE org_id = $1 AND id = $2`, tx.Org, which, who.At, successor); err != nil {
		return err
	}
	if err := errors.Join(forgetCalls(ctx, tx, which, 0), dropLinks(ctx, tx, which, true), dropToken(ctx, tx, which), passOn(ctx, tx, which, successor)); err != nil {
		return err
	}
	who.Log(tx, "connection.deleted", "connection", which, nil)
	if next == nil {
		return nil
	}
	return next.resume(ctx, tx, who.At)
}

// succeededBy is the connection that is to go on for one that is deleted; nil for none.
func (c Connection) succeededBy(ctx context.Context, tx *tenant.Tx, successor id.Connection) (*Connection, error) {
	if successor.IsZero() {
		return nil, nil //nolint:nilnil // there is none
	}
	next, err := hold(ctx, tx, successor)
	if errdefs.IsAbsent(err, Noun) || err == nil && (next.ID == c.ID || next.Kind != c.Kind || next.Provider != c.Provider || next.Address() != c.Address()) {
		return nil, errdefs.InvalidField("successorId", "is no other connection of the same kind and provider to the same address")
	}
	return &next, err
}

// passOn has who goes on for a connection go on for those that it went on for. Where nobody is named these stay its own:
// who is made in its place, and nobody who was there beside it, goes on for them too (Heir).
func passOn(ctx context.Context, tx *tenant.Tx, from, to id.Connection) error {
	if to.IsZero() {
		return nil
	}
	passed, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Connection], `
		UPDATE connection SET successor_id = $3 WHERE org_id = $1 AND successor_id = $2 RETURNING id`, tx.Org, from, to)
	for _, c := range passed {
		tx.Touch("connection", c)
	}
	return err
}

// FirstThatClones is the oldest active connection that voices can be made with.
// The error is errdefs.NotFound. It rides connection_pkey.
func FirstThatClones(ctx context.Context, t *tenant.Tenants, org id.Org) (Connection, error) {
	var providers []string
	for _, o := range offers() {
		if o.Clones {
			providers = append(providers, string(o.Provider))
		}
	}
	var found []Connection
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scan)
			return err
		}, `
			SELECT `+columns+` FROM connection c
			WHERE c.org_id = $1 AND c.kind = $2 AND c.provider = ANY($3) AND c.state = $4 AND c.deleted_at IS NULL
			ORDER BY c.id LIMIT 1`, org, Speech, providers, Active)
	})
	if err != nil {
		return Connection{}, err
	}
	if len(found) == 0 {
		return Connection{}, errdefs.NotFound{Noun: Noun}
	}
	return found[0], nil
}

// OldestMedia is the oldest media connection that is not switched off. The error is
// errdefs.NotFound. It rides connection_pkey.
func OldestMedia(ctx context.Context, t *tenant.Tenants, org id.Org) (Connection, error) {
	return oldest(ctx, t, org, Media)
}

// OldestRecognition is the oldest recognition connection that is not switched off. The error
// is errdefs.NotFound. It rides connection_pkey.
func OldestRecognition(ctx context.Context, t *tenant.Tenants, org id.Org) (Connection, error) {
	return oldest(ctx, t, org, Recognition)
}

// maxRendering is how many avatar connections of an organization are looked at for one that renders a face.
const maxRendering = 100

// Renders is the oldest avatar connection that is not switched off and renders a face, and the face's name there. The error
// is errdefs.NotFound. It rides connection_pkey.
func Renders(ctx context.Context, t *tenant.Tenants, org id.Org, f Face) (which id.Connection, name string, err error) {
	found, err := List(ctx, t, org, Filter{Kind: Avatar}, id.Connection{}, maxRendering)
	for _, c := range found { // the newest first
		if c.State == Disabled {
			continue
		}
		if as := c.Config.AvatarOf(f); as != "" {
			which, name = c.ID, as
		}
	}
	if err == nil && name == "" {
		err = errdefs.NotFound{Noun: Noun}
	}
	return which, name, err
}

func oldest(ctx context.Context, t *tenant.Tenants, org id.Org, kind Kind) (Connection, error) {
	return tenant.One(ctx, t, org, scan, errdefs.NotFound{Noun: Noun}, `
		SELECT `+columns+` FROM connection c
		WHERE c.org_id = $1 AND c.kind = $2 AND c.state <> $3 AND c.deleted_at IS NULL ORDER BY c.id LIMIT 1`, org, kind, Disabled)
}

// rememberedFor is how long a deleted connection is answered with 410 rather
// than 404.
const rememberedFor = 90 * 24 * time.Hour

// Sweep forgets connections of a shard that were deleted long ago.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM connection WHERE (org_id, id) IN (
			SELECT c.org_id, c.id FROM connection c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			WHERE c.deleted_at <= $1 LIMIT 1000)`, now.Add(-rememberedFor))
}
