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
	"unicode/utf8"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
)

// How a tool's use ended besides completed. One of which nobody knows stays requested.
const (
	failed   = "failed"
	declined = "declined"
)

const (
	// maxResult bounds what a model is told of a tool's result, in bytes.
	maxResult = 8000
	// maxTold bounds a value that the visitor is asked about, in characters.
	maxTold = 200
	// maxUses is how many uses of tools a model is told of.
	maxUses = 20
)

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
	case persona.BookingTool:
		if c.books() {
			c.bookTime(t, call)
			return
		}
		c.passOn(t, call)
	case persona.LeadTool:
		c.passOn(t, call)
	case persona.HandoffTool:
		call.result <- toolResult{text: c.handOffOnce(t)}
	case persona.EndSessionTool:
		t.ends = true
		call.result <- toolResult{text: "The conversation ends after your next words. Say goodbye in one short sentence."}
	default:
		c.askOther(call)
	}
}

// handOffOnce asks a team member to join, once in an answer.
func (c *Conversation) handOffOnce(t *thought) string {
	if !t.handedOff {
		t.handedOff = true
		c.record(c.requestHandoff(inbox.ByAvatar), nil)
	}
	return "A team member was asked to join, and may be here soon. Tell the person so, in one sentence."
}

// record notes that a tool was used, for the transcript and for the model's next answers.
func (c *Conversation) record(use session.ToolCall, arguments map[string]any) {
	c.used = append(c.used, use)
	told := use.Name
	if text, err := json.Marshal(arguments); err == nil && len(arguments) > 0 {
		told += " " + truncate(string(text), maxTold)
	}
	c.recall(told + ": " + use.Status)
}

// recall has the model told of a use, in this process or in one that held the conversation
// before.
func (c *Conversation) recall(use string) {
	if len(c.uses) == maxUses {
		c.uses = append(c.uses[:0], c.uses[1:]...)
	}
	c.uses = append(c.uses, use)
}

// collect keeps what a model collected, and tells it what came of that. How somebody can be
// reached is only what they said.
func (c *Conversation) collect(call *toolCall) string {
	values, wrong := c.given(call)
	if wrong != "" {
		return wrong
	}
	if call.allowed && reaches(values) {
		c.agree(call.Title)
	}
	c.goals.learn(values)
	had := c.outcome
	for _, use := range c.completed() {
		c.record(use, call.arguments)
	}
	c.noted("goal", c.config.Journal.Collected(c.ctx, c.found(c.leftLead()...)))
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

// given reads the details that a model collected; wrong tells it what is not as it must be.
func (c *Conversation) given(call *toolCall) (values map[string]string, wrong string) {
	values = map[string]string{}
	for name, value := range call.arguments {
		text := clean(fmt.Sprint(value))
		if text == "" {
			continue
		}
		if strings.HasPrefix(name, session.AnswerTo) {
			return nil, "Error: " + name + " is what the person says to a question. Nobody says it for them."
		}
		if isPattern(name) {
			found, ok := valueOf(name, text, true)
			if !ok {
				return nil, "Error: " + name + " is not valid. Ask the person for it again."
			}
			text = found
		}
		if kind := patternOf(name); (kind == "email" || kind == "phone") && !c.wasSaid(kind, text) {
			return nil, "Error: the person did not say this " + name + ". Ask them for it."
		}
		values[name] = truncateRunes(text, maxDetail)
	}
	return values, ""
}

// wasSaid says whether an address or a telephone number is one that the visitor gave, or that
// was known of them before.
func (c *Conversation) wasSaid(kind, value string) bool {
	texts := append(slices.Clone(c.unanswered), c.context)
	for i := range c.turns {
		if c.turns[i].Speaker == session.User {
			texts = append(texts, c.turns[i].Text)
		}
	}
	said := strings.Join(slices.AppendSeq(texts, maps.Values(c.goals.values)), " ")
	if kind == "phone" {
		return strings.Contains(dialed(said), strings.Trim(dialed(value), "|"))
	}
	return strings.Contains(strings.ToLower(said), strings.ToLower(value))
}

// askOther has the session's client use a tool, or a system of the organization's.
func (c *Conversation) askOther(call *toolCall) {
	if c.rehearsing {
		c.record(c.use(call.Name, completed), call.arguments)
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
	switch {
	case failure != "":
		c.finished(call, failed)
		call.result <- toolResult{text: "Error: " + truncate(failure, maxResult)}
	case len(answer) > maxResult:
		c.finished(call, completed)
		call.result <- toolResult{text: "It was done, but what it answered is too long to be told."}
	default:
		c.finished(call, completed)
		call.result <- toolResult{text: answer, source: call.source()}
	}
}

// source says who answers for what a tool says.
func (t *toolCall) source() resultSource {
	if t.remote != nil {
		return fromSystem
	}
	return fromClient
}

// finished keeps how a tool went.
func (c *Conversation) finished(call otherCall, status string) {
	call.by.failed = status == failed
	use := c.use(call.Name, status)
	use.DurationMs = c.now().Sub(call.since).Milliseconds()
	c.record(use, call.arguments)
}

// giveUp waits no more for who was asked to use a tool.
func (c *Conversation) giveUp(call *toolCall, status string) {
	for key, waiting := range c.calls {
		if waiting.toolCall == call {
			delete(c.calls, key)
			c.finished(waiting, status)
		}
	}
}

// giveUpClient waits for no tool of the client's any more: whoever asked for it was
// interrupted, and nobody knows what was done. What a system was asked to do goes on.
func (c *Conversation) giveUpClient() {
	for _, call := range slices.Collect(maps.Values(c.calls)) {
		if call.remote == nil {
			c.giveUp(call.toolCall, requested)
		}
	}
}

// askLeave asks the visitor whether a tool may be used, and ends the answer with it. What is
// asked holds the model's words, so the same rules are kept as for what it says.
func (c *Conversation) askLeave(t *thought, call *toolCall) {
	told, ok := call.told()
	if !ok || claimsHumanity(told) || matching(c.rules, c.language, told) != nil {
		call.result <- toolResult{text: "Error: the person cannot be asked about these arguments. Use fewer and shorter ones."}
		return
	}
	t.ends = false
	s := c.speechOf(t)
	call.askedIn = s.turn.ID
	c.unconfirmed = call
	s.pending = append(s.pending,
		Piece{Text: told, Retrieval: untold, ModelFirst: untold},
		Piece{Text: bookOf(c.language).confirm, Retrieval: untold, ModelFirst: untold})
	if !t.answered {
		t.answered, s.answers = true, true
		c.time(s, s.pending[0])
	}
	// One host says what would be done and asks whether it may be: the visitor's answer is to that turn.
	s.asking, s.act, s.kind = true, ActClarify, ofQuestion
	c.conclude(t)
}

// told says to the visitor what would be done, with every argument by its name; false where
// that is too long to be said.
func (t *toolCall) told() (text string, ok bool) {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(t.arguments)) {
		value, isText := t.arguments[name].(string)
		if !isText {
			written, err := json.Marshal(t.arguments[name])
			if err != nil {
				return "", false
			}
			value = string(written)
		}
		if utf8.RuneCountInString(value) > maxTold {
			return "", false
		}
		values = append(values, strings.NewReplacer("_", " ", "-", " ").Replace(name)+" "+strings.TrimRight(clean(value), ".?! "))
	}
	told := strings.TrimRight(t.Title, ".?!: ")
	if len(values) > 0 {
		told += ": " + strings.Join(values, ", ")
	}
	return told + ".", utf8.RuneCountInString(told) <= 3*maxTold
}

// permitted reads the yes or no to the use of a tool, which is the next that the visitor says
// to that question. What is neither is another matter, and the tool is not used.
func (c *Conversation) permitted(means intent, text string) bool {
	call := c.unconfirmed
	c.unconfirmed = nil
	if call == nil || c.model == nil || !c.repliesTo(call.askedIn) {
		return false
	}
	switch {
	case means == sayYes && affirms(c.language, text):
		call.allowed = true
		c.considerAgain(text, call)
		return true
	case means == sayNo:
		c.record(c.use(call.Name, declined), call.arguments)
		s := c.reply(c.ownOrigin(), answer.Say(c.language, "okay"))
		s.act, s.answers = ActAcknowledge, true
		c.speak(s)
		return true
	}
	return false
}

// repliesTo says whether all that was said after a turn of the avatar's is the visitor's one
// reply, and the turn was heard to its end.
func (c *Conversation) repliesTo(turn id.Turn) bool {
	n := len(c.turns)
	return n >= 2 && len(c.unanswered) == 1 && c.turns[n-1].Speaker == session.User &&
		c.turns[n-2].ID == turn && !c.turns[n-2].Interrupted
}

// takeUsed are the tools that were used since the last turn of the avatar's own.
func (c *Conversation) takeUsed() []session.ToolCall {
	used := c.used
	c.used = nil
	return used
}

// keepUsed keeps tools that were used as a turn of their own, since no words follow.
func (c *Conversation) keepUsed() {
	if len(c.used) == 0 || c.lost {
		return
	}
	now := c.now()
	turn := session.Turn{
		ID: id.NewTurn(), Index: c.index, Speaker: session.Avatar, Origin: session.Tool, Language: c.language,
		StartedAt: now, EndedAt: &now, ToolCalls: c.takeUsed(), Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
	if c.keep(&turn) {
		c.index++
		c.remember(turn)
	}
}
