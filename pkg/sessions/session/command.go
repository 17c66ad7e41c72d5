package session

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// CommandKind is what a session's owner is asked to do.
type CommandKind string

// The commands.
const (
	// SayIt says exact words; it is carried out once its turn is kept.
	SayIt CommandKind = "say"
	// RespondTo answers words as if the user had said them.
	RespondTo CommandKind = "respond"
	SteerIt   CommandKind = "steer"
	// Finish says a last message and ends the session.
	Finish CommandKind = "finish"
	// Over tells that the session was ended.
	Over CommandKind = "over"
)

// Command is something that the owner of a session is asked to do. It waits on
// the shard until it was done: a process that dies before leaves it to the next.
type Command struct {
	// ID is also the id of the turn that comes of it.
	ID   id.Turn     `json:"-"`
	Kind CommandKind `json:"-"`

	Text          string            `json:"text,omitempty"`
	Language      string            `json:"language,omitempty"`
	Interrupt     bool              `json:"interrupt,omitempty"`
	Interruptible bool              `json:"interruptible,omitempty"`
	Record        bool              `json:"record,omitempty"`
	Reason        Reason            `json:"reason,omitempty"`
	Context       *string           `json:"context,omitempty"`
	Instructions  *string           `json:"instructions,omitempty"`
	Voice         *id.Voice         `json:"voiceId,omitempty"`
	Listening     *bool             `json:"listening,omitempty"`
	Mute          *bool             `json:"mute,omitempty"`
	Goal          *string           `json:"goal,omitempty"`
	Variables     map[string]string `json:"variables,omitempty"`
	MaxDurationS  *int64            `json:"maxDurationS,omitempty"`
}

// Order asks the owner of a live session to do something. The session is locked
// (see Lock), so that neither its owner nor its end passes the command by.
func Order(ctx context.Context, tx *tenant.Tx, s Session, c Command) error {
	return insertCommand(ctx, tx, s.ID, s.Owner, c)
}

func insertCommand(ctx context.Context, tx *tenant.Tx, s id.Session, owner uuid.NullUUID, c Command) error {
	tx.Touch("session_command", s, c.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO session_command (org_id, session_id, id, owner, kind, body) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org, s, c.ID, owner, c.Kind, c)
	return err
}

// Ordered is a command with whose it is.
type Ordered struct {
	Org     id.Org
	Session id.Session
	Command Command
}

// Orders lists what a process is asked to do on a shard, oldest first. It rides
// session_command_by_owner.
func Orders(ctx context.Context, t *tenant.Tenants, shard string, owner uuid.UUID) ([]Ordered, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT c.org_id, c.session_id, c.id, c.kind, c.body FROM session_command c
		JOIN org_fence f ON f.org_id = c.org_id AND f.state <> 'moved'
		WHERE c.owner = $1 ORDER BY c.id LIMIT $2`, owner, SweepBatch)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Ordered, err error) {
		var (
			turn id.Turn
			kind CommandKind
		)
		err = row.Scan(&o.Org, &o.Session, &turn, &kind, &o.Command)
		o.Command.ID, o.Command.Kind = turn, kind
		return o, err
	})
}

// CarriedOut notes that a command was done.
func CarriedOut(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session, c id.Turn) error {
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error { return carriedOut(ctx, tx, s, c) }, tenant.Idempotent(true))
}

func carriedOut(ctx context.Context, tx *tenant.Tx, s id.Session, c id.Turn) error {
	return changeCommands(ctx, tx, s, `
		DELETE FROM session_command WHERE org_id = $1 AND session_id = $2 AND id = $3 RETURNING id`, tx.Org, s, c)
}

// queueCameOf notes that words were said or answered as a command asked, if
// their turn is kept by then. What else a command asks for is not done with it.
func queueCameOf(tx *tenant.Tx, b *pgx.Batch, s id.Session, t *Turn) {
	b.Queue(`
		DELETE FROM session_command WHERE org_id = $1 AND session_id = $2 AND id = $3 AND kind IN ('say', 'respond')
			AND EXISTS (SELECT 1 FROM turn WHERE org_id = $1 AND session_id = $2 AND ordinal = $4 AND id = $3)
		RETURNING id`, tx.Org, s, t.ID, t.Index).Query(func(rows pgx.Rows) error { return touchCommands(tx, s, rows) })
}

// changeCommands runs a statement that returns the ids of the commands of a
// session that it changed.
func changeCommands(ctx context.Context, tx *tenant.Tx, s id.Session, sql string, args ...any) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	return touchCommands(tx, s, rows)
}

// touchCommands notes the ids of commands that a statement changed.
func touchCommands(tx *tenant.Tx, s id.Session, rows pgx.Rows) error {
	changed, err := pgx.CollectRows(rows, pgx.RowTo[id.Turn])
	for _, c := range changed {
		tx.Touch("session_command", s, c)
	}
	return err
}

// Steered is what a change of a live session keeps.
type Steered struct {
	Metadata     map[string]string
	MaxDurationS *int64
	Language     *string
	// Voice comes with the Engine that speaks it.
	Voice  *id.Voice
	Engine *string
	// Context is added to what is known; Instructions take the persona's place;
	// Variables are added. The session's next process goes by them too, and by Listening,
	// Mute and Goal.
	Context, Instructions *string
	Variables             map[string]string
	Listening, Mute       *bool
	Goal                  *string
}

// Steer changes what is kept of a live session, which is locked.
func Steer(ctx context.Context, tx *tenant.Tx, s Session, c Steered) (Session, error) {
	if c.Metadata != nil {
		s.Metadata = c.Metadata
	}
	if c.MaxDurationS != nil {
		s.MaxDurationS = *c.MaxDurationS
	}
	if c.Language != nil {
		s.Language = *c.Language
	}
	if c.Voice != nil {
		s.Voice = *c.Voice
	}
	if c.Engine != nil {
		s.Engine = *c.Engine
	}
	s.Brief = s.Brief.steered(c)
	tx.Touch("session", s.ID)
	_, err := tx.Exec(ctx, `
		UPDATE session SET metadata = $3, max_duration_s = $4, language = $5, voice_id = $6, engine = $7, brief = $8 WHERE org_id = $1 AND id = $2`,
		tx.Org, s.ID, s.Metadata, s.MaxDurationS, s.Language, s.Voice, s.Engine, s.Brief)
	return s, err
}

// steered is the brief after a change.
func (b Brief) steered(c Steered) Brief {
	if c.Context != nil {
		b.Context = strings.TrimSpace(b.Context + "\n" + *c.Context)
		if over := len(b.Context) - maxContext; over > 0 {
			b.Context = strings.ToValidUTF8(b.Context[over:], "")
		}
	}
	if c.Instructions != nil {
		b.Instructions = c.Instructions
	}
	if len(c.Variables) > 0 {
		b.Variables = maps.Clone(b.Variables)
		if b.Variables == nil {
			b.Variables = map[string]string{}
		}
		maps.Copy(b.Variables, c.Variables)
	}
	if c.Listening != nil {
		b.Deaf = !*c.Listening
	}
	if c.Mute != nil {
		b.Mute = *c.Mute
	}
	if c.Goal != nil {
		b.Goal = *c.Goal
	}
	return b
}

// maxContext bounds the bytes of what a session was told in all; the latest stay.
const maxContext = 64 << 10

// Collect keeps what a conversation found out, how it turned out, and what the visitor left. What
// was found out is words: an organization that keeps none keeps the outcome alone, and of what was
// left how to reach the visitor, who left it for that.
func Collect(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, f Found, now time.Time) error {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return err
	}
	zero, err := s.keepsNoWords(ctx, tx)
	if err != nil {
		return err
	}
	if !zero {
		maps.Copy(s.Collected, f.Values)
	}
	if f.Outcome != "" {
		s.Outcome = &f.Outcome
	}
	for _, l := range f.Left {
		if err := s.leave(ctx, tx, l, zero, now); err != nil {
			return err
		}
	}
	if f.Clocks != nil {
		s.Clocks = f.Clocks
	}
	tx.Touch("session", which)
	_, err = tx.Exec(ctx, `
		UPDATE session SET collected = $3, outcome = $4, clocks = $5 WHERE org_id = $1 AND id = $2`, tx.Org, which, s.Collected, s.Outcome, s.Clocks)
	return err
}
