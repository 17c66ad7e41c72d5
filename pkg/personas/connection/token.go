package connection

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/provider/googlecalendar"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Tokens keep the access tokens that connections are given for their refresh tokens, sealed, and for all processes:
// a refresh token that is used twice can be taken for stolen. Whoever redeems one holds the row by a lease, not by a
// transaction, which would keep the organization from being moved as long as a server takes. It is safe for concurrent
// use.
type Tokens struct {
	Tenants *tenant.Tenants
	Vault   *vault.Vault
	Egress  *egress.Guard
	Clock   clock.PassiveClock

	known lru.Cache[tokenOf, held]
}

// tokenOf names the token of a connection by its secret.
type tokenOf struct {
	org    id.Org
	of     id.Connection
	secret [sha256.Size]byte
}

// held is a token as it is sealed.
type held struct {
	// Secret is the digest of the one that it began with: with another it begins anew.
	Secret  []byte    `json:"secret"`
	Access  string    `json:"access"`
	Refresh string    `json:"refresh"`
	Until   time.Time `json:"until"`
}

const (
	// mostTokens bounds the tokens that a process remembers.
	mostTokens = 2000
	// redeemWithin bounds a redemption, and leaseFor is how long a process is waited for that may have died in one.
	redeemWithin = 10 * time.Second
	leaseFor     = time.Minute
	// askAgain is how soon somebody else's redemption is looked at again.
	askAgain = 100 * time.Millisecond
	// spare is left of a token that is used.
	spare = time.Minute
	// longestTokenAnswer is in bytes.
	longestTokenAnswer = 64 << 10
	// keepWithin bounds the writing of a token that was given.
	keepWithin = 30 * time.Second
)

// NewTokens makes one.
func NewTokens(t *tenant.Tenants, v *vault.Vault, g *egress.Guard, c clock.PassiveClock) *Tokens {
	known, err := lru.New[tokenOf, held](mostTokens)
	if err != nil {
		panic(err) // the size is good
	}
	return &Tokens{Tenants: t, Vault: v, Egress: g, Clock: c, known: known}
}

// usable says whether a token can be sent at a moment, and is not the one that was refused.
func (h held) usable(now time.Time, stale string) bool {
	return h.Access != "" && h.Access != stale && now.Add(spare).Before(h.Until)
}

// tokenPlace is where a token opens.
func tokenPlace(org id.Org, c id.Connection) string { return place(org, c) + "/token" }

// Access is an access token of a connection with a secret; stale is one that was refused, empty for none. Who has less
// time than a redemption can take gets one that is there already. The error is an upstream.Error, or
// context.Canceled, or a fault of ours.
func (t *Tokens) Access(ctx context.Context, o *Opened, secret, stale string) (string, error) {
	key := tokenOf{o.Org, o.ID, sha256.Sum256([]byte(secret))}
	if h, ok := t.known.Get(key); ok && h.usable(t.Clock.Now(), stale) {
		return h.Access, nil
	}
	me := uuid.New()
	for {
		h, claimed, err := t.claim(ctx, key, me, stale)
		switch {
		case err != nil:
			return "", err
		case h.usable(t.Clock.Now(), stale):
			t.known.Add(key, h)
			return h.Access, nil
		case claimed:
			h, again, err := t.redeem(ctx, o, key, me, secret, h)
			if err != nil || !again {
				return h.Access, err
			}
			continue
		}
		if err := wait(ctx, askAgain); err != nil {
			return "", err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	after := time.NewTimer(d)
	defer after.Stop()
	select {
	case <-ctx.Done():
		return upstream.FromRequest(ctx.Err())
	case <-after.C:
		return nil
	}
}

// hasTime says whether a redemption can be waited for.
func hasTime(ctx context.Context) bool {
	by, bounded := ctx.Deadline()
	return !bounded || time.Until(by) >= redeemWithin
}

// claim reads a token, and where it is none that can be used takes the row's lease, unless somebody has that.
func (t *Tokens) claim(ctx context.Context, key tokenOf, me uuid.UUID, stale string) (h held, claimed bool, err error) {
	now := t.Clock.Now().UTC()
	err = t.Tenants.InTx(ctx, key.org, func(ctx context.Context, tx *tenant.Tx) error {
		claimed = false
		if err := makeToken(ctx, tx, key.of); err != nil {
			return err
		}
		var (
			until  *time.Time
			holder *uuid.UUID
			err    error
		)
		if h, holder, until, err = t.read(ctx, tx, key); err != nil || h.usable(now, stale) {
			return err
		}
		if holder != nil && *holder != me && until != nil && now.Before(*until) {
			return nil
		}
		if !hasTime(ctx) {
			return &upstream.Error{Code: upstream.Timeout}
		}
		claimed = true
		tx.Touch("connection_token", key.of)
		_, err = tx.Exec(ctx, `UPDATE connection_token SET holder = $3, held_until = $4 WHERE org_id = $1 AND connection_id = $2`, tx.Org, key.of, me, now.Add(leaseFor))
		return err
	}, tenant.Idempotent(true))
	return h, claimed, err
}

func makeToken(ctx context.Context, tx *tenant.Tx, which id.Connection) error {
	if _, err := Find(ctx, tx, which); err != nil { // none of one that is gone
		return err
	}
	tx.Touch("connection_token", which)
	_, err := tx.Exec(ctx, `INSERT INTO connection_token (org_id, connection_id) VALUES ($1, $2) ON CONFLICT (org_id, connection_id) DO NOTHING`, tx.Org, which)
	return err
}

// read reads a token and holds its row. One of another secret is none.
func (t *Tokens) read(ctx context.Context, tx *tenant.Tx, key tokenOf) (h held, holder *uuid.UUID, until *time.Time, err error) {
	var sealed []byte
	err = tx.QueryRow(ctx, `SELECT token, holder, held_until FROM connection_token WHERE org_id = $1 AND connection_id = $2 FOR UPDATE`, tx.Org, key.of).
		Scan(&sealed, &holder, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, nil, nil, Noun.NotFound(key.of) // deleted meanwhile
	}
	if err != nil || sealed == nil {
		return h, holder, until, err
	}
	text, err := t.Vault.Open(tokenPlace(tx.Org, key.of), sealed)
	if err != nil {
		return h, holder, until, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, holder, until, err
	}
	if subtle.ConstantTimeCompare(h.Secret, key.secret[:]) == 0 {
		h = held{}
	}
	return h, holder, until, nil
}

// redeem has another token given and keeps it, whoever asked for it may have gone: it is the only one that is taken.
// again says that somebody else was given one meanwhile.
func (t *Tokens) redeem(ctx context.Context, o *Opened, key tokenOf, me uuid.UUID, secret string, h held) (_ held, again bool, err error) {
	grant := o.grant(secret)
	if h.Refresh != "" {
		grant.Refresh = h.Refresh
	}
	ctx = context.WithoutCancel(ctx)
	asking, cancel := context.WithTimeout(ctx, redeemWithin)
	defer cancel()
	client := t.client()
	given, err := grant.Redeem(asking, client, o.Config.tokenURL())
	if err != nil {
		if replaced := t.replaced(ctx, key, me, h); replaced && errors.Is(err, googlecalendar.ErrInvalidGrant) {
			return held{}, true, nil
		}
		return held{}, false, err
	}
	now := held{Secret: key.secret[:], Access: given.Access, Refresh: given.Refresh, Until: t.Clock.Now().UTC().Add(given.ExpiresIn)}
	if now.Refresh == "" {
		now.Refresh = grant.Refresh
	}
	if err := t.keep(ctx, key, me, now); err != nil {
		return held{}, false, err
	}
	t.known.Add(key, now)
	return now, false, nil
}

func (t *Tokens) client() *http.Client {
	return t.Egress.ClientWithin(redeemWithin, longestTokenAnswer)
}

// replaced gives the lease back, and says whether somebody else was given a token since one was read.
func (t *Tokens) replaced(ctx context.Context, key tokenOf, me uuid.UUID, before held) (replaced bool) {
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	err := t.Tenants.InTx(ctx, key.org, func(ctx context.Context, tx *tenant.Tx) error {
		now, _, _, err := t.read(ctx, tx, key)
		if err != nil {
			return err
		}
		replaced = now.Refresh != before.Refresh
		return release(ctx, tx, key.of, me)
	}, tenant.Idempotent(true))
	return err == nil && replaced
}

func release(ctx context.Context, tx *tenant.Tx, which id.Connection, me uuid.UUID) error {
	tx.Touch("connection_token", which)
	_, err := tx.Exec(ctx, `UPDATE connection_token SET holder = NULL, held_until = NULL WHERE org_id = $1 AND connection_id = $2 AND holder = $3`, tx.Org, which, me)
	return err
}

// errLeaseLost says that a redemption took longer than it is waited for.
var errLeaseLost = errors.New("the lease of a token was lost")

// keep writes a token that was given, and gives the lease back. It is tried for a while: nothing else knows it.
func (t *Tokens) keep(ctx context.Context, key tokenOf, me uuid.UUID, h held) error {
	text, err := json.Marshal(h) //nolint:gosec // it is sealed
	if err != nil {
		return err
	}
	sealed := t.Vault.Seal(tokenPlace(key.org, key.of), text)
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	for {
		err := t.Tenants.InTx(ctx, key.org, func(ctx context.Context, tx *tenant.Tx) error {
			tx.Touch("connection_token", key.of)
			done, err := tx.Exec(ctx, `
				UPDATE connection_token SET token = $3, holder = NULL, held_until = NULL
				WHERE org_id = $1 AND connection_id = $2 AND (holder = $4 OR token = $3)`, tx.Org, key.of, sealed, me)
			if err == nil && done.RowsAffected() == 0 {
				err = errLeaseLost
			}
			return err
		}, tenant.Idempotent(true))
		if err == nil || errors.Is(err, errLeaseLost) || ctx.Err() != nil {
			return err
		}
		if wait(ctx, askAgain) != nil {
			return err
		}
	}
}

// dropToken forgets the token of a connection.
func dropToken(ctx context.Context, tx *tenant.Tx, which id.Connection) error {
	tx.Touch("connection_token", which)
	_, err := tx.Exec(ctx, `DELETE FROM connection_token WHERE org_id = $1 AND connection_id = $2`, tx.Org, which)
	return err
}
