package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/search"
)

// lateness is what is known of the question that was closed last because its time ran out.
type lateness struct {
	key string
	// taken is what was taken of the user's last words, and closedAt when.
	taken    string
	closedAt time.Time
	// stale says that whatever the user says is of that question: they do not know another. Later it is what began before
	// fresh.
	stale bool
	fresh time.Time
}

// owed is a stretch of speech whose words had not come when its utterance was taken.
type owed struct {
	segment int
	// key is the question that it was said to, and taken what was taken of the utterance.
	key, taken string
	// doubted says that this is all why the question is doubtful for words that were not understood.
	doubted bool
}

// awaitLate goes on waiting for the words of an utterance that was taken without them.
func (c *Conversation) awaitLate(e *ear, key, taken string) {
	t := c.timing
	if t == nil {
		return
	}
	for i := range e.stretches {
		if s := &e.stretches[i]; !s.whole && s.late == "" {
			// It is doubtful until they come: who takes over does not hear them.
			t.owed = append(t.owed, owed{s.number, key, taken, t.doubt(key, session.NotUnderstood)})
			c.set(wordsMissing, wordsWithin)
		}
	}
}

// isQuestion says whether a client names a question by its key.
func (c *Conversation) isQuestion(key string) bool {
	return key != "" && slices.ContainsFunc(c.goals.all, func(goal persona.Goal) bool { return goal.Key == key && answerOf(&goal) != "" })
}

// lateFor is the key of the question that words belong to which began at a moment, and which the client says are of a
// question, or of none; empty where they are not late. tolerance is how long they can have been on their way.
func (c *Conversation) lateFor(about string, began time.Time, tolerance time.Duration) string {
	t := c.timing
	switch {
	case t == nil:
		return ""
	case about != "" && (about == t.put || about == c.beingAsked()):
		return ""
	case c.isQuestion(about) && t.kept.Questions[about].Came != "":
		return about
	case t.late.stale, !t.late.closedAt.IsZero() && began.Before(t.late.closedAt.Add(tolerance)), began.Before(t.late.fresh):
		return t.late.key
	}
	return ""
}

// keepLate keeps words that came too late for a question, for people to read. They answer nothing. false says that the
// conversation is over.
func (c *Conversation) keepLate(turn id.Turn, text, key string, since time.Time) bool {
	t := c.timing
	text = truncateRunes(strings.TrimSpace(text), maxTextRunes)
	if text == "" {
		return true
	}
	t.kept.Late = append(t.kept.Late, turn)
	t.kept.Late = t.kept.Late[max(0, len(t.kept.Late)-maxLate):]
	t.doubt(key, session.LateWords)
	c.noteTime() // first: whoever goes on must not take it for an answer
	if c.lost || !c.heard(ear{turn: turn, since: since}, text, session.Voice) {
		return false
	}
	if key != "" {
		c.send(Notice{Kind: LateWords})
	}
	if rule := matching(c.rules, c.language, text); rule != nil && !c.over && !c.finishing {
		c.forbidLate(rule)
	}
	return true
}

// addsTo says whether words say more than what was taken of them.
func addsTo(taken, words string) bool {
	said := search.NewPhrase(words)
	return len(said) > 0 && !search.NewPhrase(taken).Has(said)
}

// wordsCame takes the words of a stretch of speech whose utterance was taken before.
func (c *Conversation) wordsCame(h Heard) {
	t := c.timing
	if t == nil || !h.Whole {
		return
	}
	at := slices.IndexFunc(t.owed, func(o owed) bool { return o.segment == h.Segment })
	if at < 0 {
		if h.Failed {
			c.doubtOpen(session.NotUnderstood)
		}
		return
	}
	of := t.owed[at]
	t.owed = slices.Delete(t.owed, at, at+1)
	if len(t.owed) == 0 {
		c.clear(wordsMissing)
	}
	if h.Failed {
		return // it stays doubtful
	}
	next := slices.IndexFunc(t.owed, func(o owed) bool { return o.key == of.key })
	switch {
	case of.doubted && next >= 0:
		t.owed[next].doubted = true
	case of.doubted:
		t.trust(of.key, session.NotUnderstood)
	}
	if words := truncateRunes(clean(h.Text), maxTextRunes); addsTo(of.taken, words) {
		c.keepLate(id.NewTurn(), words, of.key, c.now())
		return
	}
	c.noteTime()
}

// wordsAreMissing is called when words do not come any more: what they were said to stays doubtful.
func (c *Conversation) wordsAreMissing() {
	if c.timing != nil {
		c.timing.owed = nil
	}
}

// parted are the words of an utterance that count, and the question that the others are too late for; empty for none.
func (c *Conversation) parted(e *ear) (words, late string) {
	if c.timing == nil {
		return e.words(), ""
	}
	if e.late != "" && len(e.stretches) == 0 {
		return "", e.late
	}
	for i := range e.stretches {
		if s := &e.stretches[i]; s.late != "" && s.text != "" && !s.echo {
			late = s.late
		}
	}
	if late == "" {
		return e.words(), ""
	}
	fresh := *e
	fresh.stretches = slices.DeleteFunc(slices.Clone(e.stretches), func(s stretch) bool { return s.late != "" })
	return fresh.words(), late
}

// lateWords are the words of an utterance that are too late.
func (e *ear) lateWords() string {
	if len(e.stretches) == 0 {
		return e.words()
	}
	late := *e
	late.stretches = slices.DeleteFunc(slices.Clone(e.stretches), func(s stretch) bool { return s.late == "" })
	if len(late.stretches) == 0 {
		return ""
	}
	return late.words()
}

// heardLate keeps what of an utterance came too late, and answers what is left of it. Who went on after the next question
// was put is asked to say it again: it may have been its answer.
func (c *Conversation) heardLate(e *ear) (words string, goesOn bool) {
	words, of := c.parted(e)
	if of == "" {
		return words, true
	}
	ended := e.silentSince
	if ended.IsZero() {
		ended = c.now()
	}
	turn := e.turn
	e.turn = id.NewTurn()
	c.mayAnswer(e.told)
	if !c.keepLate(turn, e.lateWords(), of, e.since) {
		return "", false
	}
	if words == "" {
		c.askAfterLate(ended)
	}
	return words, true
}

// mayAnswer leaves a doubt on the question that can be answered, or is being asked, over words that are taken to be late for
// another: they may be its answer. told says that the client said to which question they are.
func (c *Conversation) mayAnswer(told bool) {
	if !told {
		c.timing.doubt(cmp.Or(c.timing.put, c.beingAsked()), session.LateWords)
	}
}

// askAfterLate asks to say it again, where words that were taken to be late ended after the next question was put.
func (c *Conversation) askAfterLate(ended time.Time) {
	t := c.timing
	if t.put == "" || c.over || c.finishing || t.late.fresh.IsZero() || !ended.After(t.late.fresh.Add(answersSoon)) || c.silent() {
		return
	}
	s := c.reply(c.ownOrigin(), bookOf(c.language).askAgain)
	s.asking, s.act = true, ActClarify
	c.speak(s)
}
