package apikey

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/database"
)

// Store reads and writes keys in the directory.
type Store struct {
	DB *database.DB
}

// ErrUnknown says that the organization has no such key.
var ErrUnknown = errors.New("no such key")

// columns are what scan reads, in its order.
const columns = `k.id, k.org_id, k.name, k.last4, k.scopes, k.full_access, k.contract, k.environment,
	k.allowed_addresses, k.created_by, k.created_at, k.updated_at, k.last_used_at, k.expires_at, k.revoked_at`

func (k *Key) fields() []any {
	return []any{
		&k.ID, &k.Org, &k.Name, &k.Last4, &k.Scopes, &k.FullAccess, &k.Contract, &k.Environment,
		&k.AllowedAddresses, &k.CreatedBy, &k.CreatedAt, &k.UpdatedAt, &k.LastUsedAt, &k.ExpiresAt, &k.RevokedAt,
	}
}

func scan(row pgx.CollectableRow) (Key, error) {
	var k Key
	err := row.Scan(k.fields()...)
	return k, err
}

// Get finds one key of an organization.
func (s *Store) Get(ctx context.Context, org id.Org, key id.Key) (Key, error) {
	rows, err := s.DB.Query(ctx, `SELECT `+columns+` FROM api_key k WHERE k.org_id = $1 AND k.id = $2`, org, key)
	if err != nil {
		return Key{}, err
	}
	k, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return k, ErrUnknown
	}
	return k, err
}

// Position is where a page of keys ended.
type Position struct {
	CreatedAt time.Time
	ID        id.Key
}

// List is a page of an organization's keys, newest first, after a position.
// It rides the index api_key_by_org.
func (s *Store) List(ctx context.Context, org id.Org, after *Position, limit int) ([]Key, error) {
	if after == nil {
		after = &Position{CreatedAt: time.Unix(1<<40, 0)}
	}
	rows, err := s.DB.Query(ctx, `
		SELECT `+columns+` FROM api_key k
		WHERE k.org_id = $1 AND (k.created_at, k.id) < ($2, $3)
		ORDER BY k.created_at DESC, k.id DESC LIMIT $4`, org, after.CreatedAt, after.ID, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// MadeBy are the keys of an organization that somebody made and that are not revoked.
// It rides the index api_key_by_org.
func (s *Store) MadeBy(ctx context.Context, org id.Org, by string) ([]Key, error) {
	rows, err := s.DB.Query(ctx, `
		SELECT `+columns+` FROM api_key k WHERE k.org_id = $1 AND k.created_by = $2 AND k.revoked_at IS NULL`, org, by)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// Opens says whether a secret is that of a key, and for good.
func (s *Store) Opens(ctx context.Context, key id.Key, h Hash) (opens bool, err error) {
	err = s.DB.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM api_key_secret WHERE hash = $1 AND key_id = $2 AND expires_at IS NULL)`, h[:], key).Scan(&opens)
	return opens, err
}

// Insert enters a key with the hash of its secret. Entering it again changes
// nothing, so a repeated run is harmless.
func (s *Store) Insert(ctx context.Context, k Key, h Hash) error {
	// A nil list would be written as NULL.
	k.Scopes, k.AllowedAddresses = append([]scope.Scope{}, k.Scopes...), append([]string{}, k.AllowedAddresses...)
	return s.DB.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO api_key (id, org_id, name, last4, scopes, full_access, contract, environment,
				allowed_addresses, created_by, created_at, updated_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12)
			ON CONFLICT (id) DO NOTHING`,
			k.ID, k.Org, k.Name, k.Last4, k.Scopes, k.FullAccess, k.Contract, k.Environment,
			k.AllowedAddresses, k.CreatedBy, k.CreatedAt, k.ExpiresAt); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO api_key_secret (hash, key_id, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (hash) DO NOTHING`, h[:], k.ID, k.CreatedAt)
		return err
	})
}

// Update is a change of a key's settings; nil leaves a field as it is.
type Update struct {
	Name       *string        `json:"name,omitempty"`
	Scopes     *[]scope.Scope `json:"scopes,omitempty"`
	FullAccess *bool          `json:"fullAccess,omitempty"`
	// Contract is the one to pin the key to.
	Contract         *contract.Version `json:"contract,omitempty"`
	AllowedAddresses *[]string         `json:"allowedAddresses,omitempty"`
	// ExpiresAt is set when SetExpiry is; nil then means never.
	SetExpiry bool       `json:"setExpiry,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	At        time.Time  `json:"at"`
}

// Update changes a key. An older change never overwrites a newer one, so late
// repeats are harmless.
func (s *Store) Update(ctx context.Context, org id.Org, key id.Key, u Update) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE api_key SET
			name = COALESCE($3, name),
			scopes = COALESCE($4, scopes),
			full_access = COALESCE($5, full_access),
			contract = COALESCE($10, contract),
			allowed_addresses = COALESCE($6, allowed_addresses),
			expires_at = CASE WHEN $7 THEN $8 ELSE expires_at END,
			updated_at = $9
		WHERE org_id = $1 AND id = $2 AND updated_at <= $9`,
		org, key, u.Name, u.Scopes, u.FullAccess, u.AllowedAddresses, u.SetExpiry, u.ExpiresAt, u.At, u.Contract)
	return err
}

// Rotate gives a key another secret. The ones before it work until a moment.
func (s *Store) Rotate(ctx context.Context, org id.Org, key id.Key, h Hash, last4 string, at, oldUntil time.Time) error {
	return s.DB.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		if _, err := tx.Exec(ctx, `
			UPDATE api_key_secret SET expires_at = $3
			WHERE key_id = $1 AND created_at < $2 AND (expires_at IS NULL OR expires_at > $3)`,
			key, at, oldUntil); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO api_key_secret (hash, key_id, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (hash) DO NOTHING`, h[:], key, at); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			UPDATE api_key SET last4 = $3, updated_at = $4 WHERE org_id = $1 AND id = $2 AND updated_at <= $4`,
			org, key, last4, at)
		return err
	})
}

// Revoke ends a key; the first moment stays.
func (s *Store) Revoke(ctx context.Context, org id.Org, key id.Key, at time.Time) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE api_key SET revoked_at = COALESCE(revoked_at, $3), updated_at = GREATEST(updated_at, $3)
		WHERE org_id = $1 AND id = $2`, org, key, at)
	return err
}

// NoteUse records when keys were last used. An earlier use never replaces a later one.
func (s *Store) NoteUse(ctx context.Context, keys []id.Key, at []time.Time) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE api_key SET last_used_at = GREATEST(COALESCE(last_used_at, used.at), used.at)
		FROM unnest($1::UUID[], $2::TIMESTAMPTZ[]) AS used (key_id, at)
		WHERE api_key.id = used.key_id`, keys, at)
	return err
}
