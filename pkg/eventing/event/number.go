package event

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/hint"
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
	// page is what Queue found for the next round; nil without.
	page *[]id.Org
}

// Numbered is what came of giving events their places.
type Numbered struct {
	// More says that some organizations, or events of them, are left.
	More bool
	// Passed says that an organization was passed by because somebody else is writing its
	// log: who does may have read what is staged before.
	Passed bool
	// Deliveries is how many were entered.
	Deliveries int
	// Unknown is a type that this release does not know, whose events wait for a newer one;
	// empty where there is none.
	Unknown Type
}

func (n *Numbered) add(more Numbered) {
	n.More, n.Passed, n.Deliveries = n.More || more.More, n.Passed || more.Passed, n.Deliveries+more.Deliveries
	n.Unknown = cmp.Or(n.Unknown, more.Unknown)
}

// Next is for the next organizations that have staged events. Organizations whose log
// somebody else is writing are passed by, and so are those that do not live on the shard.
func (n *Numbering) Next(ctx context.Context) (done Numbered, err error) {
	db, err := n.Tenants.Shard(ctx, n.Shard)
	if err != nil {
		return done, err
	}
	orgs, err := n.staged(ctx, db)
	if err != nil || len(orgs) == 0 {
		return done, err
	}
	done, err = numberOf(ctx, n.Tenants, n.Shard, orgs, skipLocked)
	if err != nil && !database.Unavailable(err) && len(orgs) > 1 {
		done, err = n.oneByOne(ctx, orgs)
	}
	done.More = done.More || !n.after.IsZero()
	return done, err
}

// Queue queues the first thing that Next reads, beside others of one trip. Staged says what
// came of it.
func (n *Numbering) Queue(b *pgx.Batch) {
	n.page = nil
	b.Queue(selectStagedOrgs, uuid.UUID(n.after), stagedPage).Query(func(rows pgx.Rows) error { // the zero id would be NULL
		found, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
		if err == nil {
			n.page = &found
		}
		return err
	})
}

// Staged says whether there may be something for Next, as far as Queue found. The next round
// begins with the first organization where it did not.
func (n *Numbering) Staged() bool {
	if n.page != nil && len(*n.page) == 0 && n.after.IsZero() {
		n.page = nil
		return false
	}
	return true
}

// selectStagedOrgs rides event_staged_order.
const selectStagedOrgs = `SELECT org_id FROM event_staged WHERE org_id > $1 AND place >= 0 ORDER BY org_id LIMIT $2`

// oneByOne is for organizations of which one may have an event that cannot be entered, which
// keeps no other's waiting.
func (n *Numbering) oneByOne(ctx context.Context, orgs []id.Org) (done Numbered, err error) {
	var failures []error
	for _, org := range orgs {
		one, err := numberOf(ctx, n.Tenants, n.Shard, []id.Org{org}, skipLocked)
		if err != nil {
			failures = append(failures, fmt.Errorf("organization %s: %w", org, err))
		}
		done.add(one)
	}
	return done, errors.Join(failures...)
}

// staged finds organizations that have staged events. It skips the rest of an organization's
// rows after a page of them.
func (n *Numbering) staged(ctx context.Context, db *database.DB) (orgs []id.Org, err error) {
	for len(orgs) < orgsAtOnce {
		found, err := n.readPage(ctx, db)
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

// readPage reads a page of the organizations of staged events, unless Queue did.
func (n *Numbering) readPage(ctx context.Context, db *database.DB) ([]id.Org, error) {
	if page := n.page; page != nil {
		n.page = nil
		return *page, nil
	}
	rows, err := db.Query(ctx, selectStagedOrgs, uuid.UUID(n.after), stagedPage) // the zero id would be NULL
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.Org])
}

// NumberOf gives staged events of some organizations their places, as Numbering does.
func NumberOf(ctx context.Context, t *tenant.Tenants, shard string, orgs []id.Org) (done Numbered, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil || len(orgs) == 0 {
		return done, err
	}
	// Rides event_staged_order.
	rows, err := db.Query(ctx, `
		SELECT o.id FROM unnest($1::UUID[]) AS o (id)
		WHERE EXISTS (SELECT 1 FROM event_staged s WHERE s.org_id = o.id AND s.place >= 0)`, orgs)
	if err != nil {
		return done, err
	}
	waiting, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
	if err != nil || len(waiting) == 0 {
		return done, err
	}
	return numberOf(ctx, t, shard, waiting, skipLocked)
}

// NumberNow gives the staged events of an organization their places, so that whoever reads the
// log or its deliveries next sees what was committed before. While the organization is being
// moved it does nothing.
func NumberNow(ctx context.Context, t *tenant.Tenants, org id.Org) error {
	return readNumbered(ctx, t, org, func(*tenant.Reads) {})
}

// readNumbered is tenant.Read of the log, again where something was staged for it.
func readNumbered(ctx context.Context, t *tenant.Tenants, org id.Org, queue func(*tenant.Reads)) error {
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
	done := Numbered{More: true}
	for done.More && err == nil {
		if done, err = numberOf(ctx, t, shard, []id.Org{org}, wait); done.Deliveries > 0 {
			t.Hints().Hint(shard, hint.Deliveries)
		}
	}
	if database.Unavailable(err) || ctx.Err() != nil {
		return err
	}
	// Where an event cannot be entered the log is read as far as it goes: who delivers says so.
	return t.Read(ctx, org, queue)
}

func numberOf(ctx context.Context, t *tenant.Tenants, shard string, orgs []id.Org, p policy) (done Numbered, err error) {
	entered := 0 // also by a run whose commit's outcome was not known
	err = t.InManyTx(ctx, shard, orgs, func(ctx context.Context, tx *tenant.ManyTx) error {
		done = Numbered{}
		open := slices.DeleteFunc(slices.Clone(orgs), func(org id.Org) bool { return !tx.Open(org) })
		held, err := takeTurns(ctx, tx, tx.Engine, open, p)
		if err != nil {
			return err
		}
		var write func(*pgx.Batch)
		if write, done = held.number(tx.Touch); write != nil {
			tx.AtCommit(write)
		}
		done.Passed = len(held) < len(open)
		entered += done.Deliveries
		return nil
	})
	if err == nil || errors.Is(err, database.ErrOutcomeUnknown) {
		done.Deliveries = entered
	}
	return done, err
}

// OldestStaged is when the event was committed that waits longest for its place in a log, among
// the first of a shard; zero where none waits. It rides event_staged_order.
func OldestStaged(ctx context.Context, db *database.DB) (at time.Time, err error) {
	var seconds *float64
	err = db.QueryRow(ctx, `
		SELECT min(s.committed_at)::FLOAT8
		FROM (SELECT org_id, committed_at FROM event_staged WHERE place >= 0 ORDER BY org_id, committed_at, place LIMIT $1) s
		JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture')`, numberAtOnce).Scan(&seconds)
	if err == nil && seconds != nil {
		at = time.UnixMicro(int64(*seconds * 1e6))
	}
	return at, err
}
