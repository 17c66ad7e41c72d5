package inbox

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Received is what a visitor answered by mail.
type Received struct {
	// MessageID tells it from others, Sender is who the mail says that it is from.
	MessageID, Sender string
	Text              string
	At                time.Time
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
	if i.ForgottenAt != nil {
		return false, i.conflict(ReasonForgotten, "The visitor was forgotten, so nothing of theirs is kept.")
	}
	var there bool
	var all, lately int
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE message_id = $3) > 0, count(*), count(*) FILTER (WHERE at > $4)
		FROM inbox_note WHERE org_id = $1 AND item_id = $2 AND message_id IS NOT NULL`,
		tx.Org, which, r.MessageID, r.At.Add(-time.Hour)).Scan(&there, &all, &lately); err != nil || there {
		return false, err
	}
	switch {
	case all >= mostAnswers:
		return false, i.conflict(ReasonAnswers, "The item has as many answers as it can have.")
	case lately >= answersAnHour:
		return false, i.conflict(ReasonOften, "The item had as many answers as it can have in an hour.")
	}
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err != nil {
		return false, err
	}
	if zero {
		r.Text, r.Sender = "", ""
	}
	n := Note{ID: id.NewInboxNote(), By: ByVisitor, Text: r.Text, At: r.At, Channel: new(ByMail), MessageID: &r.MessageID, Sender: &r.Sender}
	if err := i.write(ctx, tx, n); err != nil {
		return false, err
	}
	before, fields := i.State, []string{"notes"}
	if i.State != New && i.State != Open && i.State != Spam {
		i.State, i.SnoozedUntil = Open, nil
		fields = append(fields, "state")
	}
	if err := i.save(ctx, tx, before, r.At); err != nil {
		return false, err
	}
	i.tellChanged(tx, before, fields, ByVisitor)
	activity.Actor{By: ByVisitor, At: r.At}.Log(tx, "inbox_item.answered", "inbox_item", i.ID, nil)
	return true, i.happened(ctx, tx, Replied, n.ID.String(), r.At)
}

// blankAnswers removes what visitors answered by mail from an item: that they did stays. It says whether there was anything.
func (i *Item) blankAnswers(ctx context.Context, tx *tenant.Tx) (bool, error) {
	blanked, err := tenant.AllIn(ctx, tx, scanNoteID, `
		UPDATE inbox_note SET text = '', sender = '' WHERE org_id = $1 AND item_id = $2 AND message_id IS NOT NULL AND text <> '' RETURNING id`, tx.Org, i.ID)
	for _, n := range blanked {
		tx.Touch("inbox_note", i.ID, n)
	}
	return len(blanked) > 0, err
}
