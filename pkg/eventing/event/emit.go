package event

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
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

// Emit stages events with the caller's commit, in the order of the calls. They get their
// place in the log and their deliveries once that is done (Number), so that transactions of an
// organization commit side by side. It may be called at any point of a rule that changes
// something. A field that the catalogue lacks is the transaction's error.
func Emit(tx *tenant.Tx, drafts ...Draft) {
	if len(drafts) > 0 {
		tx.AtCommit(staging{drafts, len(Emitted(tx))})
	}
}

// Emitted are the events that were emitted in a transaction, in order.
func Emitted(tx *tenant.Tx) (drafts []Draft) {
	for _, w := range tx.Closing() {
		if s, ok := w.(staging); ok {
			drafts = append(drafts, s.drafts...)
		}
	}
	return drafts
}

// staging is what one call of Emit has written.
type staging struct {
	drafts []Draft
	// first is how many events of the transaction come before.
	first int
}

// Queue is part of tenant.Write.
func (s staging) Queue(tx *tenant.Tx, b *pgx.Batch) error {
	if len(s.drafts) == 1 {
		return s.queueOne(tx, b)
	}
	var (
		n        = len(s.drafts)
		ids      = make([]uuid.UUID, n)
		types    = make([]string, n)
		ats      = make([]time.Time, n)
		sessions = make([]id.Session, n)
		subjects = make([]id.Subject, n)
		only     = make([]id.Webhook, n)
		data     = make([]map[string]any, n)
		places   = make([]int64, n)
	)
	for i, d := range s.drafts {
		_, fields, err := d.structure()
		if err != nil {
			return err
		}
		ids[i], types[i], ats[i], places[i] = uuid.New(), string(d.Type), d.At, int64(s.first+i)
		sessions[i], subjects[i], only[i], data[i] = d.Session, d.Subject, d.Only, fields
		tx.Touch("event_staged", ids[i])
	}
	b.Queue(stageSQL, tx.Org, ids, places, types, ats, sessions, subjects, only, data)
	return nil
}

// queueOne is Queue of one event, as most changes tell of: it costs a third of what a list of
// one does.
func (s staging) queueOne(tx *tenant.Tx, b *pgx.Batch) error {
	d := s.drafts[0]
	_, fields, err := d.structure()
	if err != nil {
		return err
	}
	which := uuid.New()
	tx.Touch("event_staged", which)
	b.Queue(`
		INSERT INTO event_staged (org_id, id, committed_at, place, type, at, session_id, subject_id, webhook_id, data)
		VALUES ($1, $2, extract(epoch FROM clock_timestamp()), $3, $4, $5, $6, $7, $8, $9)`,
		tx.Org, which, int64(s.first), string(d.Type), d.At, d.Session, d.Subject, d.Only, fields)
	return nil
}

// stageSQL stages events. committed_at is the server's clock in the trip of the commit.
const stageSQL = `
	INSERT INTO event_staged (org_id, id, committed_at, place, type, at, session_id, subject_id, webhook_id, data)
	SELECT $1, e.id, extract(epoch FROM clock_timestamp()), e.place, e.type, e.at, e.session, e.subject, e.webhook, e.data
	FROM unnest($2::UUID[], $3::BIGINT[], $4::TEXT[], $5::TIMESTAMPTZ[], $6::UUID[], $7::UUID[], $8::UUID[], $9::JSONB[])
		AS e (id, place, type, at, session, subject, webhook, data)`
