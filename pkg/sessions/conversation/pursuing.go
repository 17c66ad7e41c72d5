package conversation

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// goalPause is the breath before the avatar comes back to its goal.
const goalPause = 800 * time.Millisecond

// askGoal asks for what the current goal wants.
func (c *Conversation) askGoal() {
	c.mayAsk = false
	goal := c.goals.due()
	if goal == nil || c.silent() || c.current != nil {
		return
	}
	c.goals.wasAsked()
	s := c.fixed(c.ownOrigin(), c.asksFor(goal)...)
	s.kind, s.asking, s.asks = ofQuestion, true, questionOf(goal)
	c.speak(s)
}

// confirmed reads the yes or no to values that were repeated to the user.
func (c *Conversation) confirmed(means intent, text string) bool {
	if c.goals.proposed == nil {
		return false
	}
	switch means {
	case sayYes:
		if doubts(c.language, text) {
			c.goals.proposed, c.goals.asked = nil, true
			return c.filled(text)
		}
		c.accept(c.goals.proposed)
	case sayNo:
		c.goals.proposed, c.goals.asked = nil, true
		s := c.reply(c.ownOrigin(), c.filledIn(c.goals.current().Prompt))
		s.kind, s.asking, s.asks = ofQuestion, true, questionOf(c.goals.current())
		c.speak(s)
	default:
		c.goals.proposed = nil // another answer, or another matter
		c.goals.asked = true
		return c.filled(text)
	}
	return true
}

// filled reads the answer to a goal's prompt.
func (c *Conversation) filled(text string) bool {
	values, ok := c.goals.fill(c.language, text)
	if !ok {
		return false
	}
	if c.examined(values) {
		return true
	}
	if c.goals.current().Confirm != "manual" || len(values) == 0 {
		c.accept(values)
		return true
	}
	c.goals.proposed, c.goals.asked = values, false
	said := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		said = append(said, strings.TrimRight(values[name], ".?! "))
	}
	s := c.fixed(c.ownOrigin())
	s.pending = []Piece{
		{Text: strings.Join(said, ", ") + ".", Retrieval: untold, ModelFirst: untold},
		{Text: bookOf(c.language).confirm, Retrieval: untold, ModelFirst: untold},
	}
	s.asking = true
	c.speak(s)
	return true
}

// accept takes values as collected, and goes on to the next goal.
func (c *Conversation) accept(values map[string]string) {
	if said := c.informed(); said != "" && reaches(values) {
		c.agree(said)
	}
	c.wasAnswered()
	c.goals.accept(values)
	tools := c.completed()
	c.noted("goal", c.config.Journal.Collected(c.ctx, c.found(c.leftLead()...)))
	c.sayNext([]string{bookOf(c.language).noted}).turn.ToolCalls = tools
}

// sayNext says words, and what follows them: the next goal is asked for, or, where none is left, the end of a subject. It
// returns what is said.
func (c *Conversation) sayNext(texts []string) *speech {
	goal := c.goals.due()
	if c.appoints(goal == nil) {
		goal = nil
		texts = append(texts, c.timesToSay()...)
	}
	if goal != nil {
		texts = append(texts, c.asksFor(goal)...)
		c.goals.wasAsked()
	}
	over := goal == nil && c.goals.questioned()
	if over {
		texts = append(texts, c.endingWords()...)
	}
	s := c.reply(c.ownOrigin(), texts...)
	s.asking, s.asks = goal != nil || len(c.appointment.offered) > 0, questionOf(goal)
	if s.asking {
		s.kind = ofQuestion
	}
	if over && c.config.Session.Ends {
		c.last(s, EndedByUser)
	} else {
		c.speak(s)
	}
	return s
}

// endingWords are said once every question of a subject was put.
func (c *Conversation) endingWords() []string {
	switch facts := c.config.Session; {
	case facts.Ending != "":
		return []string{c.filledIn(facts.Ending)}
	case facts.Ends:
		return []string{bookOf(c.language).last}
	default:
		return nil
	}
}
