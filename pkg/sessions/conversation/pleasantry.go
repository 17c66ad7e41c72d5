package conversation

import (
	"strings"

	"visavis.dev/pkg/text/answer"
)

// pleasantry is the reply to small talk, if it is some. What is mere talk is left to a model that may say what it likes.
func (c *Conversation) pleasantry(means intent) (texts []string, ok bool) {
	language, book := c.language, bookOf(c.language)
	switch means {
	case askWho:
		return append([]string{book.disclosure}, c.introduction(book)...), true
	case askClock:
		return []string{fill(answer.Say(language, "clock"), map[string]string{"now": saidTime(language, c.config.localNow())})}, true
	case sayInjection:
		return []string{answer.Say(language, "injection")}, true
	}
	if c.model != nil && c.config.Persona.Knowledge.Mode != strict {
		return nil, false
	}
	if means == sayOkay {
		return []string{answer.Say(language, "okay")}, true
	}
	text, ok := map[intent]string{
		sayGreeting: book.welcome, sayThanks: book.thanks, askWellness: book.wellness,
		sayInsult: answer.Say(language, "insult"), sayNonsense: answer.Say(language, "nonsense"),
	}[means]
	if means == sayYes || means == sayNo {
		// Without a question before it, neither says anything; as a goal's answer it does.
		text, ok = book.askAgain, !c.goals.asked
	}
	return []string{text}, ok
}

// introduction is who the persona is: its name, with its role where that is no sentence of its own.
func (c *Conversation) introduction(book *phrasebook) []string {
	role := ""
	if r := c.config.Persona.Role; r != nil {
		role = strings.TrimSpace(c.filledIn(*r))
	}
	switch {
	case role == "", unspeakable(fill(book.who, map[string]string{"persona": role})): // "I am a human of our team."
		return []string{c.filledIn(book.who)}
	case strings.ContainsAny(role[len(role)-1:], ".!?") || strings.HasSuffix(role, "。") || strings.HasSuffix(role, "です"):
		return []string{c.filledIn(book.who), role}
	}
	return []string{fill(book.whoAs, map[string]string{"persona": c.variables["persona"], "role": role})}
}
