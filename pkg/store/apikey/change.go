package apikey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Change is something that happens to a key. It is committed on the
// organization's shard together with the activity entry and the idempotency
// record, and taken over by the directory right after; a crash in between is
// made good by Sweep. Exactly one of the fields is set.
type Change struct {
	Insert *Insertion  `json:"insert,omitempty"`
	Update *Alteration `json:"update,omitempty"`
	Rotate *Rotation   `json:"rotate,omitempty"`
	Revoke *Revocation `json:"revoke,omitempty"`
}

// Insertion is a new key.
type Insertion struct {
	Key  Key    `json:"key"`
	Hash []byte `json:"hash"`
}

// Alteration is a change of a key's settings.
type Alteration struct {
	Key    id.Key `json:"key"`
	Update Update `json:"update"`
}

// Rotation is another secret for a key.
type Rotation struct {
	Key      id.Key    `json:"key"`
	Hash     []byte    `json:"hash"`
	Last4    string    `json:"last4"`
	At       time.Time `json:"at"`
	OldUntil time.Time `json:"oldUntil"`
}

// Revocation is a key's end.
type Revocation struct {
	Key id.Key    `json:"key"`
	At  time.Time `json:"at"`
}

// Changes carries changes from the shards to the directory.
type Changes struct {
	Store   *Store
	Tenants *tenant.Tenants
}

const changeKind = "api_key"

// ErrPending says that a change of the organization's keys was proposed and is not
// effective yet: Apply makes it so.
var ErrPending = errors.New("a change of a key is not effective yet")

// turns counts the changes of an organization's keys. Its row makes them wait for each
// other.
const turns = "keyChanges"

// Begin takes the organization's turn among the changes of its keys, until the caller's
// commit: what the directory has of them by now is all that there is. The error can be
// ErrPending.
func (c *Changes) Begin(ctx context.Context, tx *tenant.Tx) error {
	if _, err := tx.Increment(ctx, turns, 0, false); err != nil {
		return err
	}
	var pending bool
	if err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM directory_change WHERE org_id = $1 AND kind = $2)`, tx.Org, changeKind).Scan(&pending); err != nil {
		return err
	}
	if pending {
		return ErrPending
	}
	return nil
}

// Propose writes a change down in the caller's transaction; changes are the key's new
// values by name. Apply, after the commit, makes it effective.
func (c *Changes) Propose(ctx context.Context, tx *tenant.Tx, change Change, changes map[string]any, who activity.Actor) error {
	if _, err := tx.Increment(ctx, turns, 0, false); err != nil {
		return err
	}
	n := uuid.Must(uuid.NewV7())
	tx.Touch("directory_change", n)
	if _, err := tx.Exec(ctx, `
		INSERT INTO directory_change (org_id, id, kind, payload, created_at) VALUES ($1, $2, $3, $4, $5)`,
		tx.Org, n, changeKind, change, who.At); err != nil {
		return err
	}
	action, key := change.logged()
	who.Log(tx, action, "key", key, changes)
	return nil
}

// logged is what the activity log calls a change, and the key that it is of.
func (c Change) logged() (action string, key id.Key) {
	switch {
	case c.Insert != nil:
		return "key.created", c.Insert.Key.ID
	case c.Update != nil:
		return "key.updated", c.Update.Key
	case c.Rotate != nil:
		return "key.rotated", c.Rotate.Key
	default:
		return "key.revoked", c.Revoke.Key
	}
}

// Apply makes the organization's proposed changes effective, in their order.
func (c *Changes) Apply(ctx context.Context, org id.Org) error {
	type proposed struct {
		id      uuid.UUID
		payload []byte
	}
	var all []proposed
	err := c.Tenants.Read(ctx, org, func(r *tenant.Reads) {
		all = nil
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var p proposed
				if err := rows.Scan(&p.id, &p.payload); err != nil {
					return err
				}
				all = append(all, p)
			}
			return rows.Err()
		}, `SELECT id, payload FROM directory_change WHERE org_id = $1 AND kind = $2 ORDER BY id`, org, changeKind)
	})
	if err != nil {
		return err
	}
	for _, p := range all {
		var change Change
		if err := json.Unmarshal(p.payload, &change); err != nil {
			return fmt.Errorf("proposed change %s: %w", p.id, err)
		}
		if err := c.apply(ctx, org, change); err != nil {
			return err
		}
		if err := c.done(ctx, org, p.id); err != nil {
			return err
		}
	}
	return nil
}

// apply can run again for a change that was applied: every write it makes is
// the same the second time.
func (c *Changes) apply(ctx context.Context, org id.Org, change Change) error {
	switch {
	case change.Insert != nil:
		return c.Store.Insert(ctx, change.Insert.Key, Hash(change.Insert.Hash))
	case change.Update != nil:
		return c.Store.Update(ctx, org, change.Update.Key, change.Update.Update)
	case change.Rotate != nil:
		r := change.Rotate
		return c.Store.Rotate(ctx, org, r.Key, Hash(r.Hash), r.Last4, r.At, r.OldUntil)
	case change.Revoke != nil:
		return c.Store.Revoke(ctx, org, change.Revoke.Key, change.Revoke.At)
	}
	return nil
}

func (c *Changes) done(ctx context.Context, org id.Org, n uuid.UUID) error {
	return c.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("directory_change", n)
		_, err := tx.Exec(ctx, `DELETE FROM directory_change WHERE org_id = $1 AND id = $2`, org, n)
		return err
	}, tenant.Idempotent(true))
}

// sweepAfter leaves a change to the process that proposed it for a while.
const sweepAfter = 2 * time.Second

// Sweep applies what crashed processes left behind on a shard.
func (c *Changes) Sweep(ctx context.Context, shard string, now time.Time) (swept int, err error) {
	db, err := c.Tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT d.org_id FROM directory_change d
		JOIN org_fence o ON o.org_id = d.org_id AND o.state IN ('open', 'capture')
		WHERE d.created_at < $1 LIMIT 100`, now.Add(-sweepAfter))
	if err != nil {
		return 0, err
	}
	orgs, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
	if err != nil {
		return 0, err
	}
	var failed error
	for _, org := range orgs { // one that fails must not keep the others waiting
		if err := c.Apply(ctx, org); err != nil {
			failed = errors.Join(failed, fmt.Errorf("organization %s: %w", org, err))
			continue
		}
		swept++
	}
	return swept, failed
}
