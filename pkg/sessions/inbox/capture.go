package inbox

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Origin is the conversation that an item comes of.
type Origin struct {
	Session           id.Session
	Portal            id.Portal
	Widget            id.Widget
	Persona           id.Persona
	Channel, Language string
	// Source is where the visitor came from.
	Source Source
}

// Left is what a visitor left in a conversation.
type Left struct {
	Kind    Kind
	Contact Contact
	Words   Words
	// RequestedBy is who asked for a person: visitor, avatar or rule; empty where nobody did, and
	// there is only more to tell whoever was asked for.
	RequestedBy string
	// Wanted is the time of a booking; nil where it has one.
	Wanted *Wanted
}

// Capture keeps what a visitor left. A conversation has one item of a kind: what is told again
// changes nothing, and what is new is added to it. The caller holds the conversation's row.
func Capture(ctx context.Context, tx *tenant.Tx, o Origin, l Left, at time.Time) error {
	i, err := lockKind(ctx, tx, o.Session, l.Kind)
	if err != nil {
		return err
	}
	if i != nil {
		return i.add(ctx, tx, l, at)
	}
	if l.Kind == Handoff && l.RequestedBy == "" || l.Kind == Book && l.Wanted == nil {
		return nil
	}
	i = &Item{
		ID: id.InboxItemAt(at), Kind: l.Kind, State: New, Portal: o.Portal, Widget: o.Widget, Persona: o.Persona, Session: o.Session,
		Channel: &o.Channel, Language: o.Language, Contact: &l.Contact, Words: l.Words, Source: o.Source, Urgency: NormalUrgency, CreatedAt: at, UpdatedAt: at,
	}
	if l.Kind == Handoff {
		i.RequestedBy, i.WaitingSince = &l.RequestedBy, &at
	}
	if l.Wanted != nil {
		if err := i.reserve(ctx, tx, *l.Wanted, activity.Actor{By: platform, At: at}); err != nil {
			return err
		}
	}
	i.score()
	if err := i.insert(ctx, tx); err != nil {
		return err
	}
	i.tellNew(tx)
	switch i.Kind {
	case Book:
		return i.invite(ctx, tx, platform, at)
	case Handoff:
		return i.callTeam(ctx, tx, false, at)
	case Lead:
	}
	return nil
}

// add takes what was left since. Who asks for a person again, while none is there, has the team called again.
func (i *Item) add(ctx context.Context, tx *tenant.Tx, l Left, at time.Time) error {
	if i.ForgottenAt != nil {
		return nil
	}
	if l.RequestedBy == "" || i.State == Spam {
		return i.update(ctx, tx, l, false, at)
	}
	attended, err := i.attended(ctx, tx)
	if err != nil {
		return err
	}
	came := i.JoinedAt != nil
	if err := i.update(ctx, tx, l, !attended, at); err != nil || attended {
		return err
	}
	return i.callTeam(ctx, tx, came, at)
}

// attended says whether one of the team is in the conversation who can talk in it. It rides session_staff_pkey.
func (i *Item) attended(ctx context.Context, tx *tenant.Tx) (yes bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM session_staff WHERE org_id = $1 AND session_id = $2 AND joined_at IS NOT NULL AND left_at IS NULL
			AND COALESCE(NULLIF(most, ''), mode) <> 'listen')`, tx.Org, i.Session).Scan(&yes)
	return yes, err
}

// update writes what was left since; waits says that a person is asked for while none is there.
func (i *Item) update(ctx context.Context, tx *tenant.Tx, l Left, waits bool, at time.Time) error {
	before, was, address := i.State, i.Booking, i.Contact.Email
	changed := i.take(l, waits, at)
	rewanted, err := i.rewant(ctx, tx, l.Wanted, activity.Actor{By: platform, At: at})
	if err != nil {
		return err
	}
	if rewanted {
		changed = append(changed, "booking.startsAt", "booking.endsAt", "booking.state")
	}
	if len(changed) == 0 {
		return nil
	}
	if was != nil {
		return i.addToBooking(ctx, tx, *was, changed, rewanted, !same(address, i.Contact.Email), at)
	}
	if err := i.settle(ctx, tx, before, Updated, "", at, func() { i.tellChanged(tx, before, changed, platform) }); err != nil {
		return err
	}
	return i.enterTerms(ctx, tx)
}

// take takes what of a visitor is new, and answers its names; waits says that they wait for a person anew.
func (i *Item) take(l Left, waits bool, at time.Time) []string {
	band := i.Band
	changed := slices.Concat(i.Contact.take(l.Contact), i.Words.take(l.Words))
	if i.score(); band != nil && *i.Band != *band {
		changed = append(changed, "leadBand")
	}
	if waits && (!i.State.Active() || i.State == Snoozed || i.JoinedAt != nil) {
		i.State, i.WaitingSince, i.JoinedAt, i.Staff, i.SnoozedUntil = Open, &at, nil, id.Staff{}, nil
		changed = append(changed, "state")
	}
	return changed
}

// addToBooking writes what was left since of a booking, which goes out again where it is another
// time, or where somebody is reached elsewhere than before.
func (i *Item) addToBooking(ctx context.Context, tx *tenant.Tx, was Booking, fields []string, rewanted, readdressed bool, at time.Time) error {
	state := i.State
	readdressed = readdressed && i.Booking.State.Holds()
	if readdressed && !rewanted { // else the sequence counts it already
		b := was
		b.Sequence++
		i.Booking = &b
	}
	if err := i.settle(ctx, tx, state, Updated, "", at, func() { i.tellBooking(tx, was.State, fields, platform) }); err != nil {
		return err
	}
	if rewanted {
		activity.Actor{By: platform, At: at}.Log(tx, "inbox_item.updated", "inbox_item", i.ID, map[string]any{"fields": fields, "booking": i.Booking.State})
	}
	if rewanted || readdressed {
		if err := i.invite(ctx, tx, platform, at); err != nil {
			return err
		}
	}
	return i.enterTerms(ctx, tx)
}

// field is a text of an item with its name.
type field struct {
	name string
	now  **string
	next *string
}

// take takes those of some texts that are new, and answers their names.
func take(fields []field) (changed []string) {
	for _, f := range fields {
		if f.next != nil && (*f.now == nil || **f.now != *f.next) {
			*f.now = f.next
			changed = append(changed, f.name)
		}
	}
	return changed
}

func (c *Contact) take(n Contact) []string {
	changed := take([]field{
		{"contact.name", &c.Name, n.Name}, {"contact.email", &c.Email, n.Email}, {"contact.phone", &c.Phone, n.Phone},
		{"contact.company", &c.Company, n.Company}, {"contact.jobTitle", &c.JobTitle, n.JobTitle},
	})
	if c.Consent == nil && n.Consent != nil {
		c.Consent = n.Consent
		changed = append(changed, "contactConsent")
	}
	return changed
}

func (w *Words) take(n Words) []string {
	changed := take([]field{{"need", &w.Need, n.Need}, {"budget", &w.Budget, n.Budget}, {"timeline", &w.Timeline, n.Timeline}})
	if w.Reason == nil && n.Reason != nil {
		w.Reason = n.Reason
		changed = append(changed, "reason")
	}
	if len(n.Answers) > 0 && !slices.Equal(w.Answers, n.Answers) {
		w.Answers = n.Answers
		changed = append(changed, "answers")
	}
	return changed
}

// Enter enters a lead that the organization has from elsewhere, or a booking where a time is wanted.
// The error is of slot.Reserve.
func Enter(ctx context.Context, tx *tenant.Tx, i Item, w *Wanted, who activity.Actor) (Item, error) {
	i.ID, i.Kind, i.State, i.CreatedAt, i.UpdatedAt = id.InboxItemAt(who.At), Lead, New, who.At, who.At
	if w != nil {
		i.Kind = Book
		if err := i.reserve(ctx, tx, *w, who); err != nil {
			return i, err
		}
	}
	i.Chosen = i.Band != nil
	i.score()
	if err := i.insert(ctx, tx); err != nil {
		return i, err
	}
	i.tellNew(tx)
	who.Log(tx, "inbox_item.created", "inbox_item", i.ID, map[string]any{"kind": i.Kind})
	if i.Kind == Book {
		return i, i.invite(ctx, tx, who.By, who.At)
	}
	return i, nil
}
