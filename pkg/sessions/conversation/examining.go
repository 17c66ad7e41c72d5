package conversation

import (
	"slices"
	"strings"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// Examiner looks at the answers to the questions of a subject. It is called by one goroutine,
// and asks nobody.
type Examiner interface {
	// Heard says of all that was said to a question, by the key of its goal, whether more is
	// to be asked for, with what hint; an empty one is none. further counts how often it was.
	Heard(key, said string, further int) (hint string, more bool)
}

// answerOf is the name of the answer that a goal wants to a question of a subject; empty where
// it wants anything else.
func answerOf(goal *persona.Goal) string {
	if goal == nil || len(goal.Outputs) != 1 || !strings.HasPrefix(goal.Outputs[0], session.AnswerTo) {
		return ""
	}
	return goal.Outputs[0]
}

// answersQuestion says whether what was said is the answer to a question of a subject, which
// everything is but a wish to hear it again, to leave, or for a person who answers elsewhere: who is asked what they would say
// may answer with a question, or with thanks. Who asks no more than what is kept of the conversation, or
// who is speaking, is told. Who is asked for more and has "nothing else"
// leaves only the question.
func (c *Conversation) answersQuestion(means intent, text string) bool {
	switch {
	case means == askPerson && c.config.Session.PersonAsked != "":
		return false
	case (means == askKept || means == askWho) && len(sentencesOf(text)) == 1 && len(wordsOf(text)) <= wholly && answer.AsksSelf(c.language, text):
		return false
	}
	return answerOf(c.goals.current()) != "" && means != askRepeat && (means != sayGoodbye || c.goals.further > 0)
}

// wholly is how many words a message has at most that asks nothing but what is kept or who is speaking.
const wholly = 12

// putAgain is the question of a subject that stands, to be put again after what was asked in its stead.
func (c *Conversation) putAgain(means intent) []string {
	if goal := c.goals.current(); (means == askKept || means == askWho) && answerOf(goal) != "" && c.goals.asked {
		return []string{c.filledIn(goal.Prompt)}
	}
	return nil
}

// examined has the examiner look at an answer, and asks for more where it is thin. The values
// then have all that was said to the question.
func (c *Conversation) examined(values map[string]string) bool {
	goal := c.goals.current()
	output := answerOf(goal)
	if c.config.Examiner == nil || output == "" {
		return false
	}
	said := strings.TrimSpace(c.goals.values[output] + "\n" + values[output])
	values[output] = said
	hint, more := c.config.Examiner.Heard(goal.Key, said, c.goals.further)
	if !more || !c.leavesTimeFor(goal.Key) {
		return false
	}
	c.goals.values[output] = said
	c.goals.further++
	c.noted("goal", c.config.Journal.Collected(c.ctx, c.found()))
	texts := []string{bookOf(c.language).more}
	if hint != "" {
		texts = append(texts, bookOf(c.language).hint+" "+hint)
	}
	s := c.reply(c.ownOrigin(), texts...)
	s.kind, s.asking = ofQuestion, true
	c.speak(s)
	return true
}

// reopen takes up the question that stood when the conversation was held elsewhere, by the
// avatar's last words: what was said to it so far may have been found thin. An answer of which
// nobody was told that it was taken is taken again.
func (c *Conversation) reopen() {
	at, further, latest := c.standing()
	// The clock knows one that was put and cut off before a word of it was heard.
	if open := c.openByClock(); open >= 0 && open != at {
		at, further, latest = open, 0, ""
	}
	if at < 0 {
		return
	}
	goal, g := &c.goals.all[at], c.goals
	if !c.reopens(goal, latest) {
		return
	}
	output := answerOf(goal)
	if before, taken := strings.CutSuffix(g.values[output], latest); taken && latest != "" {
		g.values[output] = strings.TrimSpace(before)
	}
	g.pursue(goal.Key)
	g.wasAsked()
	g.further = further
	if c.timing != nil {
		c.timing.put = goal.Key
	}
}

// standing is the question of a subject that was put last, -1 for none that stands, how often
// more was asked for since, and what the user said after that, last.
func (c *Conversation) standing() (at, further int, latest string) {
	for _, t := range slices.Backward(c.config.Turns) {
		if c.cameLate(t.ID) {
			continue
		}
		said := search.NewPhrase(t.Heard())
		switch book := bookOf(t.Language); {
		case t.Speaker == session.User && latest == "" && further == 0:
			latest = strings.TrimSpace(t.Text)
		case t.Speaker != session.Avatar:
		case said.Has(search.NewPhrase(book.more)):
			further++
		default:
			if at = c.puts(said); at >= 0 {
				return at, further, latest
			}
			if said.Has(search.NewPhrase(book.noted)) || c.timing != nil && said.Has(search.NewPhrase(book.timeUp)) {
				return -1, 0, ""
			}
		}
	}
	return -1, 0, ""
}

// puts is the last question of a subject that words put; -1 where they put none.
func (c *Conversation) puts(said search.Phrase) int {
	for at := len(c.goals.all) - 1; at >= 0; at-- {
		goal := &c.goals.all[at]
		if answerOf(goal) != "" && said.Has(search.NewPhrase(c.filledIn(goal.Prompt))) {
			return at
		}
	}
	return -1
}
