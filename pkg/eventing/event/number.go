package event

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

const (
	// numberAtOnce is about how many events get their places in one transaction: each
	// organization's share of it, but at least leastShare, so that none waits for another's
	// many.
	numberAtOnce = 500
	leastShare   = 10
	// orgsAtOnce is how many organizations' events do.
	orgsAtOnce = 64
	// stagedPage is how many rows are read at once to find those.
	stagedPage = 64
)

// Numbering gives staged events of a shard their places in their organizations' logs, and
// enters their deliveries. It is for one goroutine at a time.
type Numbering struct {
	Tenants *tenant.Tenants
	Shard   string
	// after is the organization that the last round ended at, so that those whose events have
	// to wait keep nobody else waiting.
	after id.Org
}

// Next is for the next organizations that have staged events. more says that there may be
// further ones, or more of these. Organizations whose log somebody else is writing are passed
// by, and so are those that do not live on the shard.
func (n *Numbering) Next(ctx context.Context) (more bool, err error) {
	db, err := n.Tenants.Shard(ctx, n.Shard)
	if err != nil {
		return false, err
	}
	orgs, err := n.staged(ctx, db)
	if err != nil || len(orgs) == 0 {
		return false, err
	}
	full, err := numberOf(ctx, n.Tenants, n.Shard, orgs, skipLocked)
	if err != nil && !database.Unavailable(err) && len(orgs) > 1 {
		full, err = n.oneByOne(ctx, orgs)
	}
	return full || !n.after.IsZero(), err
}

// oneByOne is for organizations of which one may have an event that cannot be entered, which
// keeps no other's waiting.
func (n *Numbering) oneByOne(ctx context.Context, orgs []id.Org) (more bool, err error) {
	var failures []error
	for _, org := range orgs {
		full, err := numberOf(ctx, n.Tenants, n.Shard, []id.Org{org}, skipLocked)
		if err != nil {
			failures = append(failures, fmt.Errorf("organization %s: %w", org, err))
		}
		more = more || full
	}
	return more, errors.Join(failures...)
}

// staged finds organizations that have staged events. It rides event_staged_order, and skips
// the rest of an organization's rows after a page of them.
func (n *Numbering) staged(ctx context.Context, db *database.DB) (orgs []id.Org, err error) {
	for len(orgs) < orgsAtOnce {
		rows, err := db.Query(ctx, `SELECT org_id FROM event_staged WHERE org_id > $1 AND place >= 0 ORDER BY org_id LIMIT $2`, uuid.UUID(n.after), stagedPage)
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, slices.Compact(slices.Clone(found))...)
		if len(found) < stagedPage {
			n.after = id.Org{}
			break
		}
		n.after = found[len(found)-1]
	}
	return orgs, nil
}

// NumberOf gives staged events of some organizations their places, as Numbering does.
func NumberOf(ctx context.Context, t *tenant.Tenants, shard string, orgs []id.Org) (more bool, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil || len(orgs) == 0 {
		return false, err
	}
	// Rides event_staged_order.
	rows, err := db.Query(ctx, `
		SELECT o.id FROM unnest($1::UUID[]) AS o (id)
		WHERE EXISTS (SELECT 1 FROM event_staged s WHERE s.org_id = o.id AND s.place >= 0)`, orgs)
	if err != nil {
		return false, err
	}
	waiting, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
	if err != nil || len(waiting) == 0 {
		return false, err
	}
	return numberOf(ctx, t, shard, waiting, skipLocked)
}

// Settle gives the staged events of an organization their places, so that whoever reads the
// log or its deliveries next sees what was committed before. While the organization is being
// moved it does nothing.
func Settle(ctx context.Context, t *tenant.Tenants, org id.Org) error {
	return readSettled(ctx, t, org, func(*tenant.Reads) {})
}

// readSettled is tenant.Read of the log, again where something was staged for it.
func readSettled(ctx context.Context, t *tenant.Tenants, org id.Org, queue func(*tenant.Reads)) error {
	var staged bool
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		// First, so that what has its place since is read. Rides event_staged_order.
		r.QueryRow(new(bool), []any{&staged}, `SELECT EXISTS (SELECT 1 FROM event_staged WHERE org_id = $1 AND place >= 0)`, org)
		queue(r)
	})
	if err != nil || !staged {
		return err
	}
	shard, err := t.ShardOf(ctx, org)
	for more := true; more && err == nil; {
		more, err = numberOf(ctx, t, shard, []id.Org{org}, wait)
	}
	if err != nil {
		return err
	}
	return t.Read(ctx, org, queue)
}

func numberOf(ctx context.Context, t *tenant.Tenants, shard string, orgs []id.Org, p policy) (more bool, err error) {
	err = t.InManyTx(ctx, shard, orgs, func(ctx context.Context, tx *tenant.ManyTx) error {
		more = false
		open := slices.DeleteFunc(slices.Clone(orgs), func(org id.Org) bool { return !tx.Open(org) })
		held, err := hold(ctx, tx, tx.Engine, open, p)
		if err != nil {
			return err
		}
		var write func(*pgx.Batch)
		if write, more = held.number(tx.Touch); write != nil {
			tx.AtCommit(write)
		}
		return nil
	})
	return more, err
}
