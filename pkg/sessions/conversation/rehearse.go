package conversation

import (
	"context"
	"maps"

	"visavis.dev/pkg/sessions/session"
)

// Rehearsal is what came of a conversation with a visitor whose words were known
// beforehand.
type Rehearsal struct {
	// Language is the one that was spoken at the end.
	Language string
	Turns    []session.Turn
	// Met are the keys of the goals that were, and Values what all of them found out.
	Met    map[string]bool
	Values map[string]string
	// Tools would have been used, in this order.
	Tools []ToolUse
	Rules []RuleKept
	// Acts are what the avatar's answers do, by the index of their turn.
	Acts map[int64]Act
	// Gaps counts the questions that the packs do not answer.
	Gaps    int64
	Outcome string
	// EndReason is why the conversation ended before the visitor's last words were
	// said; empty when they all were.
	EndReason string
}

// RuleKept says that a guardrail did its work.
type RuleKept struct {
	Key    string `json:"key"`
	Action string `json:"action"`
	// Turn is the index of the turn in which the persona kept to it.
	Turn int64 `json:"turn"`
}

// Rehearse holds a conversation with a visitor who says one line after the other,
// each when the avatar has answered the one before and asked for its goal. It is
// the conversation that a session would be, in a chat: only nobody waits for
// anything but an answer. Nobody is told of it, nothing is kept, and no tool has an
// effect; of config neither Journal nor Send nor End is needed. When the context
// ends, what was said until then is answered.
func Rehearse(ctx context.Context, config Config, lines []string) Rehearsal {
	r := Rehearsal{Acts: map[int64]Act{}}
	config.Session.Channel = Chat
	config.Journal = &notebook{&r}
	config.Send = func(m Message) {
		if tool, ok := m.Data.(ToolUse); ok {
			r.Tools = append(r.Tools, tool)
		}
	}
	config.End = func(reason string) { r.EndReason = reason }
	c := New(config)
	c.forbidding = func(rule *guardrail) { r.Rules = append(r.Rules, RuleKept{rule.key, rule.action, c.index}) }
	c.rehearsing = true
	c.said = func(s *speech) {
		if s.act != "" {
			r.Acts[s.turn.Index] = s.act
		}
	}
	c.rehearse(ctx, lines)
	r.Language, r.Met, r.Values = c.language, c.goals.met, c.goals.values
	return r
}

// rehearse is Run for a visitor whose words are known.
func (c *Conversation) rehearse(ctx context.Context, lines []string) {
	defer c.mail.close()
	c.ctx = ctx
	c.resume()
	c.receive(ClientMessage{Type: ClientReady})
	c.rest()
	for _, line := range lines {
		if c.over {
			break
		}
		c.receive(ClientMessage{Type: UserText, Text: clean(line)})
		c.rest()
	}
	c.wind(ctx)
}

// rest goes on until it is the visitor's turn. What the avatar has still to say it
// says; the breath before it comes back to its goal is nobody's to wait for.
func (c *Conversation) rest() {
	c.settle()
	for !c.over {
		switch {
		case c.thought != nil:
			c.await(c.ctx)
		case c.isSet(asksGoal):
			c.clear(asksGoal)
			c.askGoal()
			c.settle()
		default:
			return
		}
	}
}

// notebook is a journal that nobody reads but the one who rehearses.
type notebook struct{ *Rehearsal }

// Keep implements Journal.
func (n *notebook) Keep(_ context.Context, t session.Turn) error {
	if t.Index < int64(len(n.Turns)) {
		n.Turns[t.Index] = t
	} else {
		n.Turns = append(n.Turns, t)
	}
	return nil
}

// Gap implements Journal.
func (n *notebook) Gap(context.Context, string, string) error {
	n.Gaps++
	return nil
}

// Collected implements Journal.
func (n *notebook) Collected(_ context.Context, f session.Found) error {
	n.Values, n.Outcome = maps.Clone(f.Values), f.Outcome
	return nil
}

var _ Journal = (*notebook)(nil)
