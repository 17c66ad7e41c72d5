package session

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// SweepWords blots out words of a shard that are not to be kept any longer. It
// rides session_words.
func SweepWords(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		s, err := Lock(ctx, tx, which)
		if err != nil || s.WordsUntil == nil || s.WordsUntil.After(now) || s.OnHold {
			return err
		}
		return s.deleteWords(ctx, tx)
	}, `
		SELECT s.org_id, s.id FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture')
		WHERE s.words_until <= $1 AND NOT s.on_hold ORDER BY s.words_until LIMIT $2`, now, SweepBatch)
}

// DeleteWords blots out every word of a session for good. The error is
// errdefs.NotFound.
func DeleteWords(ctx context.Context, tx *tenant.Tx, which id.Session) error {
	s, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	return s.deleteWords(ctx, tx)
}

// Disown is DeleteWords of a session whose person is erased: what the organization
// noted of it, which can name them, is deleted too. The error is errdefs.NotFound.
func Disown(ctx context.Context, tx *tenant.Tx, which id.Session) error {
	if err := DeleteWords(ctx, tx, which); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE session SET external_id = NULL, metadata = '{}' WHERE org_id = $1 AND id = $2`, tx.Org, which)
	return err
}

func (s Session) deleteWords(ctx context.Context, tx *tenant.Tx) error {
	rows, err := tx.Query(ctx, `
		UPDATE turn SET text = '', spoken = '', redacted = true WHERE org_id = $1 AND session_id = $2 RETURNING ordinal`, tx.Org, s.ID)
	if err != nil {
		return err
	}
	blotted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, o := range blotted {
		tx.Touch("turn", s.ID, ordinal(o))
	}
	// A question that nobody could answer was noted with the packs as well.
	if err := knowledge.ForgetQuestions(ctx, tx, s.ID); err != nil {
		return err
	}
	// What a live session goes by it still needs, and the rules for its words
	// outlast them all.
	if s.State.Over() {
		s.Brief = Brief{Redact: s.Brief.Redact, RetainDays: s.Brief.RetainDays}
	}
	tx.Touch("session", s.ID)
	_, err = tx.Exec(ctx, `
		UPDATE session SET summary = NULL, collected = '{}', rating_comment = NULL, brief = $3, words_until = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org, s.ID, s.Brief)
	return err
}

// forgotten says that the time of the session's words is over.
func (s Session) forgotten() bool {
	return s.State.Over() && s.Brief.RetainDays != nil && s.WordsUntil == nil
}
