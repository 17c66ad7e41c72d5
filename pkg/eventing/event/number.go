package event

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

const (
	// numberAtOnce is how many events of an organization get their places in one transaction,
	// so that no organization waits for another's many.
	numberAtOnce = 500
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
		logs, err := lock(ctx, tx, tx.Engine, open, p)
		if err != nil || len(logs) == 0 {
			return err
		}
		more, err = logs.number(ctx, tx, tx.Touch)
		return err
	})
	return more, err
}

// settle gives all staged events of the transaction's organization their places and keeps the
// organization's turn in its log until the commit.
func settle(ctx context.Context, tx *tenant.Tx) (*log, error) {
	held, err := lock(ctx, tx, tx.Engine, []id.Org{tx.Org}, wait)
	touch := func(_ id.Org, table string, pk ...fmt.Stringer) { tx.Touch(table, pk...) }
	for more := true; more && err == nil; {
		more, err = held.number(ctx, tx, touch)
	}
	switch {
	case err != nil:
		return nil, err
	case len(held) == 0:
		return nil, fmt.Errorf("organization %s has no row in event_turn", tx.Org)
	}
	return held[0], nil
}

// LockLog takes the organization's turn in its log, and gives what happened before its place
// there. Whoever changes who subscribes calls it first: what was committed before goes to who
// subscribed then.
func LockLog(ctx context.Context, tx *tenant.Tx) error {
	_, err := settle(ctx, tx)
	return err
}

// log is the end of an organization's log, held by a transaction.
type log struct {
	org           id.Org
	last          id.Event
	staged        []stagedEvent
	subscriptions []Subscription
}

// logs are those that a transaction holds.
type logs []*log

// stagedEvent is a row of event_staged.
type stagedEvent struct {
	ID      uuid.UUID
	Type    Type
	At      time.Time
	Session id.Session
	Subject id.Subject
	Only    id.Webhook
	Data    json.RawMessage
}

// next makes the id of the next event: later than all before it, also when
// this pod's clock is behind the one that made the last.
func (l *log) next(at time.Time) id.Event {
	if after := l.last.Time().Add(time.Microsecond); at.Before(after) {
		at = after
	}
	l.last = id.EventAt(at)
	return l.last
}

// toucher notes that a row was written.
type toucher func(org id.Org, table string, pk ...fmt.Stringer)

// number moves staged events to the logs. more says that some may be left.
func (ls logs) number(ctx context.Context, tx database.Tx, touch toucher) (more bool, err error) {
	if err := ls.read(ctx, tx); err != nil {
		return false, err
	}
	var (
		rows entries
		gone []uuid.UUID
		orgs []id.Org
	)
	for _, l := range ls {
		more = more || len(l.staged) == numberAtOnce
		for _, s := range l.staged {
			kind, ok := Find(s.Type)
			if !ok {
				// A newer release's. Its processes number it, and what came after.
				more = false
				break
			}
			rows.add(l, kind, s, touch)
			gone, orgs = append(gone, s.ID), append(orgs, l.org)
			touch(l.org, "event_staged", s.ID)
		}
	}
	if len(gone) == 0 {
		return false, nil
	}
	var b pgx.Batch
	rows.queue(&b)
	b.Queue(`
		DELETE FROM event_staged AS s USING unnest($1::UUID[], $2::UUID[]) AS g (org_id, id)
		WHERE s.org_id = g.org_id AND s.id = g.id`, orgs, gone)
	return more, tx.SendBatch(ctx, &b).Close()
}

// read reads where the logs end, what is staged for them, and who subscribes. A webhook
// changes in a turn too (see LockLog), so what is read here holds at the commit.
func (ls logs) read(ctx context.Context, tx database.Tx) error {
	var b pgx.Batch
	byOrg := map[id.Org]*log{}
	orgs := make([]id.Org, len(ls))
	for i, l := range ls {
		orgs[i], byOrg[l.org] = l.org, l
		// Rides event_pkey.
		b.Queue(`SELECT id FROM event WHERE org_id = $1 ORDER BY id DESC LIMIT 1`, l.org).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := rows.Scan(&l.last); err != nil {
					return err
				}
			}
			return rows.Err()
		})
		b.Queue(selectStaged, l.org, numberAtOnce).Query(func(rows pgx.Rows) (err error) {
			l.staged, err = pgx.CollectRows(rows, pgx.RowToStructByPos[stagedEvent])
			return err
		})
		l.subscriptions = nil
	}
	// Rides webhook_pkey.
	b.Queue(`
		SELECT org_id, id, events, include_conversation, api_version FROM webhook
		WHERE org_id = ANY($1) AND active AND deleted_at IS NULL`, orgs).Query(func(rows pgx.Rows) error {
		var (
			org id.Org
			s   Subscription
		)
		_, err := pgx.ForEachRow(rows, []any{&org, &s.Webhook, &s.Events, &s.IncludeConversation, &s.APIVersion}, func() error {
			l := byOrg[org]
			l.subscriptions = append(l.subscriptions, s)
			s.Events = nil
			return nil
		})
		return err
	})
	return tx.SendBatch(ctx, &b).Close()
}

// selectStaged rides event_staged_order.
const selectStaged = `
	SELECT id, type, at, session_id, subject_id, webhook_id, data FROM event_staged
	WHERE org_id = $1 AND place >= 0 ORDER BY committed_at, place LIMIT $2`

// policy is what to do about a log that somebody else is writing.
type policy int

const (
	wait policy = iota
	skipLocked
)

// lock takes the organizations' turns in their logs, which other transactions wait for until
// the commit. On PostgreSQL these are advisory locks, in a statement of its own, so that the
// statements after it see what the last holders committed. On CockroachDB row locks only save
// retries: its transactions are serializable, and two that saw the same end of a log cannot
// both commit. The rows are ones that nobody else reads, or reads would wait for them.
func lock(ctx context.Context, tx database.Tx, engine database.Engine, orgs []id.Org, p policy) (logs, error) {
	// One order for all, so that no two wait for each other.
	orgs = slices.SortedFunc(slices.Values(orgs), func(a, b id.Org) int {
		return cmp.Or(cmp.Compare(lockKey(a), lockKey(b)), bytes.Compare(a[:], b[:]))
	})
	keys := make([]int32, len(orgs))
	for i, org := range orgs {
		keys[i] = lockKey(org)
	}
	rows, err := tx.Query(ctx, lockSQL[engine][p], orgs, keys)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*log, error) {
		l := &log{last: id.FirstEvent(time.Unix(0, 0))}
		return l, row.Scan(&l.org)
	})
}

// lockSQL rides event_turn_pkey on CockroachDB.
var lockSQL = map[database.Engine]map[policy]string{
	database.Postgres: {
		wait: `
			SELECT o FROM unnest($1::UUID[], $2::INT[]) AS t (o, k), LATERAL (SELECT pg_advisory_xact_lock(1, k)) AS taken`,
		skipLocked: `SELECT o FROM unnest($1::UUID[], $2::INT[]) AS t (o, k) WHERE pg_try_advisory_xact_lock(1, k)`,
	},
	database.Cockroach: {
		wait:       `SELECT org_id FROM event_turn WHERE org_id = ANY($1) AND $2::INT[] IS NOT NULL ORDER BY org_id FOR UPDATE`,
		skipLocked: `SELECT org_id FROM event_turn WHERE org_id = ANY($1) AND $2::INT[] IS NOT NULL ORDER BY org_id FOR UPDATE SKIP LOCKED`,
	},
}

// lockKey is the organization's number among the log's locks, which are of class 1: locks of
// two numbers never meet those of one, which are the fence's. Two organizations that share a
// number only wait for each other.
func lockKey(org id.Org) int32 {
	h := fnv.New32a()
	_, _ = h.Write(org[:]) // never fails
	return int32(binary.BigEndian.Uint32(h.Sum(nil)))
}
