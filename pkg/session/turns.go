package session

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/event"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/setting"
	"visavis.dev/pkg/tenant"
)

// Keep keeps a turn of a session that its owner runs: enters it, or brings it up
// to date while it is under way. One that has ended does not change any more.
// said is the command that asked for it, which is carried out with it; zero for
// none. The error is ErrLost when the session is another's.
func Keep(ctx context.Context, tx *tenant.Tx, s Session, t Turn, now time.Time) error {
	tx.Touch("session", s.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE session SET turn_count = GREATEST(turn_count, $4), last_activity_at = $5,
			languages_heard = CASE WHEN $6 = ANY(languages_heard) OR NOT $7 THEN languages_heard ELSE array_append(languages_heard, $6) END
		WHERE org_id = $1 AND id = $2 AND epoch = $3 AND state = 'live'`,
		tx.Org, s.ID, s.Epoch, t.Index+1, now, t.Language, t.Speaker == User)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrLost
	}
	if t, err = s.blot(ctx, tx, t); err != nil {
		return err
	}
	changed, err := upsert(ctx, tx, s.ID, t)
	if err != nil || !changed {
		return err
	}
	if t.Origin == Say {
		if err := carriedOut(ctx, tx, s.ID, t.ID); err != nil {
			return err
		}
	}
	if t.EndedAt == nil || !s.tellsTurns() {
		return nil
	}
	_, err = event.Emit(ctx, tx, s.turnDraft(t))
	return err
}

// blot removes the words that are not to be kept.
func (s Session) blot(ctx context.Context, tx *tenant.Tx, t Turn) (Turn, error) {
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err != nil {
		return t, err
	}
	if zero || t.Unrecorded {
		t.Unrecorded, t.Text, t.Spoken = true, "", ""
		return t, nil
	}
	t.Text, t.Spoken = redact(t.Text, s.Brief.Redact), redact(t.Spoken, s.Brief.Redact)
	return t, nil
}

// upsert says whether anything changed.
func upsert(ctx context.Context, tx *tenant.Tx, s id.Session, t Turn) (bool, error) {
	if t.Sources == nil {
		t.Sources = []Source{}
	}
	if t.ToolCalls == nil {
		t.ToolCalls = []ToolCall{}
	}
	tx.Touch("turn", s, index(t.Index))
	tag, err := tx.Exec(ctx, `
		INSERT INTO turn AS t (org_id, session_id, index, id, speaker, name, text, spoken, language, origin, started_at, ended_at,
			interrupted, redacted, sources, grounded, tool_calls, timing)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (org_id, session_id, index) DO UPDATE SET text = excluded.text, spoken = excluded.spoken, ended_at = excluded.ended_at,
			interrupted = excluded.interrupted, sources = excluded.sources, grounded = excluded.grounded, tool_calls = excluded.tool_calls,
			timing = excluded.timing
		WHERE t.ended_at IS NULL AND t.id = excluded.id`,
		tx.Org, s, t.Index, t.ID, t.Speaker, t.Name, t.Text, t.Spoken, t.Language, t.Origin, t.StartedAt, t.EndedAt,
		t.Interrupted, t.Unrecorded, t.Sources, t.Grounded, t.ToolCalls, t.Timing)
	return tag.RowsAffected() > 0, err
}

const turnColumns = `id, index, speaker, name, text, spoken, language, origin, started_at, ended_at, interrupted, redacted,
	sources, grounded, tool_calls, timing`

func scanTurn(row pgx.CollectableRow) (Turn, error) { return pgx.RowToStructByPos[Turn](row) }

// Turns is a page of a session's turns in their order, from an index on. It
// rides turn_pkey.
func Turns(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session, from int64, limit int) ([]Turn, error) {
	var found []Turn
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scanTurn)
			return err
		}, `
			SELECT `+turnColumns+` FROM turn
			WHERE org_id = $1 AND session_id = $2 AND index >= $3 ORDER BY index LIMIT $4`, org, s, from, limit)
	})
	return found, err
}

// allTurns reads every turn of a session.
func allTurns(ctx context.Context, tx *tenant.Tx, s id.Session) ([]Turn, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+turnColumns+` FROM turn WHERE org_id = $1 AND session_id = $2 ORDER BY index`, tx.Org, s)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanTurn)
}

// closeTurns ends the turns that are under way, since nobody goes on with them.
// All of their text was sent, so what was heard of it is taken to be all, unless
// the process that sent it knew better.
func closeTurns(ctx context.Context, tx *tenant.Tx, s Session, at time.Time) ([]event.Draft, error) {
	rows, err := tx.Query(ctx, `
		UPDATE turn SET ended_at = GREATEST(started_at, $3), interrupted = true, spoken = CASE WHEN spoken = '' THEN text ELSE spoken END
		WHERE org_id = $1 AND session_id = $2 AND ended_at IS NULL RETURNING `+turnColumns, tx.Org, s.ID, at)
	if err != nil {
		return nil, err
	}
	closed, err := pgx.CollectRows(rows, scanTurn)
	var drafts []event.Draft
	for _, t := range closed {
		tx.Touch("turn", s.ID, index(t.Index))
		if s.tellsTurns() {
			drafts = append(drafts, s.turnDraft(t))
		}
	}
	return drafts, err
}

// SweepWords blots out words of a shard that are not to be kept any longer.
func SweepWords(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, s id.Session) error {
		held, err := Lock(ctx, tx, s)
		if err != nil || held.WordsUntil == nil || held.WordsUntil.After(now) || held.OnHold {
			return err
		}
		return DeleteWords(ctx, tx, s)
	}, `
		SELECT org_id, id FROM session WHERE words_until <= $1 AND NOT on_hold ORDER BY words_until LIMIT $2`, now, SweepBatch)
}

// DeleteWords blots out every word of a session for good.
func DeleteWords(ctx context.Context, tx *tenant.Tx, s id.Session) error {
	rows, err := tx.Query(ctx, `
		UPDATE turn SET text = '', spoken = '', redacted = true WHERE org_id = $1 AND session_id = $2 RETURNING index`, tx.Org, s)
	if err != nil {
		return err
	}
	blotted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, i := range blotted {
		tx.Touch("turn", s, index(i))
	}
	tx.Touch("session", s)
	_, err = tx.Exec(ctx, `
		UPDATE session SET summary = NULL, collected = '{}', rating_comment = NULL, brief = '{}', words_until = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org, s)
	return err
}
