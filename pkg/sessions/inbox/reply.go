package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// ByMail is the channel of a note that was sent to the visitor.
const ByMail = "mail"

// ReasonNoContact is that of a conflict: nobody knows how to write to the visitor.
const ReasonNoContact = "no_contact"

// AddReply writes to an item what is sent to its visitor by mail, which is due no more then. The error is errdefs.NotFound, or an
// errdefs.Conflict where nobody can be written to, or there are too many notes.
func AddReply(ctx context.Context, tx *tenant.Tx, which id.InboxItem, text string, who activity.Actor) (Item, id.InboxNote, error) {
	i, err := Lock(ctx, tx, which)
	if err != nil {
		return i, id.InboxNote{}, err
	}
	if i.ForgottenAt == nil && (i.Contact == nil || i.Contact.Email == nil) {
		return i, id.InboxNote{}, i.conflict(ReasonNoContact, "The visitor left no mail address.")
	}
	n := Note{ID: id.NewInboxNote(), By: who.By, Text: text, At: who.At, Channel: new(ByMail)}
	err = i.reply(ctx, tx, n, who)
	return i, n.ID, err
}

// TakeReply writes to an item what its visitor was sent by a connected system, at a moment that is now at the latest; it is as AddReply otherwise,
// and its errors are.
func TakeReply(ctx context.Context, tx *tenant.Tx, which id.InboxItem, text string, from id.Connection, at, now time.Time) error {
	i, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	n := Note{ID: id.NewInboxNote(), By: from.String(), Text: text, At: at, Channel: new(ByMail), From: from}
	return i.reply(ctx, tx, n, activity.Actor{By: platform, At: now})
}

// reply enters a note that the visitor is sent, or was.
func (i *Item) reply(ctx context.Context, tx *tenant.Tx, n Note, who activity.Actor) error {
	if err := i.write(ctx, tx, n); err != nil {
		return err
	}
	who.Log(tx, "inbox_item.replied", "inbox_item", i.ID, nil)
	var fields []string
	if i.FirstReplyAt == nil {
		i.FirstReplyAt, fields = &n.At, append(fields, "firstReplyAt")
	}
	if i.reached(who.At) {
		fields = append(fields, "slaDueAt")
	}
	if err := i.save(ctx, tx, i.State, who.At); err != nil || len(fields) == 0 {
		return err
	}
	i.tellChanged(tx, i.State, fields, who.By)
	return nil
}

// Sent is a reply as it is mailed: its words, and the Message-IDs of the mails before it either way, oldest first, of which those
// that were sent are notes' ids; false once there is nobody to write to.
func Sent(ctx context.Context, tx *tenant.Tx, which id.InboxItem, reply id.InboxNote) (i Item, n Note, before []string, found bool, err error) {
	if i, err = Find(ctx, tx, which); err != nil || i.Contact == nil || i.Contact.Email == nil {
		return i, n, nil, false, err
	}
	notes, err := NotesIn(ctx, tx, which)
	if err != nil {
		return i, n, nil, false, err
	}
	sent := slices.DeleteFunc(notes, func(n Note) bool { return n.Channel == nil })
	at := slices.IndexFunc(sent, func(n Note) bool { return n.ID == reply })
	if at < 0 {
		return i, n, nil, false, nil
	}
	for _, n := range sent[:at] {
		switch {
		case !n.From.IsZero(): // it was another system's mail
		case !n.Received():
			before = append(before, n.ID.String())
		case strings.Contains(*n.MessageID, "@"):
			before = append(before, *n.MessageID)
		}
	}
	return i, sent[at], before, true, nil
}
