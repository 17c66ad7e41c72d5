package inbox

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// Trigger is why details of a visitor are removed.
type Trigger string

// The triggers.
const (
	ByTeam      Trigger = "team"
	OnRequest   Trigger = "visitor"
	ByRetention Trigger = "retention"
)

// Removal says why, by whom and when details of a visitor are removed.
type Removal struct {
	Trigger Trigger
	// By is empty for the platform.
	By string
	At time.Time
}

// by is who removes.
func (r Removal) by() string {
	if r.By == "" {
		return platform
	}
	return r.By
}

// Forget removes everything that items hold of their visitor: only that there was one, when, and
// what became of it stays. The items are locked; those that are forgotten already stay as they are.
// Receivers are told so that they erase too.
func Forget(ctx context.Context, tx *tenant.Tx, items []Item, r Removal) error {
	var (
		which  []Item
		fields []string
	)
	for _, i := range items {
		if i.ForgottenAt != nil {
			continue
		}
		noted, err := i.deleteNotes(ctx, tx)
		if err != nil {
			return err
		}
		had, before := i.holds(), i.State
		if noted {
			had = append(had, "notes")
		}
		i.Contact, i.Words, i.Source, i.Tags, i.ExternalID, i.Metadata = nil, Words{}, Source{}, []string{}, nil, map[string]string{}
		i.State, i.SnoozedUntil, i.ForgottenAt = Forgotten, nil, &r.At
		i.SLADueAt, i.DueStepAt = nil, nil
		was := i.Booking
		if err := i.abandon(ctx, tx, r.At); err != nil {
			return err
		}
		if err := i.save(ctx, tx, before, r.At); err != nil {
			return err
		}
		if err := i.enterTerms(ctx, tx); err != nil {
			return err
		}
		if was != nil {
			if err := slot.Changed(ctx, tx, uuid.UUID(i.ID), r.At); err != nil { // their name is taken out of the calendar
				return err
			}
		}
		if was != nil && i.Booking.State != was.State {
			i.tellBooking(tx, was.State, []string{"booking.state"}, r.by())
		}
		which, fields = append(which, i), union(fields, had)
	}
	tellRemoved(tx, which, fields, r)
	return dropExports(ctx, tx, which)
}

// dropExports deletes the files that what was removed may be in.
func dropExports(ctx context.Context, tx *tenant.Tx, removed []Item) error {
	if len(removed) == 0 {
		return nil
	}
	return job.DropExports(ctx, tx)
}

// ForgetOf is Forget of the items that a conversation left.
func ForgetOf(ctx context.Context, tx *tenant.Tx, s id.Session, r Removal) error {
	items, err := lockOf(ctx, tx, s)
	if err != nil {
		return err
	}
	return Forget(ctx, tx, items, r)
}

// ForgetWordsOf removes what a visitor said in a conversation from the items that it left, since
// the conversation's words are kept no longer, and answers those items. How to reach them stays:
// they left it for that.
func ForgetWordsOf(ctx context.Context, tx *tenant.Tx, s id.Session, r Removal) (which []Item, err error) {
	items, err := lockOf(ctx, tx, s)
	if err != nil {
		return nil, err
	}
	var fields []string
	for _, i := range items {
		had := i.Words.holds()
		answered, err := i.blankAnswers(ctx, tx, nil)
		if err != nil {
			return nil, err
		}
		if answered {
			had = append(had, "notes")
		}
		if len(had) == 0 {
			continue
		}
		i.Words = Words{}
		if err := i.save(ctx, tx, i.State, r.At); err != nil {
			return nil, err
		}
		which, fields = append(which, i), union(fields, had)
	}
	tellRemoved(tx, which, fields, r)
	return which, dropExports(ctx, tx, which)
}

// OfSession locks the items that the conversation of an item left: that item alone, where it
// came of none.
func OfSession(ctx context.Context, tx *tenant.Tx, i Item) ([]Item, error) {
	if i.Session.IsZero() {
		locked, err := Lock(ctx, tx, i.ID)
		return []Item{locked}, err
	}
	return lockOf(ctx, tx, i.Session)
}

// deleteNotes deletes what the team wrote, which may name the visitor, and answers whether there was
// anything.
func (i *Item) deleteNotes(ctx context.Context, tx *tenant.Tx) (bool, error) {
	rows, err := tx.Query(ctx, `DELETE FROM inbox_note WHERE org_id = $1 AND item_id = $2 RETURNING id`, tx.Org, i.ID)
	if err != nil {
		return false, err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[id.InboxNote])
	for _, n := range gone {
		tx.Touch("inbox_note", i.ID, n)
	}
	return len(gone) > 0, err
}

// holds are the names of what an item holds of its visitor.
func (i *Item) holds() (names []string) {
	if c := i.Contact; c != nil {
		for _, f := range []struct {
			name string
			text *string
		}{
			{"contact.name", c.Name}, {"contact.email", c.Email}, {"contact.phone", c.Phone}, {"contact.company", c.Company},
			{"contact.jobTitle", c.JobTitle}, {"contact.preferredChannel", c.PreferredChannel},
		} {
			if f.text != nil {
				names = append(names, f.name)
			}
		}
	}
	names = append(names, i.Words.holds()...)
	if i.Source != (Source{}) {
		names = append(names, "source")
	}
	if i.ExternalID != nil {
		names = append(names, "externalId")
	}
	if len(i.Metadata) > 0 {
		names = append(names, "metadata")
	}
	if len(i.Tags) > 0 {
		names = append(names, "tags")
	}
	return names
}

func (w *Words) holds() (names []string) {
	for _, f := range []struct {
		name string
		text *string
	}{{"need", w.Need}, {"budget", w.Budget}, {"timeline", w.Timeline}, {"reason", w.Reason}} {
		if f.text != nil {
			names = append(names, f.name)
		}
	}
	if len(w.Answers) > 0 {
		names = append(names, "answers")
	}
	return names
}

func union(all, more []string) []string {
	seen := map[string]bool{}
	for _, name := range all {
		seen[name] = true
	}
	for _, name := range more {
		if !seen[name] {
			all = append(all, name)
		}
	}
	return all
}

// tellRemoved emits what was removed of some items of one conversation, without what it said.
func tellRemoved(tx *tenant.Tx, items []Item, fields []string, r Removal) {
	if len(items) == 0 {
		return
	}
	ids, sessions := []id.InboxItem{}, []id.Session{}
	for _, i := range items {
		ids = append(ids, i.ID)
	}
	first := items[0]
	told := map[string]any{
		"inboxItemIds": ids, "fields": append([]string{}, fields...), "trigger": r.Trigger, "removedBy": r.by(), "removedAt": r.At.UTC(),
	}
	if !first.Session.IsZero() {
		sessions = append(sessions, first.Session)
	}
	told["sessionIds"] = sessions
	if !first.Portal.IsZero() {
		told["portalId"] = first.Portal
	}
	event.Emit(tx, event.Draft{Type: event.VisitorDetailRemoved, At: r.At, Session: first.Session, Fields: told})
}
