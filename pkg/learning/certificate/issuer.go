package certificate

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/learning/certificate/badge"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// IssuerNoun is what errors about who issues badges are about.
const IssuerNoun errdefs.Noun = "issuer"

// issuerKey is a key as it is stored, without what is secret of it. Keys are never deleted: what
// one signed is verified by it. What is secret of one that will sign no more is.
type issuerKey struct {
	ID id.IssuerKey
	// Public is of Ed25519, and Token of RSA, in PKIX.
	Public, Token []byte
	CreatedAt     time.Time
}

const (
	// MaxKeys bounds the keys of an organization.
	MaxKeys = 20
	// RotateEvery is how long after a key was made there is no other.
	RotateEvery = time.Hour
	// DocumentFor is how long others keep a DID document.
	DocumentFor = time.Minute
	// signsAfter is when a key signs that others stand beside: when nobody has a document
	// without it, however the clocks of processes differ.
	signsAfter = 5 * DocumentFor
)

// ReasonTooManyKeys is the reason of a conflict: the organization has as many keys as can be.
const ReasonTooManyKeys = "too_many_keys"

// signing is the one of an organization's keys, the newest first, that signs.
func signing(keys []issuerKey, now time.Time) issuerKey {
	for _, k := range keys {
		if !now.Before(k.CreatedAt.Add(signsAfter)) {
			return k
		}
	}
	return keys[len(keys)-1]
}

func scanKey(row pgx.CollectableRow) (issuerKey, error) { return pgx.RowToStructByPos[issuerKey](row) }

// selectKeys rides issuer_key_pkey; an organization has few.
const selectKeys = `SELECT id, public_key, token_key, created_at FROM issuer_key WHERE org_id = $1 ORDER BY created_at DESC, id DESC`

// place is what a key is sealed for.
func place(org id.Org, k id.IssuerKey) string { return "issuer key " + org.String() + " " + k.String() }

// Keys are a pair of keys that is not stored yet.
type Keys struct {
	embedded ed25519.PrivateKey
	token    *rsa.PrivateKey
}

// tokenBits is the size of an RSA key, as the standard of badges has it.
const tokenBits = 2048

// NewKeys makes keys, which takes a part of a second: outside of a transaction.
func NewKeys() (Keys, error) {
	var seed [ed25519.SeedSize]byte
	_, _ = rand.Read(seed[:]) // never fails: the program ends instead
	token, err := rsa.GenerateKey(rand.Reader, tokenBits)
	return Keys{ed25519.NewKeyFromSeed(seed[:]), token}, err
}

// Key is one that signs an organization's badges from a moment on.
type Key struct {
	ID                   id.IssuerKey
	CreatedAt, SignsFrom time.Time
}

// Rotate has an organization's badges signed with new keys soon. Badges that others signed stay
// good. Within RotateEvery it answers those that were made last: doing so again changes nothing.
// The error is a conflict (ReasonTooManyKeys).
func Rotate(ctx context.Context, tx *tenant.Tx, v *vault.Vault, keys Keys, who activity.Actor) (Key, error) {
	// Whoever makes keys waits here for who does.
	if _, err := tx.Increment(ctx, "issuer keys made", 0, false); err != nil {
		return Key{}, err
	}
	had, err := tenant.AllIn(ctx, tx, scanKey, selectKeys, tx.Org)
	if err != nil {
		return Key{}, err
	}
	if len(had) > 0 && who.At.Before(had[0].CreatedAt.Add(RotateEvery)) {
		last := had[0]
		if len(had) > 1 {
			return Key{last.ID, last.CreatedAt, last.CreatedAt.Add(signsAfter)}, nil
		}
		return Key{last.ID, last.CreatedAt, last.CreatedAt}, nil
	}
	if len(had) >= MaxKeys {
		return Key{}, &errdefs.Conflict{
			Noun: IssuerNoun, Reason: ReasonTooManyKeys, Message: "There are as many keys as an organization can have.",
			Details: map[string]any{"most": MaxKeys},
		}
	}
	made, err := keys.store(ctx, tx, v, who)
	if err != nil || len(had) == 0 {
		return made, err
	}
	made.SignsFrom = made.CreatedAt.Add(signsAfter)
	return made, retire(ctx, tx, had, signing(had, who.At))
}

func (keys Keys) store(ctx context.Context, tx *tenant.Tx, v *vault.Vault, who activity.Actor) (Key, error) {
	k := Key{id.NewIssuerKey(), who.At, who.At}
	token, err := x509.MarshalPKIXPublicKey(keys.token.Public())
	if err != nil {
		return k, err
	}
	secret := append(keys.embedded.Seed(), x509.MarshalPKCS1PrivateKey(keys.token)...)
	tx.Touch("issuer_key", k.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO issuer_key (org_id, id, public_key, token_key, secret, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org, k.ID, []byte(keys.embedded.Public().(ed25519.PublicKey)), token, v.Seal(place(tx.Org, k.ID), secret), who.At)
	who.Log(tx, "issuer_key.created", "issuer_key", k.ID, nil)
	return k, err
}

// retire forgets what is secret of keys but of the one that still signs.
func retire(ctx context.Context, tx *tenant.Tx, keys []issuerKey, but issuerKey) error {
	var retired []id.IssuerKey
	for _, k := range keys {
		if k.ID != but.ID {
			tx.Touch("issuer_key", k.ID)
			retired = append(retired, k.ID)
		}
	}
	if len(retired) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE issuer_key SET secret = '' WHERE org_id = $1 AND id = ANY($2)`, tx.Org, retired)
	return err
}

// keys are an organization's, the newest first; with make, one is made where there is none.
func (r *Registry) keys(ctx context.Context, org id.Org, create bool) ([]issuerKey, error) {
	found, err := tenant.All(ctx, r.Tenants, org, scanKey, selectKeys, org)
	if err != nil || len(found) > 0 || !create {
		return found, err
	}
	made, err := NewKeys()
	if err != nil {
		return nil, err
	}
	who := activity.Actor{By: "platform", At: r.Clock.Now().UTC().Truncate(time.Microsecond)}
	err = r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := Rotate(ctx, tx, r.Vault, made, who); err != nil {
			return err
		}
		found, err = tenant.AllIn(ctx, tx, scanKey, selectKeys, org)
		return err
	}, tenant.Idempotent(true))
	return found, err
}

// signer is the one of an organization's keys that signs, with what is secret of it. It rides
// issuer_key_pkey.
func (r *Registry) signer(ctx context.Context, org id.Org, keys []issuerKey) (badge.Key, error) {
	k := signing(keys, r.Clock.Now())
	found, err := k.shown()
	if err != nil {
		return found, err
	}
	sealed, err := tenant.One(ctx, r.Tenants, org, pgx.RowTo[[]byte], IssuerNoun.NotFound(org), `
		SELECT secret FROM issuer_key WHERE org_id = $1 AND id = $2`, org, k.ID)
	if err != nil {
		return found, err
	}
	secret, err := r.Vault.Open(place(org, k.ID), sealed)
	if err != nil {
		return found, err
	}
	if len(secret) < ed25519.SeedSize {
		return found, errNoKey
	}
	found.Private = ed25519.NewKeyFromSeed(secret[:ed25519.SeedSize])
	found.TokenPrivate, err = x509.ParsePKCS1PrivateKey(secret[ed25519.SeedSize:])
	return found, err
}

var errNoKey = errors.New("what is stored is no key")

// Signer is the key that signs for an organization now, which stands in its DID document. Where it
// has none, one is made.
func (r *Registry) Signer(ctx context.Context, org id.Org) (id.IssuerKey, ed25519.PrivateKey, error) {
	keys, err := r.keys(ctx, org, true)
	if err != nil {
		return id.IssuerKey{}, nil, err
	}
	k, err := r.signer(ctx, org, keys)
	if err != nil {
		return id.IssuerKey{}, nil, err
	}
	which, err := id.ParseIssuerKey(k.ID)
	return which, k.Private, err
}

// shown is a stored key as everybody may know it.
func (k *issuerKey) shown() (badge.Key, error) {
	token, err := x509.ParsePKIXPublicKey(k.Token)
	if err != nil {
		return badge.Key{}, err
	}
	public, ok := token.(*rsa.PublicKey)
	if !ok {
		return badge.Key{}, errNoKey
	}
	return badge.Key{ID: k.ID.String(), Public: k.Public, TokenPublic: public, CreatedAt: k.CreatedAt}, nil
}

// Issuer is where the DID document of an organization is.
func (l Links) Issuer(org id.Org) string {
	return strings.TrimSuffix(l.API, "/") + "/v1/issuers/" + org.String() + "/did.json"
}

// status is where a status list of an organization is.
func (l Links) status(org id.Org, list int64) string {
	return fmt.Sprintf("%s/v1/status-lists/%s.%d", strings.TrimSuffix(l.API, "/"), org, list)
}

func (r *Registry) issuer(ctx context.Context, org id.Org) (badge.Issuer, error) {
	did, err := badge.WebDID(r.Links.Issuer(org))
	if err != nil {
		return badge.Issuer{}, err
	}
	name, err := r.Name(ctx, org)
	return badge.Issuer{DID: did, Name: name}, err
}

// Badge is a certificate as an Open Badge 3.0, with an embedded proof or, as a token, as a
// VC-JWT. The same certificate makes the same badge until the key changes. The error can be a
// conflict (ReasonRevoked).
func (r *Registry) Badge(ctx context.Context, org id.Org, c Certificate, token bool) ([]byte, error) {
	if err := c.Usable(); err != nil {
		return nil, err
	}
	keys, err := r.keys(ctx, org, true)
	if err != nil {
		return nil, err
	}
	k, err := r.signer(ctx, org, keys)
	if err != nil {
		return nil, err
	}
	issuer, err := r.issuer(ctx, org)
	if err != nil {
		return nil, err
	}
	a := badge.Achievement{
		ID: "urn:uuid:" + uuid.UUID(c.ID).String(), Of: "urn:uuid:" + uuid.UUID(c.Subject).String(), Recipient: c.Recipient, Title: c.Title, Narrative: c.Title,
		Language: c.Language, VerifyURL: r.Links.Verify(c.Number), IssuedAt: c.IssuedAt, ExpiresAt: c.ExpiresAt,
		StatusURL: r.Links.status(org, c.Ordinal/badge.ListSize), StatusIndex: c.Ordinal % badge.ListSize,
	}
	if token {
		return issuer.Token(a, k)
	}
	return issuer.Embedded(a, k)
}

// DIDDocument is the DID document of an organization that has issued badges. The error is
// errdefs.NotFound.
func (r *Registry) DIDDocument(ctx context.Context, org id.Org) ([]byte, error) {
	found, err := r.keys(ctx, org, false)
	if err != nil || len(found) == 0 {
		return nil, missing(org, err)
	}
	issuer, err := r.issuer(ctx, org)
	if err != nil {
		return nil, missing(org, err)
	}
	shown := make([]badge.Key, len(found))
	for i, k := range found {
		if shown[i], err = k.shown(); err != nil {
			return nil, err
		}
	}
	return issuer.Document(shown)
}

const (
	// listFor is how long a status list is handed out as it was signed, and keptLists how many
	// are kept.
	listFor   = 30 * time.Second
	keptLists = 256
	// signerFor is how long an organization's key is kept open, and keptSigners of how many. It
	// signs for longer than that once there is another (signsAfter).
	signerFor   = 30 * time.Second
	keptSigners = 1024
)

// signer is an organization with the key that signs for it.
type signer struct {
	issuer badge.Issuer
	key    badge.Key
}

// statusList names a list of an organization.
type statusList struct {
	org id.Org
	of  int64
}

// String is what ParseList reads.
func (l statusList) String() string { return fmt.Sprintf("%s.%d", l.org, l.of) }

// StatusList is the list, by the name that ParseList reads, that says which badges of an
// organization were revoked, half a minute ago at the earliest. The error is errdefs.NotFound.
func (r *Registry) StatusList(ctx context.Context, org id.Org, list int64) ([]byte, error) {
	return r.signed().Get(ctx, statusList{org, list})
}

// signed are the lists that were signed a moment ago.
func (r *Registry) signed() *readthrough.Cache[statusList, []byte] {
	r.once.Do(r.remember)
	return r.lists
}

func (r *Registry) remember() {
	never := func(error) bool { return false }
	r.lists = readthrough.New(readthrough.Options[statusList, []byte]{
		Size: keptLists, Fresh: listFor, Outage: never, Load: r.statusList, Name: statusList.String, Clock: r.Clock,
	})
	r.signers = readthrough.New(readthrough.Options[id.Org, signer]{
		Size: keptSigners, Fresh: signerFor, Outage: never, Load: r.loadSigner, Name: id.Org.String, Clock: r.Clock,
	})
}

// SignDetached signs what an organization says, by a key of its DID document; see
// badge.Issuer.Detached. Where it has no key, one is made.
func (r *Registry) SignDetached(ctx context.Context, org id.Org, payload []byte, kind string) (string, error) {
	r.once.Do(r.remember)
	by, err := r.signers.Get(ctx, org)
	if err != nil {
		return "", err
	}
	return by.issuer.Detached(payload, kind, by.key)
}

func (r *Registry) loadSigner(ctx context.Context, org id.Org) (signer, error) {
	keys, err := r.keys(ctx, org, true)
	if err != nil {
		return signer{}, err
	}
	k, err := r.signer(ctx, org, keys)
	if err != nil {
		return signer{}, err
	}
	issuer, err := r.issuer(ctx, org)
	return signer{issuer, k}, err
}

// Changed has the list of a certificate that was revoked signed anew for who asks this process.
func (r *Registry) Changed(org id.Org, c Certificate) {
	r.signed().Forget(statusList{org, c.Ordinal / badge.ListSize})
}

// statusList signs a list. It rides org_counter_pkey and certificate_revoked.
func (r *Registry) statusList(ctx context.Context, l statusList) ([]byte, error) {
	found, err := r.keys(ctx, l.org, false)
	if err != nil || len(found) == 0 {
		return nil, missing(l.org, err)
	}
	last, err := tenant.One(ctx, r.Tenants, l.org, pgx.RowTo[int64], IssuerNoun.NotFound(l.org), `
		SELECT value FROM org_counter WHERE org_id = $1 AND name = $2`, l.org, counter)
	if err != nil {
		return nil, err
	}
	first := l.of * badge.ListSize
	if first > last {
		return nil, IssuerNoun.NotFound(l.org)
	}
	k, err := r.signer(ctx, l.org, found)
	if err != nil {
		return nil, err
	}
	issuer, err := r.issuer(ctx, l.org)
	if err != nil {
		return nil, missing(l.org, err)
	}
	places, err := revoked(ctx, r.Tenants, l.org, first, first+badge.ListSize)
	if err != nil {
		return nil, err
	}
	for i := range places {
		places[i] -= first
	}
	return issuer.StatusList(r.Links.status(l.org, l.of), places, k, r.Clock.Now().UTC().Truncate(time.Second))
}

// mostLists bounds the lists of an organization.
const mostLists = 1 << 20

// ParseList reads the name of a status list: the organization's id, a full stop and the
// list's number.
func ParseList(text string) (org id.Org, list int64, ok bool) {
	of, number, found := strings.Cut(text, ".")
	org, err := id.ParseOrg(of)
	if err != nil || !found {
		return org, 0, false
	}
	list, err = strconv.ParseInt(number, 10, 64)
	return org, list, err == nil && list >= 0 && list < mostLists && strconv.FormatInt(list, 10) == number
}

// missing is the error for an organization that issued no badges, or that is none.
func missing(org id.Org, err error) error {
	if err == nil || errors.Is(err, directory.ErrUnknown) {
		return IssuerNoun.NotFound(org)
	}
	return err
}
