package inbox

import (
	"context"
	"maps"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// SnoozeWithin is for how long something can be put off at most.
const SnoozeWithin = 366 * 24 * time.Hour

// become says whether an item of a kind may go from one state to another by somebody's word.
// What is over is opened again before it is anything else.
func become(k Kind, from, to State) bool {
	switch {
	case from == to:
		return true
	case from == Forgotten, to == New, to == Forgotten:
		return false
	case to == Won || to == Lost:
		return k == Lead && from.Active()
	case from.Active():
		return true
	}
	return to == Open
}

// check says whether an item that was before may be as it is now.
func (i *Item) check(before *Item, now time.Time) error {
	if before.ForgottenAt != nil {
		return i.conflict(ReasonForgotten, "The visitor was forgotten, so the item stays as it is.")
	}
	if !become(i.Kind, before.State, i.State) {
		return &errdefs.Conflict{
			Noun: Noun, ID: i.ID.String(), Reason: ReasonTransition,
			Message: "A " + string(i.Kind) + " does not go from " + string(before.State) + " to " + string(i.State) + ".",
			Details: map[string]any{"state": before.State},
		}
	}
	if i.Kind != Lead && i.Band != nil {
		return errdefs.InvalidField("leadBand", "is of leads alone")
	}
	if due := i.SLADueAt; due != nil && !sameTime(due, before.SLADueAt) && (!due.After(now) || due.After(now.Add(DueWithin))) {
		return errdefs.InvalidField("slaDueAt", "must lie ahead, by a year at most")
	}
	if i.State == Snoozed {
		switch until := i.SnoozedUntil; {
		case until == nil: // until somebody opens it
		case sameTime(until, before.SnoozedUntil):
		case !until.After(now), until.After(now.Add(SnoozeWithin)):
			return errdefs.InvalidField("snoozedUntil", "must lie ahead, by a year at most")
		}
	}
	return nil
}

// changed are the names of what differs between two of an item.
func (i *Item) changed(before *Item) (names []string) {
	note := func(name string, same bool) {
		if !same {
			names = append(names, name)
		}
	}
	note("state", i.State == before.State)
	note("assigneeId", i.Assignee == before.Assignee)
	note("urgency", i.Urgency == before.Urgency)
	note("department", same(i.Department, before.Department))
	note("leadBand", same(i.Band, before.Band))
	note("tags", slices.Equal(i.Tags, before.Tags))
	note("snoozedUntil", sameTime(i.SnoozedUntil, before.SnoozedUntil))
	note("slaDueAt", sameTime(i.SLADueAt, before.SLADueAt))
	note("externalId", same(i.ExternalID, before.ExternalID))
	note("metadata", maps.Equal(i.Metadata, before.Metadata))
	return names
}

func sameTime(a, b *time.Time) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(*b)) }

func same[T comparable](a, b *T) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// Change makes of an item that is locked what it is to be: its state, assignee, urgency,
// department, band, tags, external id, metadata, when it is due and until when it is put off. Who names the last
// without a state puts it off. The error is an errdefs.Conflict or an errdefs.Invalid.
func Change(ctx context.Context, tx *tenant.Tx, before, after Item, who activity.Actor) (Item, error) {
	put := after.SnoozedUntil != nil && !sameTime(after.SnoozedUntil, before.SnoozedUntil)
	switch {
	case put && after.State == before.State && after.State.Active():
		after.State = Snoozed
	case after.State != Snoozed && put:
		return before, errdefs.InvalidField("snoozedUntil", "is of items that are put off")
	case after.State != Snoozed:
		after.SnoozedUntil = nil
	}
	if !same(after.Band, before.Band) {
		after.Chosen = true
	}
	if !sameTime(after.SLADueAt, before.SLADueAt) {
		after.dueAt(after.SLADueAt, who.At)
	}
	if err := after.check(&before, who.At); err != nil {
		return before, err
	}
	after.followState(before.State, who.At)
	fields := after.changed(&before)
	if len(fields) == 0 {
		return before, nil
	}
	who.Log(tx, "inbox_item.updated", "inbox_item", after.ID, map[string]any{"fields": fields, "state": after.State})
	if err := after.settle(ctx, tx, before.State, Updated, "", who.At, func() { after.tellChanged(tx, before.State, fields, who.By) }); err != nil {
		return before, err
	}
	return after, after.enterTerms(ctx, tx)
}
