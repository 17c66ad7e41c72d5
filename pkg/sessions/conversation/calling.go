package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/sessions/session"
)

// How a tool's use ended besides completed.
const (
	failed   = "failed"
	declined = "declined"
)

// maxResult bounds what a model is told of a tool's result, in bytes.
const maxResult = 8000

// otherCall is a tool that the client or a system was asked to use.
type otherCall struct {
	*toolCall
	since time.Time
}

// useTool does what a model asks for, and has it told what came of that. A tool that the
// visitor is to be asked about first ends the answer with that question.
func (c *Conversation) useTool(t *thought, call *toolCall) {
	t.used, call.by = true, t
	c.set(thinksTooLong, call.Within()+time.Duration(c.config.Persona.Model.TimeoutMs)*time.Millisecond+maxThinking)
	if call.Confirm == tool.Visitor && !call.allowed {
		c.askLeave(t, call)
		return
	}
	switch call.kind {
	case persona.LeadTool, persona.BookingTool:
		call.result <- toolResult{text: c.collect(call)}
	case persona.HandoffTool:
		c.used = append(c.used, c.requestHandoff())
		call.result <- toolResult{text: "A team member was asked to join, and may be here soon. Tell the person so, in one sentence."}
	case persona.EndSessionTool:
		c.used = append(c.used, c.use(call.kind, completed))
		s := c.speechOf(t)
		s.interruptible, t.ends = false, true
		s.afterwards = func() { c.stop(EndedByUser) }
		call.result <- toolResult{text: "The conversation ends after your next words. Say goodbye in one short sentence."}
	default:
		c.askOther(call)
	}
}

// collect keeps what a model collected, and tells it what came of that.
func (c *Conversation) collect(call *toolCall) string {
	values := map[string]string{}
	for name, value := range call.arguments {
		text := clean(fmt.Sprint(value))
		if text == "" {
			continue
		}
		if isPattern(name) {
			found, ok := valueOf(name, text, true)
			if !ok {
				return "Error: " + name + " is not valid. Ask the person for it again."
			}
			text = found
		}
		values[name] = truncateRunes(text, maxDetail)
	}
	c.goals.learn(values)
	had := c.outcome
	c.used = append(c.used, c.completed()...)
	c.noted("goal", c.config.Journal.Collected(c.ctx, maps.Clone(c.goals.values), c.outcome))
	switch {
	case !c.goals.contact():
		return "Noted, but nobody can be reached by that: ask for an e-mail address or a telephone number."
	case call.kind == booking && c.outcome != booking && !c.dated():
		return "Noted, but the date is missing: ask for it."
	case c.outcome == had:
		return "Noted, beside what was passed on before."
	}
	return "Noted and passed on. Tell the person so, in one sentence."
}

// askOther has the session's client use a tool, or a system of the organization's.
func (c *Conversation) askOther(call *toolCall) {
	if c.rehearsing {
		c.used = append(c.used, c.use(call.Name, completed))
		call.result <- toolResult{text: "In a rehearsal nothing is done. Go on as if it had succeeded."}
		return
	}
	key := uuid.NewString()
	c.calls[key] = otherCall{call, c.now()}
	c.use(call.Name, requested)
	if call.remote != nil {
		c.askRemote(call, key)
		return
	}
	c.send(FunctionCall{ID: key, Name: call.Name, Arguments: call.arguments})
}

// askRemote has a system of the organization's use a tool. What was begun is not broken off,
// since nobody could say whether it was done.
func (c *Conversation) askRemote(call *toolCall, key string) {
	ctx := context.WithoutCancel(c.ctx)
	c.running.Go(func() {
		within, cancel := context.WithTimeout(ctx, call.Within())
		defer cancel()
		answer, failure := "", "it failed"
		defer func() {
			if p := recover(); p != nil {
				c.log.Error("a tool panicked", "session", c.config.Session.ID, "tool", call.Name, "panic", p, "stack", string(debug.Stack()))
			}
			c.mail.put(item{do: func() { c.came(key, answer, failure) }})
		}()
		var err error
		if answer, err = call.remote.Use(within, call.arguments, key); err != nil {
			failure = err.Error()
		} else {
			failure = ""
		}
	})
}

// answered takes what the client says of a tool that it was asked to use.
func (c *Conversation) answered(m ClientMessage) {
	if call, waits := c.calls[m.Call]; waits && call.remote == nil {
		c.came(m.Call, string(m.Result), m.Failure)
	}
}

// came takes what came of a tool that somebody else was asked to use. One that nobody waits
// for any more has been given up.
func (c *Conversation) came(key, answer, failure string) {
	call, waits := c.calls[key]
	if !waits {
		return
	}
	delete(c.calls, key)
	status, result := completed, toolResult{text: truncate(answer, maxResult), informs: true}
	if failure != "" {
		status, result = failed, toolResult{text: "Error: " + truncate(failure, maxResult)}
	}
	c.finished(call, status)
	call.result <- result
}

// finished keeps how a tool went.
func (c *Conversation) finished(call otherCall, status string) {
	call.by.failed = status == failed
	use := c.use(call.Name, status)
	use.DurationMs = c.now().Sub(call.since).Milliseconds()
	c.used = append(c.used, use)
}

// giveUp waits no more for who was asked to use a tool, whose time is over.
func (c *Conversation) giveUp(call *toolCall) {
	for key, waiting := range c.calls {
		if waiting.toolCall == call {
			delete(c.calls, key)
			c.finished(waiting, failed)
		}
	}
}

// giveUpClient waits for no tool of the client's any more: whoever asked for it was
// interrupted. What a system was asked to do goes on.
func (c *Conversation) giveUpClient() {
	for _, call := range slices.Collect(maps.Values(c.calls)) {
		if call.remote == nil {
			c.giveUp(call.toolCall)
		}
	}
}

// askLeave asks the visitor whether a tool may be used, and ends the answer with it.
func (c *Conversation) askLeave(t *thought, call *toolCall) {
	c.unconfirmed = call
	s := c.speechOf(t)
	s.pending = append(s.pending,
		Piece{Text: call.told(), Retrieval: untold, ModelFirst: untold},
		Piece{Text: bookOf(c.language).confirm, Retrieval: untold, ModelFirst: untold})
	if !t.answered {
		t.answered, s.answers = true, true
		c.time(s, s.pending[0])
	}
	s.asking, s.act = true, ActClarify
	c.conclude(t)
}

// told says to the visitor what would be done.
func (t *toolCall) told() string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(t.arguments)) {
		text, ok := t.arguments[name].(string)
		if !ok {
			written, err := json.Marshal(t.arguments[name])
			if err != nil {
				continue
			}
			text = string(written)
		}
		values = append(values, strings.TrimRight(truncateRunes(clean(text), maxDetail), ".?! "))
	}
	told := strings.TrimRight(t.Title, ".?!: ")
	if len(values) > 0 {
		told += ": " + strings.Join(values, ", ")
	}
	return told + "."
}

// permitted reads the yes or no to the use of a tool. What is neither is another matter.
func (c *Conversation) permitted(means intent, text string) bool {
	call := c.unconfirmed
	c.unconfirmed = nil
	if call == nil || c.model == nil || means != sayYes && means != sayNo {
		return false
	}
	call.allowed = means == sayYes
	if !call.allowed {
		c.used = append(c.used, c.use(call.Name, declined))
	}
	c.considerAgain(text, call)
	return true
}

// takeUsed are the tools that were used since the last turn of the avatar's.
func (c *Conversation) takeUsed() []session.ToolCall {
	used := c.used
	c.used = nil
	return used
}
