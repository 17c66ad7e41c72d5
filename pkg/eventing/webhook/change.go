package webhook

import (
	"errors"
	"fmt"
	"slices"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// Change is what to change of a webhook; nil fields stay as they are.
type Change struct {
	URL *string
	// Description is the new one, and nil in it for none.
	Description **string
	// Events is the new list.
	Events              *[]string
	IncludeConversation *bool
	// Active resumes the webhook or switches it off (spec, Webhook activity).
	Active     *bool
	APIVersion *contract.Version
}

// Circumstances are what a change depends on besides the webhook.
type Circumstances struct {
	// ReadsTranscripts says that whoever asks holds transcripts:read.
	ReadsTranscripts bool
	// ZeroRetention says that the organization keeps no words.
	ZeroRetention bool
}

// Why a change is refused, besides [EventError].
var (
	// ErrNeedsTranscripts says that only who reads transcripts may do that to
	// a webhook that receives conversation words.
	ErrNeedsTranscripts = errors.New("a webhook that receives conversation words needs transcripts:read for this")
	// ErrZeroRetention says that the organization keeps no words to send.
	ErrZeroRetention = errors.New("zero data retention is on")
)

// EventError says which item of an events list cannot be had.
type EventError struct {
	Index int
	// NeedsConversation says that the type is sent only with conversation
	// words. Otherwise there is no such type.
	NeedsConversation bool
}

func (e *EventError) Error() string {
	if e.NeedsConversation {
		return fmt.Sprintf("event %d is sent only with includeConversation", e.Index)
	}
	return fmt.Sprintf("event %d is not an event type", e.Index)
}

// Apply answers the webhook as a change makes it and what became different of
// it, by field name; a webhook to be created is a change of an empty one. The
// error is an EventError, ErrNeedsTranscripts or ErrZeroRetention (spec,
// Webhooks, Rules; Webhook activity).
func (w Webhook) Apply(c Change, in Circumstances) (Webhook, map[string]any, error) {
	after := c.on(w)
	changes := w.differences(after)
	if c.Events != nil {
		if err := checkEvents(*c.Events, after.IncludeConversation); err != nil {
			return w, nil, err
		}
	}
	asked := c.IncludeConversation != nil && *c.IncludeConversation
	switch {
	case !after.IncludeConversation:
	case (asked || w.redirected(after)) && !in.ReadsTranscripts:
		return w, nil, ErrNeedsTranscripts
	case (asked || len(changes) > 0) && in.ZeroRetention:
		return w, nil, ErrZeroRetention
	}
	return after, changes, nil
}

// on makes the change, whether it may be made or not.
func (c Change) on(w Webhook) Webhook {
	set(&w.URL, c.URL)
	set(&w.Description, c.Description)
	set(&w.IncludeConversation, c.IncludeConversation)
	set(&w.APIVersion, c.APIVersion)
	if c.Events != nil {
		w.Events = once(*c.Events)
	}
	switch {
	case c.Active == nil || *c.Active == w.Active:
	case *c.Active:
		w = w.Resumed()
	default:
		w.Active = false
	}
	return w
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// once is the items of a list, each in its first place.
func once(list []string) []string {
	kept := make([]string, 0, len(list))
	for _, item := range list {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// redirected says whether conversation words would go to another place, in
// another form, to more types of event, or again (spec, Webhook activity).
func (w Webhook) redirected(after Webhook) bool {
	return w.URL != after.URL || !slices.Equal(w.Events, after.Events) || w.APIVersion != after.APIVersion ||
		!w.Active && after.Active
}

// differences are the values that became different, fit to be written down.
func (w Webhook) differences(after Webhook) map[string]any {
	changes := map[string]any{}
	note := func(name string, different bool, value any) {
		if different {
			changes[name] = value
		}
	}
	note("url", w.URL != after.URL, Place(after.URL))
	note("description", !equal(w.Description, after.Description), after.Description)
	note("events", !slices.Equal(w.Events, after.Events), after.Events)
	note("includeConversation", w.IncludeConversation != after.IncludeConversation, after.IncludeConversation)
	note("active", w.Active != after.Active, after.Active)
	note("apiVersion", w.APIVersion != after.APIVersion, after.APIVersion)
	return changes
}

func equal(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// checkEvents refuses items that are no event types, and those sent only with
// conversation words where there are none.
func checkEvents(events []string, conversation bool) error {
	for i, name := range events {
		kind, known := event.Find(event.Type(name))
		switch {
		case !known && name != event.Any:
			return &EventError{Index: i}
		case known && kind.RequiresConversation && !conversation:
			return &EventError{Index: i, NeedsConversation: true}
		}
	}
	return nil
}
