package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/sessions/inbox"
)

// Diary has the times that the persona's tool booking offers.
type Diary interface {
	// Free are the next times that can be booked, and the one that the visitor has booked.
	Free(ctx context.Context) (Times, error)
	// Book books one for the visitor, whose item it is. Another one of the same conversation takes
	// the place of the first. The error is ErrTaken, ErrLost, or one that may pass.
	Book(ctx context.Context, l inbox.Left, at time.Time) error
}

// Times are times of a schedule.
type Times struct {
	// Own is what this conversation has booked already; nil for none.
	Own *FreeTime
	// Free are others that can be booked, in order.
	Free []FreeTime
	// Zone is that of the schedule; nil for UTC.
	Zone *time.Location
}

// named finds a time by how it is said.
func (t Times) named(said string) (FreeTime, bool) {
	if t.Own != nil && t.Own.Said == said {
		return *t.Own, true
	}
	at := slices.IndexFunc(t.Free, func(f FreeTime) bool { return f.Said == said })
	if at < 0 {
		return FreeTime{}, false
	}
	return t.Free[at], true
}

// FreeTime is a time that can be booked, and how it is said: its date and hour on the clocks of the
// schedule's zone.
type FreeTime struct {
	StartsAt time.Time
	Said     string
}

// ErrTaken says that a time is free no more, or never was.
var ErrTaken = errors.New("the time is not free")

// startsAt is the argument of the tool for the time that the person chose.
const startsAt = "startsAt"

// books says whether the tool booking books times itself, and does not only pass on who wants one.
func (c *Conversation) books() bool { return c.config.Diary != nil && c.enabled(booking) }

// bookingSchema is the schema of the tool's arguments: what the goals want to know, and the time.
func (c *Conversation) bookingSchema() json.RawMessage {
	var schema struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
		Additional bool           `json:"additionalProperties"`
	}
	if err := json.Unmarshal(c.details(), &schema); err != nil {
		panic(err) // it was made here
	}
	schema.Properties[startsAt] = map[string]any{"type": "string", "maxLength": maxDetail}
	made, err := json.Marshal(schema)
	if err != nil {
		panic(err) // likewise
	}
	return made
}

// bookTime does what a model asks for of the schedule: without a time it is told which are free, and
// with one that the person said yes to that is booked.
func (c *Conversation) bookTime(t *thought, call *toolCall) {
	chosen, _ := call.arguments[startsAt].(string)
	if chosen == "" {
		call.result <- toolResult{text: c.freeTimes(""), source: fromSystem}
		return
	}
	if !call.allowed {
		c.askLeave(t, call)
		return
	}
	call.result <- toolResult{text: c.bookChosen(call, chosen), source: fromSystem}
}

// freeTimes tells a model which times are free, after what went wrong.
func (c *Conversation) freeTimes(wrong string) string {
	of, err := c.config.Diary.Free(c.ctx)
	if err != nil {
		c.noted("look into the schedule", err)
		return wrong + "Error: the schedule cannot be read now."
	}
	switch {
	case of.Own != nil:
		wrong += "The person has booked " + of.Own.Said + ", which another choice would replace. "
	case wrong != "":
		wrong += "Nothing is booked. "
	}
	if len(of.Free) == 0 {
		return wrong + "No time is free. Tell the person so."
	}
	said := make([]string, len(of.Free))
	for i, f := range of.Free {
		said[i] = f.Said
	}
	return wrong + "Free times: " + strings.Join(said, "; ") + ". Offer two or three of them in the person's own language. " +
		"When they chose one and said how they can be reached, use this tool with startsAt exactly as it is written here."
}

// bookChosen books the time that the person said yes to.
func (c *Conversation) bookChosen(call *toolCall, chosen string) string {
	details := *call
	details.arguments = maps.Clone(call.arguments)
	delete(details.arguments, startsAt)
	values, wrong := c.given(&details)
	if wrong != "" {
		return wrong
	}
	if reaches(values) {
		c.agree(call.Title)
	}
	c.goals.learn(values)
	if !c.goals.contact() {
		return "Nothing is booked yet: ask for an e-mail address or a telephone number first."
	}
	of, err := c.config.Diary.Free(c.ctx)
	if err != nil {
		c.noted("look into the schedule", err)
		return "Error: the schedule cannot be read now. Nothing was changed."
	}
	wanted, found := of.named(chosen)
	if !found {
		return c.freeTimes("Error: that time is not free. ")
	}
	err = c.reserve(wanted.StartsAt)
	switch {
	case errors.Is(err, ErrTaken):
		return c.freeTimes("Error: that time has just been taken. ")
	case err != nil:
		c.noted("booking", err)
		return "Error: it is not known whether the time is booked. Tell the person so. To find out, use this tool with the same time again."
	}
	c.record(c.use(booking, completed), call.arguments)
	return "Booked: " + chosen + ". Tell the person so, with the date and the time. Where they gave an e-mail address, they get an invitation by mail."
}
