package conversation

import (
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
)

// found is what the journal is told that the conversation found out.
func (c *Conversation) found(left ...inbox.Left) session.Found {
	return session.Found{Values: maps.Clone(c.goals.values), Outcome: c.outcome, Left: left, Clocks: c.clocks()}
}

// asksFor is how a goal is asked for. Whoever is asked how they are reached hears before what
// answering means, where that is passed on.
func (c *Conversation) asksFor(goal *persona.Goal) []string {
	prompt := c.filledIn(goal.Prompt)
	if slices.ContainsFunc(goal.Outputs, isContact) && c.leaves() && c.informed() == "" {
		return []string{bookOf(c.language).contact, prompt}
	}
	return []string{prompt}
}

// leaves says whether the persona passes on how somebody is reached.
func (c *Conversation) leaves() bool {
	return c.enabled(lead) || c.enabled(booking) || c.outcome == handoff
}

// informed are the words by which the visitor was told what answering means; empty where they
// heard none.
func (c *Conversation) informed() string {
	for _, turn := range slices.Backward(c.turns) {
		if said := bookOf(turn.Language).contact; turn.Speaker == session.Avatar && strings.Contains(turn.Heard(), said) {
			return said
		}
	}
	return ""
}

// agree notes that the visitor agrees to be contacted, by the words that they were told.
func (c *Conversation) agree(text string) {
	now := c.now().UTC()
	c.agreed = &inbox.Consent{Given: true, At: &now, Text: &text}
}

// isContact says whether an output is how somebody is reached.
func isContact(output string) bool {
	kind := patternOf(output)
	return kind == "email" || kind == "phone"
}

// reaches says whether somebody is reached by one of some values.
func reaches(values map[string]string) bool {
	for name, value := range values {
		if value != "" && isContact(name) {
			return true
		}
	}
	return false
}

// leftLead is what the visitor has left so far: nothing while nobody could be reached. A team
// member who was asked for is told of it too.
func (c *Conversation) leftLead() []inbox.Left {
	if !c.goals.contact() {
		return nil
	}
	contact, words := c.collected()
	var left []inbox.Left
	if c.enabled(lead) || c.enabled(booking) && c.dated() {
		left = append(left, inbox.Left{Kind: inbox.Lead, Contact: contact, Words: words})
	}
	if c.books() { // what they booked is told, where they did
		left = append(left, inbox.Left{Kind: inbox.Book, Contact: contact, Words: words})
	}
	if c.outcome == handoff {
		left = append(left, inbox.Left{Kind: inbox.Handoff, Contact: contact})
	}
	return left
}

// leftHandoff is that a person is asked for, and why, in the visitor's own words.
func (c *Conversation) leftHandoff(by string) []inbox.Left {
	contact, _ := c.collected()
	var words inbox.Words
	for _, turn := range slices.Backward(c.turns) {
		if turn.Speaker == session.User && turn.Text != "" {
			words.Reason = new(truncateRunes(turn.Text, maxReason))
			break
		}
	}
	return []inbox.Left{{Kind: inbox.Handoff, Contact: contact, Words: words, RequestedBy: by}}
}

// What of an utterance is kept of a reason, and of a value, in characters.
const (
	maxReason = 1000
	maxValue  = 1000
)

// The words by which an output's name tells that it is what somebody needs, can spend, or by when.
var (
	needNames     = []string{"need", "needs", "message", "request", "interest", "wish", "matter", "topic", "product", "service"}
	budgetNames   = []string{"budget", "price", "spend"}
	timelineNames = []string{"timeline", "when", "deadline", "start", "time"}
)

// collected are the values of the goals as the inbox has them.
func (c *Conversation) collected() (inbox.Contact, inbox.Words) {
	contact, words := inbox.Contact{Consent: c.agreed}, inbox.Words{}
	for _, name := range slices.Sorted(maps.Keys(c.goals.values)) {
		text := c.goals.values[name]
		if text == "" || strings.HasPrefix(name, session.AnswerTo) {
			continue
		}
		if at := place(name, &contact, &words); at != nil && *at == nil {
			*at = new(truncateRunes(text, maxValue))
			continue
		}
		words.Answers = append(words.Answers, inbox.Answer{Question: c.askedFor(name), Answer: truncateRunes(text, maxValue)})
	}
	return contact, words
}

// place is where the value of an output belongs; nil for none of its own.
func place(output string, contact *inbox.Contact, words *inbox.Words) **string {
	named := func(names []string) bool {
		return slices.ContainsFunc(wordsOfName(output), func(w string) bool { return slices.Contains(names, w) })
	}
	switch {
	case named(budgetNames):
		return &words.Budget
	case named(needNames):
		return &words.Need
	}
	switch patternOf(output) {
	case "email":
		return &contact.Email
	case "phone":
		return &contact.Phone
	case "name":
		return &contact.Name
	case "company":
		return &contact.Company
	case "date":
		return &words.Timeline
	}
	if named(timelineNames) {
		return &words.Timeline
	}
	return nil
}

// askedFor is the question that an output is the answer to: its goal's prompt where the goal
// wants nothing else, or else its name.
func (c *Conversation) askedFor(output string) string {
	for _, goal := range c.config.Persona.Goals {
		if len(goal.Outputs) == 1 && goal.Outputs[0] == output {
			return truncateRunes(c.filledIn(goal.Prompt), maxValue)
		}
	}
	return output
}

// passOn does what a model asks for with details of the visitor's. Where these say how somebody is
// reached, and they were not just asked for it and told what that means, they are asked before.
func (c *Conversation) passOn(t *thought, call *toolCall) {
	values, wrong := c.given(call)
	if wrong == "" && !call.allowed && reaches(values) && c.agreed == nil {
		if said := c.informed(); said != "" && c.goals.asked {
			c.agree(said)
			call.result <- toolResult{text: c.collect(call)}
			return
		}
		o := *call.offer // which others share
		o.Title = bookOf(c.language).reach
		call.offer = &o
		c.askLeave(t, call)
		return
	}
	call.result <- toolResult{text: c.collect(call)}
}
