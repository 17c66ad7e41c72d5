// Package idempotency keeps the answers of requests sent with an
// Idempotency-Key, so that a request repeated with the same key has its effect
// once and gets the same bytes again (spec, General conventions 5).
//
// A request first claims its key in a short transaction. Its effect and its
// answer are then committed together, in one transaction that only the holder
// of the claim can complete. A process that dies leaves a claim that lapses;
// whoever retries takes it over and nothing was done yet.
package idempotency

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const (
	// Kept is how long an answer is remembered.
	Kept = 24 * time.Hour
	// lease is how long a claim is believed without being completed. Every
	// request has ended by then, one way or the other.
	lease = time.Minute
)

var (
	// ErrConflict says that the key was used with a different request.
	ErrConflict = errors.New("the idempotency key was used with a different request")
	// ErrErased says that the answer told of somebody who was erased since.
	ErrErased = errors.New("the answer told of somebody who was erased")
	// ErrInProgress says that a request with the key is still running.
	ErrInProgress = errors.New("a request with this idempotency key is still running")
)

// Request identifies a request and says what it asks.
type Request struct {
	Org          id.Org
	Key          id.Key
	Method, Path string
	ClientKey    string
	// Contract is the one the answer is written in. A repeat that asks for
	// another one is a different request: its answer would have other bytes.
	Contract contract.Version
	Body     []byte
	// Seal, when set, is a secret that only the caller brings: the answer is
	// encrypted with it, because it shows something that is nowhere stored in
	// the clear.
	Seal []byte
}

// hash stands for everything the request asks.
func (r Request) hash() (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(r.Contract + "\n"))
	h.Write(r.Body)
	h.Sum(sum[:0])
	return sum
}

// Answer is a recorded answer.
type Answer struct {
	Status int
	Body   []byte
}

// Done is the error that carries the answer of an earlier run.
type Done struct{ Answer Answer }

func (*Done) Error() string { return "answered before" }

// Store keeps claims and answers on the organizations' shards.
type Store struct {
	tenants     *tenant.Tenants
	clock       clock.PassiveClock
	tellsErased TellsErased
}

// TellsErased says whether an answer tells of somebody who was erased.
type TellsErased func(ctx context.Context, tx *tenant.Tx, answer []byte) (bool, error)

// New makes a store.
func New(t *tenant.Tenants, c clock.PassiveClock, e TellsErased) *Store { return &Store{t, c, e} }

// Claim is the right to answer a request, held by one process at a time.
type Claim struct {
	store   *Store
	request Request
	hash    [sha256.Size]byte
	owner   uuid.UUID
}

// Claim takes hold of a request's key. It answers *Done when the request was
// answered before, ErrConflict, ErrInProgress, or an error of the database.
func (s *Store) Claim(ctx context.Context, r Request) (*Claim, error) {
	c := &Claim{store: s, request: r, hash: r.hash(), owner: uuid.New()}
	err := s.tenants.InTx(ctx, r.Org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("idempotency_record", r.Key, text(r.Method), text(r.Path), text(r.ClientKey))
		taken, err := c.take(ctx, tx)
		if err != nil || taken {
			return err
		}
		return c.standing(ctx, tx)
	}, tenant.Idempotent(true))
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Answered says whether a request with the same key was answered, whatever it asked.
func (s *Store) Answered(ctx context.Context, r Request) (answered bool, err error) {
	err = s.tenants.Read(ctx, r.Org, func(q *tenant.Reads) {
		var one int64
		q.QueryRow(&answered, []any{&one}, `
			SELECT 1 FROM idempotency_record
			WHERE org_id = $1 AND key_id = $2 AND method = $3 AND path = $4 AND client_key = $5 AND state = 'done' AND expires_at > $6`,
			r.Org, r.Key, r.Method, r.Path, r.ClientKey, s.clock.Now())
	})
	return answered, err
}

// take inserts the claim, or takes over one that lapsed or expired.
func (c *Claim) take(ctx context.Context, tx *tenant.Tx) (bool, error) {
	now := c.store.clock.Now()
	tag, err := tx.Exec(ctx, `
		INSERT INTO idempotency_record AS r (org_id, key_id, method, path, client_key, request_hash,
			state, owner, lease_until, status, answer, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'running', $7, $8, 0, '', $9)
		ON CONFLICT (org_id, key_id, method, path, client_key) DO UPDATE SET
			request_hash = excluded.request_hash, state = 'running', owner = excluded.owner,
			lease_until = excluded.lease_until, status = 0, answer = '', expires_at = excluded.expires_at
		WHERE r.expires_at <= $10 OR r.owner = excluded.owner
			OR r.state = 'running' AND r.lease_until <= $10 AND r.request_hash = excluded.request_hash`,
		c.request.Org, c.request.Key, c.request.Method, c.request.Path, c.request.ClientKey, c.hash[:],
		c.owner, now.Add(lease), now.Add(Kept), now)
	return tag.RowsAffected() == 1, err
}

// standing says why the claim could not be taken.
func (c *Claim) standing(ctx context.Context, tx *tenant.Tx) error {
	r, err := c.read(ctx, tx)
	switch {
	case err != nil:
		return err
	case r.hash != c.hash:
		return ErrConflict
	case r.state == "running":
		return ErrInProgress
	case r.state == "erased":
		return ErrErased
	}
	body, err := open(c.request.Seal, r.answer)
	if err != nil {
		// The key's secret was rotated since: only the old one opens the answer.
		return ErrConflict
	}
	if erased, err := c.store.tellsErased(ctx, tx, body); err != nil || erased {
		return cmp.Or(err, ErrErased)
	}
	return &Done{Answer{r.status, body}}
}

type record struct {
	hash   [sha256.Size]byte
	state  string
	owner  uuid.UUID
	status int
	answer []byte
}

func (c *Claim) read(ctx context.Context, tx *tenant.Tx) (record, error) {
	var (
		r    record
		hash []byte
	)
	err := tx.QueryRow(ctx, `
		SELECT request_hash, state, owner, status, answer FROM idempotency_record
		WHERE org_id = $1 AND key_id = $2 AND method = $3 AND path = $4 AND client_key = $5`,
		c.request.Org, c.request.Key, c.request.Method, c.request.Path, c.request.ClientKey).
		Scan(&hash, &r.state, &r.owner, &r.status, &r.answer)
	if errors.Is(err, pgx.ErrNoRows) {
		// It was released between the two statements.
		return r, ErrInProgress
	}
	copy(r.hash[:], hash)
	return r, err
}

// Recheck is called first in every further run of a transaction whose commit
// may have succeeded. It answers *Done if it did.
func (c *Claim) Recheck(ctx context.Context, tx *tenant.Tx) error {
	r, err := c.read(ctx, tx)
	if err != nil || r.state != "done" || r.owner != c.owner {
		return err
	}
	body, err := open(c.request.Seal, r.answer)
	if err != nil {
		return err
	}
	return &Done{Answer{r.status, body}}
}

// Complete records the answer in the transaction that has the effect. A claim
// that lapsed and was taken over meanwhile answers ErrInProgress, and the
// transaction must not be committed.
func (c *Claim) Complete(ctx context.Context, tx *tenant.Tx, a Answer) error {
	tx.Touch("idempotency_record", c.request.Key, text(c.request.Method), text(c.request.Path), text(c.request.ClientKey))
	tag, err := tx.Exec(ctx, `
		UPDATE idempotency_record SET state = 'done', status = $7, answer = $8
		WHERE org_id = $1 AND key_id = $2 AND method = $3 AND path = $4 AND client_key = $5
			AND owner = $6 AND state = 'running'`,
		c.request.Org, c.request.Key, c.request.Method, c.request.Path, c.request.ClientKey,
		c.owner, a.Status, seal(c.request.Seal, a.Body))
	if err == nil && tag.RowsAffected() == 0 {
		return ErrInProgress
	}
	return err
}

// Release gives up a claim whose request failed, so that it can be sent again.
func (c *Claim) Release(ctx context.Context) error {
	return c.store.tenants.InTx(ctx, c.request.Org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("idempotency_record", c.request.Key, text(c.request.Method), text(c.request.Path), text(c.request.ClientKey))
		_, err := tx.Exec(ctx, `
			DELETE FROM idempotency_record
			WHERE org_id = $1 AND key_id = $2 AND method = $3 AND path = $4 AND client_key = $5
				AND owner = $6 AND state = 'running'`,
			c.request.Org, c.request.Key, c.request.Method, c.request.Path, c.request.ClientKey, c.owner)
		return err
	}, tenant.Idempotent(true))
}

// text is a string that is part of a row's key.
type text string

func (t text) String() string { return string(t) }

// Sweep deletes what has expired on a shard, some thousands at a time. A row
// of an organization that is being moved is left for its new home.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM idempotency_record WHERE (org_id, key_id, method, path, client_key) IN (
			SELECT r.org_id, r.key_id, r.method, r.path, r.client_key FROM idempotency_record r
			JOIN org_fence f ON f.org_id = r.org_id AND f.state = 'open'
			WHERE r.expires_at <= $1 LIMIT 5000)`, now)
}
