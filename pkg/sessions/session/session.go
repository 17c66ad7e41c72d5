// Package session keeps live conversations: what each is, who runs it, what was
// said, what it cost and how it ended (spec, Sessions). Holding the
// conversation is package conversation's, the sockets are package live's.
//
// A session holds one of its organization's places from the moment it is minted.
// The process that runs it, its owner, writes with the session's epoch, which
// grows each time the session changes hands, so that a process that lost it
// writes nothing more. An owner that falls silent loses its sessions when its
// lease ends: their places come back then, and a client that returns in time goes
// on elsewhere.
package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// State is where a session stands.
type State string

// The states. A session is created when its token is minted and live once a
// client connected; it ends as ended, as failed where it was our fault, or as
// expired when no client came.
const (
	Created State = "created"
	Live    State = "live"
	Ended   State = "ended"
	Failed  State = "failed"
	Expired State = "expired"
)

// Over says whether nothing more will be said.
func (s State) Over() bool { return s == Ended || s == Failed || s == Expired }

// Reason is why a session ended.
type Reason string

// The reasons.
const (
	Left                 Reason = "left"
	EndedByAPI           Reason = "ended_by_api"
	EndedByUser          Reason = "ended_by_user"
	EndedByStaff         Reason = "ended_by_staff"
	Idle                 Reason = "idle"
	MaxDuration          Reason = "max_duration"
	MinutesExhausted     Reason = "minutes_exhausted"
	ConcurrencyReclaimed Reason = "concurrency_reclaimed"
	ConnectionLost       Reason = "connection_lost"
	Superseded           Reason = "superseded"
	ConsentWithdrawn     Reason = "consent_withdrawn"
	AccountPaused        Reason = "account_paused"
	Moderation           Reason = "moderation"
	UpstreamError        Reason = "upstream_error"
	EngineError          Reason = "engine_error"
)

// Interrupts says whether the session was ended by what its user did not choose.
func (r Reason) Interrupts() bool {
	switch r {
	case ConnectionLost, MinutesExhausted, ConcurrencyReclaimed, Superseded, AccountPaused, Moderation, EndedByAPI, EndedByStaff:
		return true
	default:
		return false
	}
}

// Orderly says whether the session was held to an end that its user chose, or that was agreed:
// nothing interrupted it, nobody went away from it or took their consent back.
func (r Reason) Orderly() bool { return slices.Contains(orderly, r) }

// OrderlyReasons are those of which Orderly is true, for statements.
func OrderlyReasons() []Reason { return slices.Clone(orderly) }

var orderly = []Reason{Left, EndedByUser, MaxDuration}

// The times a session goes by.
const (
	// ConnectWithin is how long a minted session keeps its place for a client
	// that has not come.
	ConnectWithin = time.Minute
	// ResumeWithin is how long a client that lost its connection may come back.
	ResumeWithin = 30 * time.Second
	// SandboxS is the longest a sandbox session lasts.
	SandboxS = 60
)

// The sources of sessions that rules are about. The others are agent and console.
const (
	FromAPI    = "api"
	FromEmbed  = "embed"
	FromPortal = "portal"
	FromWidget = "widget"
)

// AnswerTo begins the names of the answers to a subject's questions, among what a
// session collected. Such an answer is taken whole, whatever the name says.
const AnswerTo = "answer:"

// Brief is what one conversation goes by, beside its persona.
type Brief struct {
	Context   string             `json:"context,omitempty"`
	Variables map[string]string  `json:"variables,omitempty"`
	Greeting  *string            `json:"greeting,omitempty"`
	BaseIDs   []id.KnowledgeBase `json:"baseIds,omitempty"`
	Tags      []string           `json:"tags,omitempty"`
	// Instructions stand in the place of the persona's when they are not nil.
	Instructions *string `json:"instructions,omitempty"`
	// Goals are pursued before the persona's: the questions of a subject.
	Goals []persona.Goal `json:"goals,omitempty"`
	// Door is the one of the portal that the user came in by; empty for none.
	Door string `json:"door,omitempty"`
	// Came is where the user came from.
	Came inbox.Source `json:"came,omitzero"`
	// Scored says that a result waits for what is answered.
	Scored bool `json:"scored,omitempty"`
	// Closed says that nothing is answered from packs: questions are for the user to answer.
	Closed bool `json:"closed,omitempty"`
	// Ending is said once every question of the subject was put. A session that is Closed ends
	// with it.
	Ending string `json:"ending,omitempty"`
	// Deaf says that nobody is to be understood, Mute that the avatar says nothing of its own,
	// and Goal the key of the goal that was asked for last, as the session's owner wants it.
	Deaf bool   `json:"deaf,omitempty"`
	Mute bool   `json:"mute,omitempty"`
	Goal string `json:"goal,omitempty"`
	// Record says that the user is asked whether the session may be recorded; empty for no.
	Record Asking `json:"record,omitempty"`
	// RecordGuardian is the guardian's consent that the recording of a minor rests on as well.
	RecordGuardian id.Consent `json:"recordGuardian,omitzero"`
	// Duo is who speaks and how, where the persona is a duo's; nil else.
	Duo *persona.Cast `json:"duo,omitempty"`
	// Redact and RetainDays are the rules of persona and portal when the session was
	// minted.
	Redact     []string `json:"redact,omitempty"`
	RetainDays *int64   `json:"retainDays,omitempty"`
}

// Pursue are the goals of the conversation: its own, and the persona's whose keys
// are not among them.
func (b Brief) Pursue(personas []persona.Goal) []persona.Goal {
	goals := slices.Clone(b.Goals)
	for _, goal := range personas {
		if !slices.ContainsFunc(b.Goals, func(own persona.Goal) bool { return own.Key == goal.Key }) {
			goals = append(goals, goal)
		}
	}
	return goals
}

// Session is a conversation.
type Session struct {
	ID             id.Session    `db:"id"`
	State          State         `db:"state"`
	Kind           string        `db:"kind"`
	Source         string        `db:"source"`
	Persona        id.Persona    `db:"persona_id"`
	PersonaVersion int64         `db:"persona_version"`
	Avatar         id.Avatar     `db:"avatar_id"`
	Voice          id.Voice      `db:"voice_id"`
	Duo            id.Duo        `db:"duo_id"`
	Portal         id.Portal     `db:"portal_id"`
	Subject        id.Subject    `db:"subject_id"`
	Widget         id.Widget     `db:"widget_id"`
	Person         id.Person     `db:"person_id"`
	Membership     id.Membership `db:"membership_id"`
	Escalation     id.Escalation `db:"escalation_id"`
	CaseLink       id.CaseLink   `db:"case_link_id"`
	// Assignment is the work that it is part of.
	Assignment id.Assignment `db:"assignment_id"`
	// Media is the connection to the server in whose room it takes place.
	Media          id.Connection     `db:"media_id"`
	ExternalID     *string           `db:"external_id"`
	Metadata       map[string]string `db:"metadata"`
	Language       string            `db:"language"`
	Engine         string            `db:"engine"`
	Transport      string            `db:"transport"`
	Channel        string            `db:"channel"`
	Sandbox        bool              `db:"sandbox"`
	Brief          Brief             `db:"brief"`
	AllowedOrigins []string          `db:"allowed_origins"`
	MaxDurationS   int64             `db:"max_duration_s"`
	IdleTimeoutS   int64             `db:"idle_timeout_s"`
	CreatedAt      time.Time         `db:"created_at"`
	ConnectBy      time.Time         `db:"connect_by"`
	StartedAt      *time.Time        `db:"started_at"`
	LastActivityAt *time.Time        `db:"last_activity_at"`
	EndedAt        *time.Time        `db:"ended_at"`
	EndReason      *Reason           `db:"end_reason"`
	DurationS      *int64            `db:"duration_s"`
	BilledS        *int64            `db:"billed_s"`
	TurnCount      int64             `db:"turn_count"`
	LanguagesHeard []string          `db:"languages_heard"`
	Outcome        *string           `db:"outcome"`
	Collected      map[string]string `db:"collected"`
	Summary        *string           `db:"summary"`
	RatingScore    *int64            `db:"rating_score"`
	RatingScale    *int64            `db:"rating_scale"`
	RatingComment  *string           `db:"rating_comment"`
	Withheld       *string           `db:"withheld"`
	OnHold         bool              `db:"on_hold"`
	Flagged        bool              `db:"flagged"`
	WordsUntil     *time.Time        `db:"words_until"`
	Slot           bool              `db:"slot"`
	Owner          uuid.NullUUID     `db:"owner"`
	Epoch          int64             `db:"epoch"`
	OrphanedAt     *time.Time        `db:"orphaned_at"`
	Reconnects     int64             `db:"reconnects"`
	// Visitor marks the address block that an anonymous visitor came from; empty for
	// everybody else.
	Visitor string `db:"visitor"`
	// Clocks are of what has a limit; nil where nothing has.
	Clocks *Clocks `db:"clocks"`
	// Recording is what a session that is minted wants; Brief.Record is what came of it.
	Recording Wish `db:"-"`
}

const columns = `id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, duo_id, portal_id, subject_id, widget_id,
	person_id, membership_id, escalation_id, case_link_id, assignment_id, media_id, external_id, metadata,
	language, engine, transport, channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by,
	started_at, last_activity_at, ended_at, end_reason, duration_s, billed_s, turn_count, languages_heard, outcome, collected, summary,
	rating_score, rating_scale, rating_comment, withheld, on_hold, flagged, words_until, slot, owner, epoch, orphaned_at, reconnects, visitor, clocks`

func scan(row pgx.CollectableRow) (Session, error) { return pgx.RowToStructByName[Session](row) }

// Noun is what errors call a session.
const Noun errdefs.Noun = "session"

// Errors of this package, besides those of package errdefs.
var (
	// ErrOver says that the session ended before.
	ErrOver = errors.New("the session has ended")
	// ErrLost says that another process runs the session now, or none.
	ErrLost = errors.New("the session is not this process's any more")
)

// Get finds a session. It rides session_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session) (Session, error) {
	var found []Session
	err := t.Read(ctx, org, func(r *tenant.Reads) { queueGet(r, org, s, &found) })
	return one(s, found, err)
}

func queueGet(r *tenant.Reads, org id.Org, s id.Session, into *[]Session) {
	r.Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	}, `SELECT `+columns+` FROM session WHERE org_id = $1 AND id = $2`, org, s)
}

func one(s id.Session, found []Session, err error) (Session, error) {
	switch {
	case err != nil:
		return Session{}, err
	case len(found) == 0:
		return Session{}, Noun.NotFound(s)
	}
	return found[0], nil
}

// Lock reads a session and keeps it from changing until the commit.
func Lock(ctx context.Context, tx *tenant.Tx, s id.Session) (Session, error) {
	var b pgx.Batch
	return lockIn(ctx, tx, s, &b)
}

// lockIn is Lock in one trip with what is queued already.
func lockIn(ctx context.Context, tx *tenant.Tx, s id.Session, b *pgx.Batch) (Session, error) {
	var found []Session
	b.Queue(`SELECT `+columns+` FROM session WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, s).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scan)
		return err
	})
	err := tx.SendBatch(ctx, b).Close()
	return one(s, found, err)
}
