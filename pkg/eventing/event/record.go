package event

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Recorded is an event that was recorded, and its deliveries.
type Recorded struct {
	ID         id.Event
	At         time.Time
	Deliveries []id.Delivery
}

// Record records events in the caller's transaction at once and answers them in the same order,
// before those that were emitted (Emit). It is for who needs to know what was recorded: it takes
// the organization's turn in the log and keeps it until the commit, so it comes last in the
// transaction. A field that the catalogue lacks is an error.
func Record(ctx context.Context, tx *tenant.Tx, drafts ...Draft) ([]Recorded, error) {
	l, err := takeTurn(ctx, tx)
	if err != nil {
		return nil, err
	}
	recorded := make([]Recorded, len(drafts))
	var rows entries
	touch := func(_ id.Org, table string, pk ...fmt.Stringer) { tx.Touch(table, pk...) }
	for i, d := range drafts {
		kind, fields, err := d.structure()
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		recorded[i] = rows.add(l, kind, stagedEvent{Type: d.Type, At: d.At, Session: d.Session, Subject: d.Subject, Only: d.Only, Data: data}, touch)
	}
	var b pgx.Batch
	rows.queue(&b)
	return recorded, tx.SendBatch(ctx, &b).Close()
}

// structure completes a draft's fields. The error is of a type or a field that the catalogue
// lacks.
func (d Draft) structure() (*Kind, map[string]any, error) {
	kind, ok := Find(d.Type)
	if !ok {
		return nil, nil, fmt.Errorf("there is no event type %q", d.Type)
	}
	fields, err := kind.Structure(d.Fields)
	return kind, fields, err
}

// entries are rows of event and their deliveries, as columns.
type entries struct {
	orgs       []id.Org
	ids        []id.Event
	types      []string
	ats        []time.Time
	sessions   []id.Session
	subjects   []id.Subject
	data       []json.RawMessage
	deliveries []due
}

// add enters an event at the end of a log, with a delivery to every webhook that subscribes.
func (e *entries) add(l *log, kind *Kind, s stagedEvent, touch toucher) Recorded {
	r := Recorded{ID: l.next(s.At)}
	r.At = r.ID.Time()
	e.orgs, e.ids, e.types, e.ats = append(e.orgs, l.org), append(e.ids, r.ID), append(e.types, string(s.Type)), append(e.ats, r.At)
	e.sessions, e.subjects, e.data = append(e.sessions, s.Session), append(e.subjects, s.Subject), append(e.data, s.Data)
	touch(l.org, "event", r.ID)
	for _, to := range l.subscriptions {
		if !to.wants(kind, s.Only) {
			continue
		}
		deliver := id.DeliveryAt(r.At)
		r.Deliveries = append(r.Deliveries, deliver)
		e.deliveries = append(e.deliveries, due{l.org, deliver, to.Webhook, r.ID, s.Type, to.APIVersion, r.At})
		touch(l.org, "delivery", deliver)
	}
	return r
}

// queue queues what writes the events and their deliveries.
func (e *entries) queue(b *pgx.Batch) {
	b.Queue(`
		INSERT INTO event (org_id, id, type, created_at, session_id, subject_id, data)
		SELECT e.org, e.id, e.type, e.at, e.session, e.subject, e.data
		FROM unnest($1::UUID[], $2::UUID[], $3::TEXT[], $4::TIMESTAMPTZ[], $5::UUID[], $6::UUID[], $7::JSONB[])
			AS e (org, id, type, at, session, subject, data)`,
		e.orgs, e.ids, e.types, e.ats, e.sessions, e.subjects, e.data)
	queueDeliveries(b, e.deliveries, id.Job{})
}

// due is a delivery to be entered.
type due struct {
	org     id.Org
	id      id.Delivery
	webhook id.Webhook
	event   id.Event
	kind    Type
	version contract.Version
	at      time.Time
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
		deliveries[i] = due{tx.Org, id.DeliveryAt(now), to.Webhook, m.Event, m.Type, to.APIVersion, now}
		tx.Touch("delivery", deliveries[i].id)
	}
	var b pgx.Batch
	queueDeliveries(&b, deliveries, job)
	return tx.SendBatch(ctx, &b).Close()
}

func queueDeliveries(b *pgx.Batch, deliveries []due, job id.Job) {
	if len(deliveries) == 0 {
		return
	}
	var (
		orgs     = make([]id.Org, len(deliveries))
		ids      = make([]id.Delivery, len(deliveries))
		webhooks = make([]id.Webhook, len(deliveries))
		events   = make([]id.Event, len(deliveries))
		types    = make([]string, len(deliveries))
		versions = make([]string, len(deliveries))
		ats      = make([]time.Time, len(deliveries))
	)
	for i, d := range deliveries {
		orgs[i], ids[i], webhooks[i], events[i], types[i], versions[i], ats[i] =
			d.org, d.id, d.webhook, d.event, string(d.kind), string(d.version), d.at
	}
	b.Queue(`
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, due_at, log, created_at, job_id)
		SELECT d.org, d.id, d.webhook, d.event, d.type, d.version, 'pending', 0, d.at, '[]', d.at, $8
		FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TEXT[], $7::TIMESTAMPTZ[])
			AS d (org, id, webhook, event, type, version, at)
		ON CONFLICT (org_id, event_id, webhook_id) DO NOTHING`,
		orgs, ids, webhooks, events, types, versions, ats, job)
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
