package session

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Counter is the organization's counter of places that are taken.
const Counter = "activeSessions"

// Refusals to start a session.
var (
	// ErrNoMinutes: none are left, or the month's cap is reached.
	ErrNoMinutes = errors.New("no minutes left")
	// ErrNoPlace: as many sessions are live as may be.
	ErrNoPlace = errors.New("too many live sessions")
	// ErrDailyLimit: the persona had as many sessions today as it may.
	ErrDailyLimit = errors.New("the persona's sessions of today are used up")
	// ErrPersonsDay: the person had as many sessions on the portal today as one may.
	ErrPersonsDay = errors.New("the person's sessions of today are used up")
)

// MeansOf is what the organization's terms say of its minutes.
func MeansOf(t plan.Terms) usage.Means {
	m := usage.Means{Unlimited: t.Plan.UnlimitedMinutes}
	if minutes, capped := t.Limit(plan.MonthlyCapMinutes); capped {
		seconds := minutes * 60
		m.CapS = &seconds
	}
	return m
}

// Daily is how many sessions there may be in a day (UTC); nil is no bound.
type Daily struct {
	// OfPersona counts those with the persona, and OfPerson those of the person on
	// the portal.
	OfPersona, OfPerson *int64
}

// Minted is a session that was just entered.
type Minted struct {
	Session Session
	// Token lets its client in.
	Token Token
	// Active is how many places are taken, with its own, of Places; nil for as
	// many as one likes.
	Active int64
	Places *int64
}

// Mint enters a session and takes a place for it. A refusal undoes the
// transaction. What must have ended for it to begin has ended before, in the same
// transaction.
//
// From the place on it is one trip, since from the moment that a place is taken until the
// commit everybody else of the organization waits for one.
func Mint(ctx context.Context, tx *tenant.Tx, s Session, terms plan.Terms, daily Daily) (Minted, error) {
	s.State, s.Slot, s.ConnectBy = Created, true, s.CreatedAt.Add(ConnectWithin)
	if s.Visitor != "" {
		s.ConnectBy = s.CreatedAt.Add(VisitorConnectWithin)
	}
	s.LanguagesHeard = []string{}
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	if s.AllowedOrigins == nil {
		s.AllowedOrigins = []string{}
	}
	set, err := setting.At(ctx, tx, s.Place())
	if err != nil {
		return Minted{}, err
	}
	terms = set.Bound(terms)
	s = s.under(set)
	if s.Brief.Record, err = s.asks(set); err != nil {
		return Minted{}, err
	}
	if s.Brief.Record != "" && s.minor(set) {
		s.Brief.RecordGuardian = s.Recording.Guardian
	}
	m := Minted{Session: s, Token: newToken(tx.Org), Places: terms.Limits[plan.MaxConcurrentSessions]}
	var (
		b                   pgx.Batch
		paid                = true
		ofPersona, ofPerson int64
		others              visitors
	)
	if !s.Sandbox {
		usage.QueueAvailable(tx, &b, MeansOf(terms), s.CreatedAt, &paid)
	}
	queuePlace(tx, &b, terms, &m.Active)
	if s.Visitor != "" {
		queueVisitors(tx, &b, s.Visitor, &others)
	}
	if daily.OfPersona != nil {
		queueOfPersona(tx, &b, s, &ofPersona)
	}
	if daily.OfPerson != nil && !s.Person.IsZero() {
		queueOfPerson(tx, &b, s, &ofPerson)
	}
	queueInsert(tx, &b, s)
	queueToken(tx, &b, m.Token, s.ID, clientToken, id.Staff{}, s.ConnectBy)
	switch err := tx.SendBatch(ctx, &b).Close(); {
	case err != nil:
		return Minted{}, err
	case !paid:
		return Minted{}, ErrNoMinutes
	case m.Active == 0, others.full(terms):
		return Minted{}, ErrNoPlace
	case daily.OfPersona != nil && ofPersona >= *daily.OfPersona:
		return Minted{}, ErrDailyLimit
	case daily.OfPerson != nil && ofPerson >= *daily.OfPerson:
		return Minted{}, ErrPersonsDay
	}
	return m, nil
}

func queueInsert(tx *tenant.Tx, b *pgx.Batch, s Session) {
	tx.Touch("session", s.ID)
	b.Queue(`
		INSERT INTO session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, duo_id, external_id, metadata,
			language, engine, transport, channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by,
			subject_id, widget_id, withheld, collected, portal_id, person_id, membership_id, escalation_id, case_link_id, media_id, room_due_at, turn_count, languages_heard, on_hold, slot, flagged, epoch, reconnects, visitor, assignment_id, clocks)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
			$24, $25, $26, $27, $28, $29, $30, $31, $32, $33, CASE WHEN $33::UUID IS NOT NULL THEN $22::TIMESTAMPTZ END, 0, '{}', false, true, false, 0, 0, $34, $35, $36)`,
		tx.Org, s.ID, s.State, s.Kind, s.Source, s.Persona, s.PersonaVersion, s.Avatar, s.Voice, s.Duo, s.ExternalID, s.Metadata,
		s.Language, s.Engine, s.Transport, s.Channel, s.Sandbox, s.Brief, s.AllowedOrigins, s.MaxDurationS, s.IdleTimeoutS, s.CreatedAt, s.ConnectBy,
		s.Subject, s.Widget, s.Withheld, s.Collected, s.Portal, s.Person, s.Membership, s.Escalation, s.CaseLink, s.Media, s.Visitor, s.Assignment, s.Clocks)
}

// queueOfPersona counts the persona's sessions of the day. Whoever took a place has
// the organization's counter until the commit, so nobody else counts meanwhile.
// It rides session_by_persona: the ids of a day lie together, since they begin
// with their moment.
func queueOfPersona(tx *tenant.Tx, b *pgx.Batch, s Session, today *int64) {
	day := s.CreatedAt.UTC().Truncate(24 * time.Hour)
	b.Queue(`SELECT count(*) FROM session WHERE org_id = $1 AND persona_id = $2 AND id >= $3 AND state <> 'expired'`,
		tx.Org, s.Persona, id.FirstSession(day)).QueryRow(func(row pgx.Row) error { return row.Scan(today) })
}

// queueOfPerson counts the person's sessions of the day on the portal, as
// queueOfPersona does. It rides session_by_person.
func queueOfPerson(tx *tenant.Tx, b *pgx.Batch, s Session, today *int64) {
	day := s.CreatedAt.UTC().Truncate(24 * time.Hour)
	b.Queue(`
		SELECT count(*) FROM session WHERE org_id = $1 AND person_id = $2 AND id >= $3 AND portal_id = $4 AND state <> 'expired'`,
		tx.Org, s.Person, id.FirstSession(day), s.Portal).QueryRow(func(row pgx.Row) error { return row.Scan(today) })
}

// queuePlace takes a place; active is zero where there is none.
func queuePlace(tx *tenant.Tx, b *pgx.Batch, terms plan.Terms, active *int64) {
	limit, limited := terms.Limit(plan.MaxConcurrentSessions)
	tx.QueueIncrement(b, Counter, limit, limited, active)
}
