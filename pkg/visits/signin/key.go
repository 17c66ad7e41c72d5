package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/tenant"
)

const (
	// signsFor is how long a key signs. A newer one takes its place then.
	signsFor = 30 * 24 * time.Hour
	// longestToken is the longest that a token is good for.
	longestToken = 24 * time.Hour
	// secretBytes is the length of a key's secret: that of the hash it is used with.
	secretBytes = 32
)

// key signs an organization's tokens.
type key struct {
	ID     id.SigningKey
	Secret []byte
}

func place(org id.Org, k id.SigningKey) string {
	return "signing key " + org.String() + " " + k.String()
}

// signingKey is the organization's key that signs now; it is made when there is
// none, or the newest is too old.
func signingKey(ctx context.Context, tx *tenant.Tx, v *vault.Vault, now time.Time) (key, error) {
	var (
		k      key
		sealed []byte
	)
	err := tx.QueryRow(ctx, `
		SELECT id, secret FROM signing_key WHERE org_id = $1 AND created_at > $2 ORDER BY created_at DESC, id DESC LIMIT 1`,
		tx.Org, now.Add(-signsFor)).Scan(&k.ID, &sealed)
	switch {
	case err == nil:
		k.Secret, err = v.Open(place(tx.Org, k.ID), sealed)
		return k, err
	case !errors.Is(err, pgx.ErrNoRows):
		return k, err
	}
	k = key{ID: id.NewSigningKey(), Secret: make([]byte, secretBytes)}
	_, _ = rand.Read(k.Secret) // never fails: the program ends instead
	tx.Touch("signing_key", k.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO signing_key (org_id, id, secret, created_at) VALUES ($1, $2, $3, $4)`, tx.Org, k.ID, v.Seal(place(tx.Org, k.ID), k.Secret), now)
	return k, err
}

// secretOf is the secret of a key that signed a token; nil where there is no such
// key any more.
func secretOf(ctx context.Context, tx *tenant.Tx, v *vault.Vault, k id.SigningKey) ([]byte, error) {
	var sealed []byte
	err := tx.QueryRow(ctx, `SELECT secret FROM signing_key WHERE org_id = $1 AND id = $2`, tx.Org, k).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return v.Open(place(tx.Org, k), sealed)
}
