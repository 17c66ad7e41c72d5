package conversation

import (
	"encoding/json"
	"errors"
	"slices"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/provider/model"
)

// offer is a tool that a model may ask for.
type offer struct {
	tool.Tool
	kind   string
	schema *tool.Schema
	// remote is nil for what the conversation or its client does.
	remote *Remote
}

// maxOffers is how many tools a model is offered.
const maxOffers = 40

// offers are the persona's tools as a model may ask for them, each name once.
func (c *Conversation) offers() []*offer {
	var all []*offer
	add := func(o *offer, err error) {
		if err == nil {
			o.schema, err = tool.Compile(o.Parameters)
		}
		switch {
		case err != nil:
		case slices.ContainsFunc(all, func(had *offer) bool { return had.Name == o.Name }):
			err = errors.New("another tool has its name")
		case len(all) == maxOffers:
			err = errors.New("there are too many")
		default:
			all = append(all, o)
			return
		}
		c.log.Warn("a tool of the persona cannot be offered to its model", "session", c.config.Session.ID, "kind", o.kind, "tool", o.Name, "error", err)
	}
	for _, t := range c.config.Persona.Tools {
		if t.Enabled && t.ConnectionID == nil {
			described, err := c.describe(t)
			add(&offer{Tool: described, kind: t.Kind}, err)
		}
	}
	for i := range c.config.Remotes {
		r := &c.config.Remotes[i]
		add(&offer{Tool: r.Tool, kind: remoteTool, remote: r}, nil)
	}
	return all
}

// remoteTool is the kind of tools of the organization's systems.
const remoteTool = "remote"

// describe tells a model what a tool does.
func (c *Conversation) describe(t persona.Tool) (tool.Tool, error) {
	switch t.Kind {
	case persona.LeadTool:
		return tool.Tool{
			Name: t.Kind, Parameters: c.details(),
			Description: "Passes on how the person can be reached, and what they want. Use it once they gave an e-mail address or a telephone number and want to be contacted; never with details that they did not give.",
		}, nil
	case persona.BookingTool:
		if c.books() {
			return tool.Tool{
				Name: t.Kind, Title: bookOf(c.language).reach, Parameters: c.bookingSchema(),
				Description: "Books an appointment for the person. Use it without arguments to learn which times are free. Use it with startsAt, one of those " +
					"times exactly as it was written, and with how the person can be reached, once they chose it.",
			}, nil
		}
		return tool.Tool{
			Name: t.Kind, Parameters: c.details(),
			Description: "Requests an appointment or a booking for the person, which a team member confirms later. Use it once they said what they want to book, when, and how they can be reached.",
		}, nil
	case persona.HandoffTool:
		return tool.Tool{
			Name: t.Kind, Parameters: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			Description: "Asks a team member to join the conversation. Use it where the person wants to talk with a human, or needs one.",
		}, nil
	case persona.EndSessionTool:
		return tool.Tool{
			Name: t.Kind, Parameters: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			Description: "Ends the conversation after your next words. Use it only where the person takes their leave.",
		}, nil
	}
	return tool.Read(t.Config)
}

// usualDetails are what is asked for where the persona has no goals of its own.
var usualDetails = []string{"name", "email", "phone", "date", "message"}

// maxDetail bounds a detail, in characters.
const maxDetail = 500

// details is the schema of what the goals want to know.
func (c *Conversation) details() json.RawMessage {
	var names []string
	own := false
	for _, goal := range c.config.Persona.Goals {
		if answerOf(&goal) != "" {
			continue // the answer to a question is what the user said to it, and no model's to tell
		}
		own = true
		if goal.Confirm != "manual" { // the conversation asks for those, and repeats them
			names = append(names, goal.Outputs...)
		}
	}
	if !own {
		names = usualDetails
	}
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]any{"type": "string", "maxLength": maxDetail}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1})
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return schema
}

// toolsOf are offers as a model takes them.
func toolsOf(offers []*offer) []model.Tool {
	out := make([]model.Tool, len(offers))
	for i, o := range offers {
		out[i] = model.Tool{Name: o.Name, Description: o.Description, Parameters: o.Parameters}
	}
	return out
}

// toolCall is a tool that a model asked for.
type toolCall struct {
	*offer
	asked     model.ToolCall
	arguments map[string]any
	// by is the thought that it serves.
	by *thought
	// askedIn is the turn in which the visitor was asked about it.
	askedIn id.Turn
	// allowed says that the visitor was asked, where they are to be.
	allowed bool
	// result is told once, by the conversation.
	result chan toolResult
}

// toolResult is what the model is told of a call.
type toolResult struct {
	text   string
	source resultSource
}

// resultSource says who answers for a result.
type resultSource int

// The sources: the conversation itself, whose results state nothing of the world; the client,
// which is the visitor's; and a system of the organization's, on which an answer may rest.
const (
	fromConversation resultSource = iota
	fromClient
	fromSystem
)

// read finds the tool that a model asks for, and checks the arguments. The text tells the
// model why that cannot be; empty when it can.
func read(offers []*offer, asked model.ToolCall) (call *toolCall, wrong string) {
	i := slices.IndexFunc(offers, func(o *offer) bool { return o.Name == asked.Name })
	if i < 0 {
		return nil, "Error: there is no tool of this name."
	}
	arguments, err := offers[i].schema.Arguments(asked.Arguments)
	if err != nil {
		return nil, "Error: " + err.Error() + "."
	}
	return &toolCall{offer: offers[i], asked: asked, arguments: arguments, result: make(chan toolResult, 1)}, ""
}
