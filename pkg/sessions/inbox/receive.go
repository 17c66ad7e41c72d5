package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Received is what a visitor answered by mail, or in a connected system.
type Received struct {
	// MessageID tells it from others, Sender is who the mail says that it is from.
	MessageID, Sender string
	Text              string
	At                time.Time
	// Written is when the visitor wrote it, where that was before; zero for At.
	Written time.Time
	// From is the connected system that it came to; zero for ours.
	From id.Connection
}

// What is taken of an item's visitor: so many answers in an hour, and at all, so that there is room for the team's notes.
const (
	answersAnHour = 20
	mostAnswers   = MaxNotes / 2
)

// The reasons of conflicts of answers.
const (
	ReasonAnswers = "too_many_answers"
	ReasonOften   = "too_often"
)

// Receive adds to an item what its visitor answered by mail, opens it again and applies the rules of answers. It says whether the
// mail was not there before: each counts once. Of an organization with zero data retention it is kept that there was an answer,
// and none of its words. The error is errdefs.NotFound, or an errdefs.Conflict with the reason forgotten, too_many_answers or
// too_often.
func Receive(ctx context.Context, tx *tenant.Tx, which id.InboxItem, r Received) (added bool, err error) {
	i, err := Lock(ctx, tx, which)
	if err != nil {
		return false, err
	}
	if there, err := i.hasAnswer(ctx, tx, r.MessageID, r.At); err != nil || there {
		return false, err
	}
	if r.Written.IsZero() || r.Written.After(r.At) {
		r.Written = r.At
	}
	kept, until, err := i.keptUntil(ctx, tx, r.Written)
	if err != nil {
		return false, err
	}
	if until != nil && !until.After(r.At) { // as if they were deleted already
		kept, until = false, nil
	}
	if !kept {
		r.Text, r.Sender, r.MessageID = "", "", digested(r.MessageID)
	}
	n := Note{
		ID: id.NewInboxNote(), By: ByVisitor, Text: r.Text, At: r.Written, Channel: new(ByMail), MessageID: &r.MessageID, Sender: &r.Sender, WordsUntil: until, From: r.From,
	}
	if err := i.write(ctx, tx, n); err != nil {
		return false, err
	}
	before, fields := i.State, []string{"notes"}
	if i.State != New && i.State != Open && i.State != Spam {
		i.State, i.SnoozedUntil = Open, nil
		fields = append(fields, "state")
	}
	activity.Actor{By: ByVisitor, At: r.At}.Log(tx, "inbox_item.answered", "inbox_item", i.ID, nil)
	return true, i.settle(ctx, tx, before, Replied, n.ID.String(), r.At, func() { i.tellChanged(tx, before, fields, ByVisitor) })
}

// Expects says whether an answer would be taken, and there whether it was: before it is read. The error is that of Receive.
func Expects(ctx context.Context, tx *tenant.Tx, which id.InboxItem, messageID string, at time.Time) (there bool, err error) {
	i, err := Find(ctx, tx, which)
	if err != nil {
		return false, err
	}
	return i.hasAnswer(ctx, tx, messageID, at)
}

// hasAnswer says whether an answer was taken. The error is an errdefs.Conflict where no more are.
func (i *Item) hasAnswer(ctx context.Context, tx *tenant.Tx, messageID string, at time.Time) (there bool, err error) {
	if i.ForgottenAt != nil {
		return false, i.conflict(ReasonForgotten, "The visitor was forgotten, so nothing of theirs is kept.")
	}
	var all, lately int
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE message_id IN ($3, $5)) > 0, count(*), count(*) FILTER (WHERE at > $4)
		FROM inbox_note WHERE org_id = $1 AND item_id = $2 AND message_id IS NOT NULL`,
		tx.Org, i.ID, messageID, at.Add(-time.Hour), digested(messageID)).Scan(&there, &all, &lately); err != nil || there {
		return there, err
	}
	switch {
	case all >= mostAnswers:
		return false, i.conflict(ReasonAnswers, "The item has as many answers as it can have.")
	case lately >= answersAnHour:
		return false, i.conflict(ReasonOften, "The item had as many answers as it can have in an hour.")
	}
	return false, nil
}

// digested is a Message-ID as it is kept once the words of its mail are not: a mail program can put the name of its machine into it.
func digested(messageID string) string {
	const by = "sha256:"
	if strings.HasPrefix(messageID, by) { // it is one of the mail
		return messageID
	}
	sum := sha256.Sum256([]byte(messageID))
	return by + hex.EncodeToString(sum[:])
}

// keptUntil says whether the words of an answer are kept, and until when at most: as long from now as those of the conversation are from
// its end, or as the organization's setting has it. Those of the conversation may be gone by then.
func (i *Item) keptUntil(ctx context.Context, tx *tenant.Tx, now time.Time) (kept bool, until *time.Time, err error) {
	set, err := setting.At(ctx, tx, setting.Place{})
	if err != nil || set.On(setting.ZeroRetention) {
		return false, nil, err
	}
	days, bound := set.Number(setting.RetentionDays)
	if !i.Session.IsZero() {
		found, err := tenant.AllIn(ctx, tx, pgx.RowTo[*int64], `
			SELECT (brief->>'retainDays')::INT8 FROM session WHERE org_id = $1 AND id = $2`, tx.Org, i.Session)
		if err != nil {
			return false, nil, err
		}
		if len(found) > 0 && found[0] != nil && (!bound || *found[0] < days) {
			days, bound = *found[0], true
		}
	}
	switch {
	case !bound:
		return true, nil, nil
	case days < 1:
		return false, nil, nil
	}
	return true, new(now.AddDate(0, 0, int(days))), nil
}

// blankAnswers removes what visitors answered by mail from an item, or of that what was to be kept until a moment: that they did stays.
// It says whether there was anything.
func (i *Item) blankAnswers(ctx context.Context, tx *tenant.Tx, due *time.Time) (bool, error) {
	type answer struct {
		ID        id.InboxNote
		MessageID string
	}
	found, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[answer], `
		SELECT id, message_id FROM inbox_note WHERE org_id = $1 AND item_id = $2 AND message_id IS NOT NULL AND ($3::TIMESTAMPTZ IS NULL OR words_until <= $3)
			AND (text <> '' OR sender <> '' OR message_id NOT LIKE 'sha256:%' OR words_until IS NOT NULL)`, tx.Org, i.ID, due)
	for _, a := range found {
		tx.Touch("inbox_note", i.ID, a.ID)
		if _, err := tx.Exec(ctx, `
			UPDATE inbox_note SET text = '', sender = '', message_id = $4, words_until = NULL WHERE org_id = $1 AND item_id = $2 AND id = $3`,
			tx.Org, i.ID, a.ID, digested(a.MessageID)); err != nil {
			return false, err
		}
	}
	return len(found) > 0, err
}

// ForgetAnswers removes from an item what its visitor answered by mail and is not to be kept any longer, and says whether there was
// anything. The error is errdefs.NotFound.
func ForgetAnswers(ctx context.Context, tx *tenant.Tx, which id.InboxItem, now time.Time) (bool, error) {
	i, err := Lock(ctx, tx, which)
	if err != nil {
		return false, err
	}
	found, err := i.blankAnswers(ctx, tx, &now)
	if err != nil || !found {
		return false, err
	}
	if err := i.save(ctx, tx, i.State, now); err != nil {
		return false, err
	}
	tellRemoved(tx, []Item{i}, []string{"notes"}, Removal{Trigger: ByRetention, At: now})
	return true, dropExports(ctx, tx, []Item{i})
}
