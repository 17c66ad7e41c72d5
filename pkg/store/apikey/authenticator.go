package apikey

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
)

// Principal is who makes a request: a key, its organization, and what that
// organization may have. It is shared between requests and never changed.
type Principal struct {
	Key   Key
	Org   directory.Organization
	Terms plan.Terms
}

// ErrUnauthorized says that a secret opens nothing: malformed, unknown,
// expired or revoked. Which of these, the caller is not told.
var ErrUnauthorized = errors.New("the key opens nothing")

const (
	// fresh keeps a revocation from being missed for longer than the second
	// that remains of the promised two.
	fresh = time.Second
	// patience is that second: a directory that takes longer to answer counts as away.
	patience = time.Second
	// stale lets pods go on while the directory is away. Nobody can revoke a
	// key then either, except where only this pod is cut off.
	stale = 5 * time.Minute
	// noteEvery is how often the last uses are written down.
	noteEvery = 30 * time.Second
)

// Authenticator finds out whose secret a request bears.
type Authenticator struct {
	store *Store
	plans *plan.Catalogue
	clock clock.WithTicker
	log   *slog.Logger
	known *readthrough.Cache[Hash, *found]

	mu   sync.Mutex
	used map[id.Key]time.Time

	stop, stopped chan struct{}
}

// found is what the directory answered for a hash; a nil principal is a no.
type found struct {
	hash      Hash
	expiresAt *time.Time
	principal *Principal
}

// Options shape an Authenticator.
type Options struct {
	// Cached is the largest number of secrets known at a time; zero means 50,000.
	Cached int
	Clock  clock.WithTicker
	Log    *slog.Logger
}

// NewAuthenticator makes an Authenticator; Start makes it write down when keys were used.
func NewAuthenticator(s *Store, plans *plan.Catalogue, o Options) *Authenticator {
	if o.Cached == 0 {
		o.Cached = 50_000
	}
	a := &Authenticator{
		store: s, plans: plans, clock: o.Clock, log: o.Log, used: map[id.Key]time.Time{},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	a.known = readthrough.New(readthrough.Options[Hash, *found]{
		Size: o.Cached, Fresh: fresh, Stale: stale, Patience: patience, Outage: database.Unavailable, Load: a.load,
		Name: func(h Hash) string { return string(h[:]) }, Clock: o.Clock,
	})
	return a
}

// Authenticate finds who bears a secret. It answers ErrUnauthorized or an
// error of the database.
func (a *Authenticator) Authenticate(ctx context.Context, bearer string) (*Principal, error) {
	secret, ok := ParseSecret(bearer)
	if !ok {
		return nil, ErrUnauthorized
	}
	hash := secret.Hash()
	f, err := a.known.Get(ctx, hash)
	if err != nil {
		return nil, err
	}
	now := a.clock.Now()
	if f.principal == nil || subtle.ConstantTimeCompare(f.hash[:], hash[:]) != 1 ||
		f.expiresAt != nil && !now.Before(*f.expiresAt) || !f.principal.Key.Usable(now) {
		return nil, ErrUnauthorized
	}
	a.noteUse(f.principal.Key.ID, now)
	return f.principal, nil
}

func (a *Authenticator) load(ctx context.Context, h Hash) (*found, error) {
	var (
		f    found
		p    Principal
		hash []byte
	)
	dest := append([]any{&hash, &f.expiresAt}, p.Key.fields()...)
	dest = append(dest, p.Org.Fields()...)
	err := a.store.DB.QueryRow(ctx, `
		SELECT s.hash, s.expires_at, `+columns+`, `+directory.OrganizationColumns+`
		FROM api_key_secret s
		JOIN api_key k ON k.id = s.key_id
		JOIN organization o ON o.id = k.org_id
		WHERE s.hash = $1 AND o.state = 'active'`, h[:]).Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return &found{}, nil
	}
	if err != nil {
		return nil, err
	}
	copy(f.hash[:], hash)
	p.Terms = a.plans.Terms(p.Org.Plan, p.Org.Overrides)
	f.principal = &p
	return &f, nil
}

// Known is how many secrets are held in memory.
func (a *Authenticator) Known() int { return a.known.Len() }

func (a *Authenticator) noteUse(k id.Key, at time.Time) {
	a.mu.Lock()
	a.used[k] = at
	a.mu.Unlock()
}

// Start begins to write down when keys were last used.
func (a *Authenticator) Start() { go a.run() }

// Stop writes down what is left and ends what Start began.
func (a *Authenticator) Stop() {
	close(a.stop)
	<-a.stopped
}

func (a *Authenticator) run() {
	defer close(a.stopped)
	ticker := a.clock.NewTicker(noteEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
			a.flush()
		case <-a.stop:
			a.flush()
			return
		}
	}
}

// flush writes the last uses. They are a courtesy: when the directory is away
// they are dropped rather than kept without bound.
func (a *Authenticator) flush() {
	a.mu.Lock()
	used := a.used
	a.used = make(map[id.Key]time.Time, len(used))
	a.mu.Unlock()
	if len(used) == 0 {
		return
	}
	keys, at := make([]id.Key, 0, len(used)), make([]time.Time, 0, len(used))
	for k, t := range used {
		keys, at = append(keys, k), append(at, t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := a.store.NoteUse(ctx, keys, at); err != nil {
		a.log.Warn("last uses of keys not written down", "keys", len(keys), "error", err)
	}
}

// String shows a hash for logs.
func (h Hash) String() string { return hex.EncodeToString(h[:4]) + "…" }
