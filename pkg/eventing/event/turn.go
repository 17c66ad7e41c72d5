package event

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
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

// takeTurn gives all staged events of the transaction's organization their places and keeps the
// organization's turn in its log until the commit.
func takeTurn(ctx context.Context, tx *tenant.Tx) (*log, error) {
	touch := func(_ id.Org, table string, pk ...fmt.Stringer) { tx.Touch(table, pk...) }
	for {
		held, err := takeTurns(ctx, tx, tx.Engine, []id.Org{tx.Org}, wait)
		switch {
		case err != nil:
			return nil, err
		case len(held) == 0:
			return nil, fmt.Errorf("organization %s has no row in event_turn", tx.Org)
		}
		write, done := held.number(touch)
		if write == nil {
			return held[0], nil
		}
		var b pgx.Batch
		write(&b)
		if err := tx.SendBatch(ctx, &b).Close(); err != nil || !done.More {
			return held[0], err
		}
	}
}

// LockLog takes the organization's turn in its log, and gives what happened before its place
// there. Whoever changes who subscribes calls it first: what was committed before goes to who
// subscribed then.
func LockLog(ctx context.Context, tx *tenant.Tx) error {
	_, err := takeTurn(ctx, tx)
	return err
}

// log is the end of an organization's log, held by a transaction.
type log struct {
	org  id.Org
	last id.Event
	// staged are the first events that have no place yet, no more than share.
	staged        []stagedEvent
	share         int
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

// number moves staged events to the logs by what write queues, which is nil where there are
// none, and answers what comes of that.
func (ls logs) number(touch toucher) (write func(*pgx.Batch), done Numbered) {
	var (
		rows entries
		gone []uuid.UUID
	)
	for _, l := range ls {
		full := len(l.staged) == l.share
		for _, s := range l.staged {
			kind, ok := Find(s.Type)
			if !ok {
				// A newer release's. Its processes number it, and what came after.
				full, done.Unknown = false, s.Type
				break
			}
			rows.add(l, kind, s, touch)
			gone = append(gone, s.ID)
			touch(l.org, "event_staged", s.ID)
		}
		done.More = done.More || full
	}
	if len(gone) == 0 {
		return nil, done
	}
	done.Deliveries = len(rows.deliveries)
	return func(b *pgx.Batch) {
		rows.queue(b)
		b.Queue(`
			DELETE FROM event_staged AS s USING unnest($1::UUID[], $2::UUID[]) AS g (org_id, id)
			WHERE s.org_id = g.org_id AND s.id = g.id`, rows.orgs, gone)
	}, done
}

// selectStaged reads staged events in the order of their commits, as far as one transaction
// saw another's. PostgreSQL has one clock. CockroachDB's nodes have one each, so that their
// rows' own timestamps decide, and committed_at where a move has copied them together.
var selectStaged = map[database.Engine]string{
	database.Postgres:  stagedBy(`committed_at, place`),
	database.Cockroach: stagedBy(`crdb_internal_mvcc_timestamp, committed_at, place`),
}

func stagedBy(order string) string {
	return `
		SELECT id, type, at, session_id, subject_id, webhook_id, data FROM event_staged
		WHERE org_id = $1 AND place >= 0 ORDER BY ` + order + ` LIMIT $2`
}

// policy is what to do about a log that somebody else is writing.
type policy int

const (
	wait policy = iota
	skipLocked
)

// takeTurns takes the organizations' turns in their logs, which other transactions wait for until
// the commit, and reads where the logs end, what is staged for them and who subscribes: a
// webhook changes in a turn too (LockLog), so what is read here holds at the commit. On
// PostgreSQL turns are advisory locks, taken in a statement of their own, so that the
// statements after it see what the last holders committed. On CockroachDB row locks only save
// retries: its transactions are serializable, and two that saw the same end of a log cannot
// both commit. The rows are ones that nobody else reads, or reads would wait for them.
func takeTurns(ctx context.Context, tx database.Tx, engine database.Engine, orgs []id.Org, p policy) (logs, error) {
	if len(orgs) == 0 {
		return nil, nil
	}
	// One order for all, so that no two wait for each other.
	orgs = slices.SortedFunc(slices.Values(orgs), func(a, b id.Org) int {
		return cmp.Or(cmp.Compare(lockKey(a), lockKey(b)), bytes.Compare(a[:], b[:]))
	})
	var (
		all   = map[id.Org]*log{}
		held  logs
		share = max(numberAtOnce/len(orgs), leastShare)
		b     pgx.Batch
	)
	keys := make([]int32, len(orgs))
	for i, org := range orgs {
		keys[i], all[org] = lockKey(org), &log{org: org, last: id.FirstEvent(time.Unix(0, 0)), share: share}
	}
	b.Queue(lockSQL[engine][p], orgs, keys).Query(func(rows pgx.Rows) error {
		var (
			org   id.Org
			taken bool
		)
		_, err := pgx.ForEachRow(rows, []any{&org, &taken}, func() error {
			if taken {
				held = append(held, all[org])
			}
			return nil
		})
		return err
	})
	for _, org := range orgs {
		all[org].queueRead(&b, engine)
	}
	// Rides webhook_pkey.
	b.Queue(`
		SELECT org_id, id, events, include_conversation, api_version FROM webhook
		WHERE org_id = ANY($1) AND active AND deleted_at IS NULL`, orgs).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var (
				org id.Org
				s   Subscription
			)
			if err := rows.Scan(&org, &s.Webhook, &s.Events, &s.IncludeConversation, &s.APIVersion); err != nil {
				return err
			}
			all[org].subscriptions = append(all[org].subscriptions, s)
		}
		return rows.Err()
	})
	err := tx.SendBatch(ctx, &b).Close()
	return held, err
}

// queueRead queues what reads the end of a log, and what is staged for it. It rides event_pkey
// and event_staged_order.
func (l *log) queueRead(b *pgx.Batch, engine database.Engine) {
	b.Queue(`SELECT id FROM event WHERE org_id = $1 ORDER BY id DESC LIMIT 1`, l.org).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(&l.last); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	b.Queue(selectStaged[engine], l.org, l.share).Query(func(rows pgx.Rows) (err error) {
		l.staged, err = pgx.CollectRows(rows, pgx.RowToStructByPos[stagedEvent])
		return err
	})
}

// lockSQL rides event_turn_pkey on CockroachDB.
var lockSQL = map[database.Engine]map[policy]string{
	database.Postgres: {
		wait:       `SELECT o, pg_advisory_xact_lock(1, k) IS NOT NULL FROM unnest($1::UUID[], $2::INT[]) AS t (o, k)`,
		skipLocked: `SELECT o, pg_try_advisory_xact_lock(1, k) FROM unnest($1::UUID[], $2::INT[]) AS t (o, k)`,
	},
	database.Cockroach: {
		wait:       `SELECT org_id, $2::INT[] IS NOT NULL FROM event_turn WHERE org_id = ANY($1) ORDER BY org_id FOR UPDATE`,
		skipLocked: `SELECT org_id, $2::INT[] IS NOT NULL FROM event_turn WHERE org_id = ANY($1) ORDER BY org_id FOR UPDATE SKIP LOCKED`,
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
