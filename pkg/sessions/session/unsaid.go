package session

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// recordUnsaid records what was asked for and did not come before the session ended: words
// that were never said as a turn that was interrupted before anything of it was heard, a
// text that was to be answered as one that was not. Each has the id that whoever asked for
// it was told. The session is locked.
func recordUnsaid(ctx context.Context, tx *tenant.Tx, s Session, at time.Time) error {
	rows, err := tx.Query(ctx, `
		SELECT id, kind, body FROM session_command WHERE org_id = $1 AND session_id = $2 AND kind IN ('say', 'respond') ORDER BY id`, tx.Org, s.ID)
	if err != nil {
		return err
	}
	unsaid, err := pgx.CollectRows(rows, scanCommand)
	if err != nil || len(unsaid) == 0 {
		return err
	}
	zero, err := s.keepsNoWords(ctx, tx)
	if err != nil {
		return err
	}
	for i, c := range unsaid {
		t := s.blot(c.unsaid(s, s.TurnCount+int64(i), at), zero)
		changed, err := upsert(ctx, tx, s.ID, &t)
		if err != nil {
			return err
		}
		if changed && s.tellsTurns() {
			event.Emit(tx, s.turnDraft(t))
		}
	}
	return nil
}

// scanCommand reads a command's id, kind and body.
func scanCommand(row pgx.CollectableRow) (c Command, err error) {
	var body Command
	err = row.Scan(&c.ID, &c.Kind, &body)
	body.ID, body.Kind = c.ID, c.Kind
	return body, err
}

// unsaid is the turn of a command that was not carried out.
func (c Command) unsaid(s Session, index int64, at time.Time) Turn {
	t := Turn{
		ID: c.ID, Index: index, Speaker: Avatar, Text: c.Text, Language: cmp.Or(c.Language, s.Language), Origin: Say,
		StartedAt: at, EndedAt: &at, Interrupted: true, Unrecorded: !c.Record,
		Timing: Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
	if c.Kind == RespondTo {
		t.Speaker, t.Origin, t.Spoken, t.Interrupted, t.Unrecorded = User, Typed, c.Text, false, false
	}
	return t
}

// Obeyed says whether a command was carried out, or the session ended. It rides
// session_command_pkey.
func Obeyed(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session, c id.Turn) (bool, error) {
	var waits bool
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&waits, []any{new(id.Turn)}, `SELECT id FROM session_command WHERE org_id = $1 AND session_id = $2 AND id = $3`, org, s, c)
	})
	return !waits, err
}
