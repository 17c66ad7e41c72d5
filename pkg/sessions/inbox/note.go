package inbox

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Note is what somebody of the team wrote to an item, or what its visitor answered.
type Note struct {
	ID   id.InboxNote
	By   string
	Text string
	At   time.Time
	// Channel is by what it was sent to the visitor, or came from them; nil of what is for the team alone.
	Channel *string
	// MessageID is the mail's by which the visitor answered, or a digest, and Sender who it says that it is from; nil of what
	// the team wrote.
	MessageID, Sender *string
	// WordsUntil is until when the words of an answer are kept; nil for as long as the item's.
	WordsUntil *time.Time
	// From is the connected system that it came from; zero for none.
	From id.Connection
}

// Received says whether the visitor wrote it.
func (n *Note) Received() bool { return n.MessageID != nil }

// MaxNotes is how many notes an item can have.
const MaxNotes = 200

const noteColumns = `id, author, text, at, channel, message_id, sender, words_until, taken_from`

func scanNote(row pgx.CollectableRow) (Note, error) { return pgx.RowToStructByPos[Note](row) }

// Notes are those of an item, oldest first. It rides inbox_note_pkey.
func Notes(ctx context.Context, t *tenant.Tenants, org id.Org, of id.InboxItem) ([]Note, error) {
	return tenant.All(ctx, t, org, scanNote, `
		SELECT `+noteColumns+` FROM inbox_note WHERE org_id = $1 AND item_id = $2 ORDER BY id LIMIT $3`, org, of, MaxNotes)
}

// NotesIn is Notes in a transaction.
func NotesIn(ctx context.Context, tx *tenant.Tx, of id.InboxItem) ([]Note, error) {
	return tenant.AllIn(ctx, tx, scanNote, `
		SELECT `+noteColumns+` FROM inbox_note WHERE org_id = $1 AND item_id = $2 ORDER BY id LIMIT $3`, tx.Org, of, MaxNotes)
}

// AddNote writes a note to an item. The error is errdefs.NotFound, or an errdefs.Conflict where
// the visitor was forgotten or there are too many.
func AddNote(ctx context.Context, tx *tenant.Tx, which id.InboxItem, text string, who activity.Actor) (Item, error) {
	i, err := Lock(ctx, tx, which)
	if err != nil {
		return i, err
	}
	if err := i.write(ctx, tx, Note{ID: id.NewInboxNote(), By: who.By, Text: text, At: who.At}); err != nil {
		return i, err
	}
	who.Log(tx, "inbox_item.noted", "inbox_item", i.ID, nil)
	return i, i.save(ctx, tx, i.State, who.At)
}

// write enters a note of an item that is locked.
func (i *Item) write(ctx context.Context, tx *tenant.Tx, n Note) error {
	if i.ForgottenAt != nil {
		return i.conflict(ReasonForgotten, "The visitor was forgotten, so nothing more is written to the item.")
	}
	tx.Touch("inbox_note", i.ID, n.ID)
	tag, err := tx.Exec(ctx, `
		INSERT INTO inbox_note (org_id, item_id, id, author, text, at, channel, message_id, sender, words_until, taken_from)
		SELECT $1, $2, $3, $4, $5, $6, $8, $9, $10, $11, $12 WHERE (SELECT count(*) FROM inbox_note WHERE org_id = $1 AND item_id = $2) < $7`,
		tx.Org, i.ID, n.ID, n.By, n.Text, n.At, MaxNotes, n.Channel, n.MessageID, n.Sender, n.WordsUntil, n.From)
	if err == nil && tag.RowsAffected() == 0 {
		err = i.conflict(ReasonNotes, "The item has as many notes as it can have.")
	}
	return err
}
