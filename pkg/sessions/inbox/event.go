package inbox

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// platform is who changes what nobody asked for.
const platform = "system"

// draft is an event about the item, without what its row tells later (Sources).
func (i *Item) draft(t event.Type, at time.Time) event.Draft {
	fields := map[string]any{
		"inboxItemId": i.ID, "state": i.State, "language": i.Language, "createdAt": i.CreatedAt.UTC(), "updatedAt": i.UpdatedAt.UTC(),
	}
	if !i.Session.IsZero() {
		fields["sessionId"] = i.Session
	}
	if !i.Portal.IsZero() {
		fields["portalId"] = i.Portal
	}
	if !i.Widget.IsZero() {
		fields["widgetId"] = i.Widget
	}
	if !i.Persona.IsZero() {
		fields["personaId"] = i.Persona
	}
	if !i.Assignee.IsZero() {
		fields["assigneeId"] = i.Assignee
	}
	switch i.Kind {
	case Book:
		i.draftBooking(fields)
	case Lead:
		fields["leadBand"], fields["contactConsent"] = i.Band, i.Contact.agreed()
	case Handoff:
		fields["channel"], fields["urgency"], fields["department"], fields["requestedBy"] = i.Channel, i.Urgency, i.Department, i.RequestedBy
	}
	return event.Draft{Type: t, At: at, Session: i.Session, Fields: fields}
}

// tellNew emits that an item was opened.
func (i *Item) tellNew(tx *tenant.Tx) {
	t := map[Kind]event.Type{Lead: event.LeadCaptured, Book: event.BookingRequested, Handoff: event.HandoffRequested}[i.Kind]
	event.Emit(tx, i.draft(t, i.CreatedAt))
}

// draftBooking tells of a booking when it is and how far; the state is the booking's own.
func (i *Item) draftBooking(fields map[string]any) {
	fields["contactConsent"] = i.Contact.agreed()
	if b := i.Booking; b != nil {
		fields["bookingKind"], fields["startsAt"], fields["endsAt"] = b.Kind, b.StartsAt.UTC(), b.EndsAt.UTC()
		fields["timezone"], fields["state"] = b.Timezone, b.State
		if !b.Connection.IsZero() {
			fields["calendarConnectionId"] = b.Connection
		}
	}
}

// tellBooking emits that fields of a booking changed, which had a state before.
func (i *Item) tellBooking(tx *tenant.Tx, before BookingState, fields []string, by string) {
	d := i.draft(event.BookingUpdated, i.UpdatedAt)
	d.Fields["changedFields"], d.Fields["previousState"], d.Fields["changedBy"] = fields, before, by
	event.Emit(tx, d)
}

// tellChanged emits that fields of an item changed, whose state was one before.
func (i *Item) tellChanged(tx *tenant.Tx, before State, fields []string, by string) {
	t := event.LeadUpdated
	switch i.Kind {
	case Book: // whose state is the booking's, which is as before
		i.tellBooking(tx, i.Booking.State, fields, by)
		return
	case Handoff:
		t = event.HandoffUpdated
	case Lead:
	}
	d := i.draft(t, i.UpdatedAt)
	d.Fields["changedFields"], d.Fields["previousState"], d.Fields["changedBy"] = fields, before, by
	event.Emit(tx, d)
}

// Spoken says whether the words of a conversation may be sent, and how it is summed up. The
// error is errdefs.NotFound of the conversation.
type Spoken func(ctx context.Context, org id.Org, s id.Session) (told bool, summary *string, err error)

// types are the events that are about an item.
var types = []event.Type{
	event.LeadCaptured, event.LeadUpdated, event.BookingRequested, event.BookingUpdated, event.HandoffRequested, event.HandoffUpdated, event.HandoffJoined, event.HandoffLeft,
}

// Sources read how to reach the visitor and what they said from an item's row as it is now.
func Sources(t *tenant.Tenants, spoken Spoken) map[event.Type]event.Source {
	all := map[event.Type]event.Source{}
	for _, kind := range types {
		all[kind] = func(ctx context.Context, e event.Event, words bool) (event.Detail, error) {
			var names struct {
				Item *id.InboxItem `json:"inboxItemId"`
			}
			if err := json.Unmarshal(e.Structure, &names); err != nil || names.Item == nil {
				return event.Detail{}, err // a team member came to a conversation that left nothing
			}
			i, err := Get(ctx, t, e.Org, *names.Item)
			if errdefs.IsNotFound(err, Noun) {
				return event.Detail{Standing: event.Gone}, nil
			}
			if err != nil {
				return event.Detail{}, err
			}
			fields := map[string]any{}
			i.tellContact(fields)
			d := event.Detail{Fields: fields}
			if kind == event.HandoffJoined || kind == event.HandoffLeft {
				return d, nil
			}
			i.tellSource(fields)
			if !words {
				return d, nil
			}
			d.ByAvatar, err = i.tellWords(ctx, e.Org, fields, spoken)
			return d, err
		}
	}
	return all
}

func (i *Item) tellContact(fields map[string]any) {
	if i.Contact == nil {
		return
	}
	c := i.Contact
	fields["contact.name"], fields["contact.email"], fields["contact.phone"] = value(c.Name), value(c.Email), value(c.Phone)
	fields["contact.company"], fields["contact.preferredChannel"] = value(c.Company), value(c.PreferredChannel)
}

// tellSource tells of a lead where the visitor came from.
func (i *Item) tellSource(fields map[string]any) {
	if i.Kind != Lead {
		return
	}
	if i.Source.URL != nil {
		fields["sourceUrl"] = *i.Source.URL
	}
	if c := i.Source.Campaign; c != nil && c.Name != nil {
		fields["campaign"] = *c.Name
	}
}

// tellWords tells what the visitor said, where it may be sent; byAvatar says that the summary,
// which an avatar wrote, is there too.
func (i *Item) tellWords(ctx context.Context, org id.Org, fields map[string]any, spoken Spoken) (byAvatar bool, err error) {
	if !i.Session.IsZero() {
		told, summary, err := spoken(ctx, org, i.Session)
		if err != nil || !told {
			return false, err
		}
		if summary != nil && i.ForgottenAt == nil {
			fields["summary"], byAvatar = *summary, true
		}
	}
	if i.Kind == Handoff {
		fields["reason"] = value(i.Words.Reason)
		return byAvatar, nil
	}
	fields["need"] = value(i.Words.Need)
	if i.Kind == Book {
		fields["reason"] = value(i.Words.Reason)
	} else {
		fields["budget"], fields["timeline"] = value(i.Words.Budget), value(i.Words.Timeline)
	}
	if i.ForgottenAt == nil { // null is of what is held back, and an empty list of no answers
		fields["answers"] = append([]Answer{}, i.Words.Answers...)
	}
	return byAvatar, nil
}

// value is a text, or nil.
func value(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}
