package event

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

// Draft is something that happened.
type Draft struct {
	Type Type
	// At is when, in microseconds.
	At time.Time
	// Fields are data's fields of the class structure, by name; ids in their
	// prefixed form. A field that is left out is null.
	Fields map[string]any
	// Session and Subject are what the event is about, to be found by.
	Session id.Session
	Subject id.Subject
	// Only is the one webhook that receives the event, whatever its list says;
	// zero for all that subscribe.
	Only id.Webhook
}

// Recorded is an event that was recorded, and its deliveries.
type Recorded struct {
	ID         id.Event
	At         time.Time
	Deliveries []id.Delivery
}

// Emit records events in the caller's transaction at once, after those that were told
// before (Tell), and answers them in the same order. It is for who needs to know what was
// recorded. It takes the organization's turn in the log and keeps it until the commit, so
// it comes last in the transaction. A field that the catalogue lacks is an error.
func Emit(ctx context.Context, tx *tenant.Tx, drafts ...Draft) ([]Recorded, error) {
	if err := tx.Outbox(newOutbox).Flush(ctx, tx); err != nil {
		return nil, err
	}
	return record(ctx, tx, drafts)
}

// record writes events, with a delivery to every webhook that subscribes.
func record(ctx context.Context, tx *tenant.Tx, drafts []Draft) ([]Recorded, error) {
	data := make([]map[string]any, len(drafts))
	kinds := make([]*Kind, len(drafts))
	for i, d := range drafts {
		kind, ok := Find(d.Type)
		if !ok {
			return nil, fmt.Errorf("there is no event type %q", d.Type)
		}
		fields, err := kind.Structure(d.Fields)
		if err != nil {
			return nil, err
		}
		kinds[i], data[i] = kind, fields
	}
	turn, err := takeTurn(ctx, tx)
	if err != nil {
		return nil, err
	}
	recorded := make([]Recorded, len(drafts))
	var deliveries []due
	for i, d := range drafts {
		r := &recorded[i]
		r.ID = turn.next(d.At)
		r.At = r.ID.Time()
		for _, s := range turn.subscriptions {
			if !s.wants(kinds[i], d.Only) {
				continue
			}
			deliver := id.DeliveryAt(r.At)
			r.Deliveries = append(r.Deliveries, deliver)
			deliveries = append(deliveries, due{deliver, s.Webhook, r.ID, d.Type, s.APIVersion, r.At})
		}
	}
	return recorded, insert(ctx, tx, drafts, data, recorded, deliveries)
}

// turn is the organization's turn in its log.
type turn struct {
	last          id.Event
	subscriptions []Subscription
}

// next makes the id of the next event: later than all before it, also when
// this pod's clock is behind the one that made the last.
func (t *turn) next(at time.Time) id.Event {
	if after := t.last.Time().Add(time.Microsecond); at.Before(after) {
		at = after
	}
	t.last = id.EventAt(at)
	return t.last
}

// takeTurn waits for the organization's turn and reads where its log ends and
// who subscribes. A webhook changes in a turn too (see LockLog), so what is
// read here holds at the commit.
func takeTurn(ctx context.Context, tx *tenant.Tx) (*turn, error) {
	t := &turn{last: id.FirstEvent(time.Unix(0, 0))}
	var b pgx.Batch
	queueLock(tx, &b)
	// Rides event_pkey.
	b.Queue(`SELECT id FROM event WHERE org_id = $1 ORDER BY id DESC LIMIT 1`, tx.Org).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(&t.last); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	// Rides webhook_pkey.
	b.Queue(`
		SELECT id, events, include_conversation, api_version FROM webhook
		WHERE org_id = $1 AND active AND deleted_at IS NULL`, tx.Org).Query(func(rows pgx.Rows) (err error) {
		t.subscriptions, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Subscription])
		return err
	})
	return t, tx.SendBatch(ctx, &b).Close()
}

// LockLog takes the organization's turn in the log. Whoever changes who
// subscribes takes it first, so that no event is recorded halfway.
func LockLog(ctx context.Context, tx *tenant.Tx) error {
	var b pgx.Batch
	queueLock(tx, &b)
	return tx.SendBatch(ctx, &b).Close()
}

// queueLock queues what makes transactions of an organization's log wait for
// each other. On PostgreSQL it is an advisory lock of its own, in a statement
// of its own, so that the statements after it see what the last holder
// committed. On CockroachDB a row lock only saves retries: its transactions are
// serializable, and two that saw the same end of the log cannot both commit. The
// row is one that nobody else reads, or reads would wait for it. Rides event_turn_pkey.
func queueLock(tx *tenant.Tx, b *pgx.Batch) {
	if tx.Engine == database.Postgres {
		b.Queue(`SELECT pg_advisory_xact_lock($1, $2)`, logLocks, lockKey(tx.Org))
		return
	}
	b.Queue(`SELECT 1 FROM event_turn WHERE org_id = $1 FOR UPDATE`, tx.Org)
}

// logLocks is the class of the advisory locks on organizations' logs. Locks of
// two numbers never meet those of one, which are the fence's.
const logLocks int32 = 1

// lockKey is the organization's number among the log's locks. Two that share
// one only wait for each other.
func lockKey(org id.Org) int32 {
	h := fnv.New32a()
	_, _ = h.Write(org[:]) // never fails
	return int32(binary.BigEndian.Uint32(h.Sum(nil)))
}

// due is a delivery to be entered.
type due struct {
	id      id.Delivery
	webhook id.Webhook
	event   id.Event
	kind    Type
	version contract.Version
	at      time.Time
}

// insert writes the events and their deliveries in one trip.
func insert(ctx context.Context, tx *tenant.Tx, drafts []Draft, data []map[string]any, recorded []Recorded, deliveries []due) error {
	var (
		ids      = make([]id.Event, len(drafts))
		types    = make([]string, len(drafts))
		ats      = make([]time.Time, len(drafts))
		sessions = make([]id.Session, len(drafts))
		subjects = make([]id.Subject, len(drafts))
	)
	for i, d := range drafts {
		ids[i], types[i], ats[i], sessions[i], subjects[i] = recorded[i].ID, string(d.Type), recorded[i].At, d.Session, d.Subject
		tx.Touch("event", ids[i])
	}
	var b pgx.Batch
	b.Queue(`
		INSERT INTO event (org_id, id, type, created_at, session_id, subject_id, data)
		SELECT $1, e.id, e.type, e.at, e.session, e.subject, e.data
		FROM unnest($2::UUID[], $3::TEXT[], $4::TIMESTAMPTZ[], $5::UUID[], $6::UUID[], $7::JSONB[])
			AS e (id, type, at, session, subject, data)`,
		tx.Org, ids, types, ats, sessions, subjects, data)
	queueDeliveries(tx, &b, deliveries, id.Job{})
	return tx.SendBatch(ctx, &b).Close()
}

// Missed is an event that a webhook subscribes to and never had a delivery of.
type Missed struct {
	Event id.Event
	Type  Type
}

// Enter enters deliveries of events that a webhook missed, on behalf of a job.
func Enter(ctx context.Context, tx *tenant.Tx, to Subscription, job id.Job, missed []Missed, now time.Time) error {
	if len(missed) == 0 {
		return nil
	}
	deliveries := make([]due, len(missed))
	for i, m := range missed {
		deliveries[i] = due{id.DeliveryAt(now), to.Webhook, m.Event, m.Type, to.APIVersion, now}
	}
	var b pgx.Batch
	queueDeliveries(tx, &b, deliveries, job)
	return tx.SendBatch(ctx, &b).Close()
}

func queueDeliveries(tx *tenant.Tx, b *pgx.Batch, deliveries []due, job id.Job) {
	if len(deliveries) == 0 {
		return
	}
	var (
		ids      = make([]id.Delivery, len(deliveries))
		webhooks = make([]id.Webhook, len(deliveries))
		events   = make([]id.Event, len(deliveries))
		types    = make([]string, len(deliveries))
		versions = make([]string, len(deliveries))
		ats      = make([]time.Time, len(deliveries))
	)
	for i, d := range deliveries {
		ids[i], webhooks[i], events[i], types[i], versions[i], ats[i] = d.id, d.webhook, d.event, string(d.kind), string(d.version), d.at
		tx.Touch("delivery", d.id)
	}
	b.Queue(`
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, due_at, log, created_at, job_id)
		SELECT $1, d.id, d.webhook, d.event, d.type, d.version, 'pending', 0, d.at, '[]', d.at, $8
		FROM unnest($2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TEXT[], $7::TIMESTAMPTZ[])
			AS d (id, webhook, event, type, version, at)
		ON CONFLICT (org_id, event_id, webhook_id) DO NOTHING`,
		tx.Org, ids, webhooks, events, types, versions, ats, job)
}

// Any stands for every type that is not explicitOnly (spec, Webhook).
const Any = "*"

// Subscription is what a webhook asked for.
type Subscription struct {
	Webhook             id.Webhook
	Events              []string
	IncludeConversation bool
	APIVersion          contract.Version
}

// Wants says whether the webhook receives events of a kind.
func (s Subscription) Wants(k *Kind) bool {
	if k.RequiresConversation && !s.IncludeConversation {
		return false
	}
	return slices.Contains(s.Events, string(k.Type)) || !k.ExplicitOnly && slices.Contains(s.Events, Any)
}

func (s Subscription) wants(k *Kind, only id.Webhook) bool {
	if only.IsZero() {
		return s.Wants(k)
	}
	return s.Webhook == only
}
