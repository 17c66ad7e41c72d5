package session

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Keep keeps a turn of a session that its owner runs: enters it, or brings it up
// to date while it is under way. Of one that has ended, only what was heard can
// change, if it was interrupted: the client tells that afterwards. A command
// that asked for it has its id, and is carried out with it. The error is ErrLost
// when the session is another's.
func Keep(ctx context.Context, tx *tenant.Tx, s Session, t Turn, now time.Time) error {
	s, zero, err := s.grow(ctx, tx, t, now)
	if err != nil {
		return err
	}
	t = s.blot(t, zero)
	changed, err := upsert(ctx, tx, s.ID, &t)
	if err != nil {
		return err
	}
	if !changed {
		return correct(ctx, tx, s.ID, t)
	}
	if t.EndedAt == nil || !s.tellsTurns() {
		return nil
	}
	event.Emit(tx, s.turnDraft(t))
	return nil
}

// grow counts a turn to its session, and answers the session as it is now: its
// owner may not know yet that it is held. zero says that its organization keeps
// no words.
func (s Session) grow(ctx context.Context, tx *tenant.Tx, t Turn, now time.Time) (_ Session, zero bool, err error) {
	heard := ""
	if t.Speaker == User {
		heard = t.Language
	}
	tx.Touch("session", s.ID)
	var (
		b     pgx.Batch
		found []Session
	)
	b.Queue(`
		UPDATE session SET turn_count = GREATEST(turn_count, $4::BIGINT), last_activity_at = $5,
			languages_heard = CASE WHEN $6::TEXT = '' OR $6::TEXT = ANY(languages_heard) THEN languages_heard
				ELSE array_append(languages_heard, $6::TEXT) END
		WHERE org_id = $1 AND id = $2 AND epoch = $3 AND state = 'live' RETURNING `+columns,
		tx.Org, s.ID, s.Epoch, t.Index+1, now, heard).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scan)
		return err
	})
	setting.QueueOn(tx, &b, setting.ZeroRetention, &zero)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return s, zero, err
	}
	if len(found) == 0 {
		return s, zero, ErrLost
	}
	return found[0], zero || found[0].beganWithoutWords(), nil
}

// blot removes the words that are not to be kept.
func (s Session) blot(t Turn, zero bool) Turn {
	if zero || t.Unrecorded {
		t.Unrecorded, t.Text, t.Spoken = true, "", ""
		return t
	}
	rules := redactionOf(s.Brief.Redact)
	t.Text, t.Spoken = rules.blot(storable(t.Text)), rules.blot(storable(t.Spoken))
	return t
}

// storable is a text as a database takes it, which knows no zero character.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}

// upsert enters a turn, or brings it up to date, and says whether anything
// changed; the command that asked for it is done then. Words that were blotted out once do not
// come back, also not in a turn that goes on; t is then without them too.
func upsert(ctx context.Context, tx *tenant.Tx, s id.Session, t *Turn) (bool, error) {
	if t.Sources == nil {
		t.Sources = []Source{}
	}
	if t.ToolCalls == nil {
		t.ToolCalls = []ToolCall{}
	}
	tx.Touch("turn", s, ordinal(t.Index))
	var (
		b    pgx.Batch
		kept []Turn
	)
	b.Queue(`
		INSERT INTO turn AS t (org_id, session_id, ordinal, id, speaker, name, host, text, spoken, language, origin, started_at, ended_at,
			interrupted, redacted, sources, grounded, tool_calls, timing)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (org_id, session_id, ordinal) DO UPDATE SET text = CASE WHEN t.redacted THEN '' ELSE excluded.text END,
			spoken = CASE WHEN t.redacted THEN '' ELSE excluded.spoken END, redacted = t.redacted OR excluded.redacted,
			ended_at = excluded.ended_at, interrupted = excluded.interrupted, sources = excluded.sources, grounded = excluded.grounded,
			tool_calls = excluded.tool_calls, timing = excluded.timing
		WHERE t.ended_at IS NULL AND t.id = excluded.id
		RETURNING `+turnColumns,
		tx.Org, s, t.Index, t.ID, t.Speaker, t.Name, t.Host, t.Text, t.Spoken, t.Language, t.Origin, t.StartedAt, t.EndedAt,
		t.Interrupted, t.Unrecorded, t.Sources, t.Grounded, t.ToolCalls, t.Timing).Query(func(rows pgx.Rows) (err error) {
		kept, err = pgx.CollectRows(rows, scanTurn)
		return err
	})
	if t.Origin == Say || t.Origin == Typed {
		queueCameOf(tx, &b, s, t)
	}
	if err := tx.SendBatch(ctx, &b).Close(); err != nil || len(kept) == 0 {
		return false, err
	}
	*t = kept[0]
	return true, nil
}

// correct brings what was heard of an interrupted turn up to date. Nobody is told
// again that it ended.
func correct(ctx context.Context, tx *tenant.Tx, s id.Session, t Turn) error {
	if !t.Interrupted || t.Unrecorded {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE turn SET spoken = $5
		WHERE org_id = $1 AND session_id = $2 AND ordinal = $3 AND id = $4 AND interrupted AND NOT redacted AND spoken <> $5`,
		tx.Org, s, t.Index, t.ID, t.Spoken)
	return err
}

// ordinal is a turn's index as a part of a row's key.
type ordinal int64

func (o ordinal) String() string { return strconv.FormatInt(int64(o), 10) }

const turnColumns = `id, ordinal, speaker, name, host, text, spoken, language, origin, started_at, ended_at, interrupted, redacted,
	sources, grounded, tool_calls, timing`

func scanTurn(row pgx.CollectableRow) (Turn, error) { return pgx.RowToStructByPos[Turn](row) }

// Turns is a page of a session's turns in their order, from an index on. It
// rides turn_pkey.
func Turns(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session, from int64, limit int) ([]Turn, error) {
	return tenant.All(ctx, t, org, scanTurn, `
		SELECT `+turnColumns+` FROM turn
		WHERE org_id = $1 AND session_id = $2 AND ordinal >= $3 ORDER BY ordinal LIMIT $4`, org, s, from, limit)
}

// allTurns reads every turn of a session.
func allTurns(ctx context.Context, tx *tenant.Tx, s id.Session) ([]Turn, error) {
	return tenant.AllIn(ctx, tx, scanTurn, `
		SELECT `+turnColumns+` FROM turn WHERE org_id = $1 AND session_id = $2 ORDER BY ordinal`, tx.Org, s)
}

// closeTurns ends the turns that are under way, since nobody goes on with them.
// All of their text was sent, so what was heard of it is taken to be all, unless
// the process that sent it knew better.
func closeTurns(ctx context.Context, tx *tenant.Tx, s Session, at time.Time) error {
	rows, err := tx.Query(ctx, `
		UPDATE turn SET ended_at = GREATEST(started_at, $3::TIMESTAMPTZ), interrupted = true, spoken = CASE WHEN spoken = '' THEN text ELSE spoken END
		WHERE org_id = $1 AND session_id = $2 AND ended_at IS NULL RETURNING `+turnColumns, tx.Org, s.ID, at)
	if err != nil {
		return err
	}
	closed, err := pgx.CollectRows(rows, scanTurn)
	slices.SortFunc(closed, func(a, b Turn) int { return cmp.Compare(a.Index, b.Index) })
	for _, t := range closed {
		tx.Touch("turn", s.ID, ordinal(t.Index))
		if s.tellsTurns() {
			event.Emit(tx, s.turnDraft(t))
		}
	}
	return err
}
