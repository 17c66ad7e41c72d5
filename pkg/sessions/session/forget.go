package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/activity"
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
		return s.deleteWords(ctx, tx, inbox.Removal{Trigger: inbox.ByRetention, At: now})
	}, `
		SELECT s.org_id, s.id FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture')
		WHERE s.words_until <= $1 AND NOT s.on_hold ORDER BY s.words_until LIMIT $2`, now, SweepBatch)
}

// SweepAnswers removes what visitors of a shard answered by mail and is not to be kept any longer: it can come long after
// the conversation's own words are gone. It rides inbox_note_words.
func SweepAnswers(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org  id.Org
		Item id.InboxItem
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT n.org_id, n.item_id FROM (
			SELECT n.org_id, n.item_id FROM inbox_note n JOIN org_fence f ON f.org_id = n.org_id AND f.state IN ('open', 'capture')
			WHERE n.words_until <= $1 AND NOT COALESCE((
				SELECT s.on_hold FROM inbox_item i JOIN session s ON s.org_id = i.org_id AND s.id = i.session_id WHERE i.org_id = n.org_id AND i.id = n.item_id), false)
			ORDER BY n.words_until LIMIT $2) n`, now, SweepBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	done := 0
	for _, d := range found {
		failed := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
			removed, err := inbox.ForgetAnswers(ctx, tx, d.Item, now)
			if err != nil || !removed {
				return err
			}
			return Forgetting{Items: []id.InboxItem{d.Item}}.insert(ctx, tx, activity.Actor{By: "platform", At: now})
		}, tenant.Idempotent(true))
		switch {
		case ctx.Err() != nil:
			return done, ctx.Err()
		case failed == nil, errdefs.IsNotFound(failed, inbox.Noun):
			done++
		default:
			err = errors.Join(err, failed)
		}
	}
	return done, err
}

// DeleteWords blots out every word of a session for good. The error is
// errdefs.NotFound.
func DeleteWords(ctx context.Context, tx *tenant.Tx, which id.Session, at time.Time) error {
	return deleteWordsOf(ctx, tx, which, inbox.Removal{Trigger: inbox.ByTeam, At: at})
}

func deleteWordsOf(ctx context.Context, tx *tenant.Tx, which id.Session, r inbox.Removal) error {
	s, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	return s.deleteWords(ctx, tx, r)
}

// Disown is DeleteWords of a session whose person is erased: what the organization
// noted of it, which can name them, is deleted too, and what they left in the inbox. The error is
// errdefs.NotFound.
func Disown(ctx context.Context, tx *tenant.Tx, which id.Session, at time.Time) error {
	return disown(ctx, tx, which, inbox.Removal{Trigger: inbox.OnRequest, At: at})
}

func disown(ctx context.Context, tx *tenant.Tx, which id.Session, r inbox.Removal) error {
	// What is forgotten as a whole is told once.
	if err := inbox.ForgetOf(ctx, tx, which, r); err != nil {
		return err
	}
	if err := deleteWordsOf(ctx, tx, which, r); err != nil {
		return err
	}
	tx.Touch("session", which)
	_, err := tx.Exec(ctx, `UPDATE session SET external_id = NULL, metadata = '{}' WHERE org_id = $1 AND id = $2`, tx.Org, which)
	return err
}

// deleteLeft deletes what the visitor said of the items that they left, also from answers that are
// kept to be repeated.
func (s Session) deleteLeft(ctx context.Context, tx *tenant.Tx, r inbox.Removal) error {
	items, err := inbox.ForgetWordsOf(ctx, tx, s.ID, r)
	if err != nil || len(items) == 0 {
		return err
	}
	of := Forgetting{Session: s.ID}
	for _, i := range items {
		of.Items = append(of.Items, i.ID)
	}
	return of.insert(ctx, tx, activity.Actor{By: cmp.Or(r.By, "platform"), At: r.At})
}

func (s Session) deleteWords(ctx context.Context, tx *tenant.Tx, r inbox.Removal) error {
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
	if err := s.deleteLeft(ctx, tx, r); err != nil {
		return err
	}
	if err := recording.Delete(ctx, tx, s.ID); err != nil {
		return err
	}
	if err := printed.DeleteWords(ctx, tx, s.ID); err != nil {
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
