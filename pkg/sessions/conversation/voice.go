package conversation

import (
	"cmp"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/sessions/session"
)

// HeardKind is what the server hears.
type HeardKind int

// The kinds: the user's voice begins and ends, words of it are understood, and nothing is
// understood any more.
const (
	VoiceBegan HeardKind = iota
	VoiceEnded
	WordsHeard
)

// Heard is what the server's own ear tells of the user, where it has one.
type Heard struct {
	Kind HeardKind
	// Segment is the stretch of speech that the voice or the words are of, counted from 1.
	// The words of each are told until they are whole.
	Segment int
	// Ago is how long ago the voice began or ended.
	Ago time.Duration
	// Pressed says that the user holds a button to speak.
	Pressed bool
	// Late says that the words of a voice come only once it has ended.
	Late  bool
	Text  string
	Whole bool
	// Failed says that what was said was not understood, since what understands it failed.
	Failed bool
}

// Hear takes what the server heard. Words that others follow are left out where too much
// waits to be handled.
func (c *Conversation) Hear(h Heard) bool {
	by := byEar
	if h.Kind == WordsHeard && !h.Whole {
		by = passing
	}
	return c.mail.put(item{by: by, do: func() { c.hear(h) }})
}

// stretch is a segment of speech that is being understood.
type stretch struct {
	number int
	// began and ended are when the voice did; ended is zero until then.
	began, ended time.Time
	text         string
	whole        bool
	// echo says that it is the avatar's own voice.
	echo bool
	// late is the question that it is too late for; empty for none.
	late string
}

// voiceDelays are how long the user's voice sounds over the avatar's before it yields,
// where nothing is understood of it yet; three quarters longer where nothing can be before
// it ends. They are longer than what people say to show that they listen: meanwhile the
// avatar speaks softly.
var voiceDelays = map[string]time.Duration{
	"high": 700 * time.Millisecond, "medium": 900 * time.Millisecond, "low": 1500 * time.Millisecond,
}

// wordsWithin is how long the words of a voice are waited for that has ended, at most: what
// understands them has bounds of its own.
const wordsWithin = 20 * time.Second

func (c *Conversation) hear(h Heard) {
	if c.deaf || c.over {
		return
	}
	switch h.Kind {
	case VoiceBegan:
		c.begin()
		c.voiceBegan(h)
	case VoiceEnded:
		c.voiceEnded(h)
	case WordsHeard:
		c.wordsHeard(h)
	}
}

func (c *Conversation) voiceBegan(h Heard) {
	began := c.now().Add(-h.Ago)
	if c.ear.busy() && !c.ear.silentSince.IsZero() {
		c.pauses.learn(began.Sub(c.ear.silentSince))
	}
	goesOn := c.ear.speaking && len(c.ear.stretches) > 0
	c.openEar()
	if c.ear.stretch(h.Segment) == nil {
		if goesOn {
			c.ear.stretches[len(c.ear.stretches)-1].ended = began
		}
		if len(c.ear.stretches) == 0 {
			c.ear.since = began
		}
		c.ear.stretches = append(c.ear.stretches, stretch{number: h.Segment, began: began, late: c.lateFor("", began, 0)})
	}
	c.ear.speaking, c.ear.silentSince, c.ear.pressed = true, time.Time{}, h.Pressed
	c.clear(utteranceEnds)
	c.noteOverlap(h.Ago)
	if goesOn {
		return // as before, in another segment
	}
	c.send(UserSpeaking{Speaking: true})
	if c.current == nil {
		return
	}
	delay, may := voiceDelays[c.config.Persona.Conversation.Interruptible]
	switch {
	case h.Pressed:
		delay = 0
	case h.Late:
		delay += delay * 3 / 4
	}
	if may {
		c.set(bargesIn, max(delay-h.Ago, 0))
	}
}

// tail is how long after the avatar's last word what is heard may still be its echo.
const tail = 600 * time.Millisecond

// noteOverlap notes how the user's voice begins: over the avatar's, and how much of that
// was left.
func (c *Conversation) noteOverlap(ago time.Duration) {
	e := &c.ear
	switch {
	case c.current != nil:
		e.overlaps = true
		e.left = time.Hour // more may follow
		if c.current.done() && c.current.rest == nil {
			e.left = c.remaining(c.current) + ago
			if c.current.report >= 0 { // it has played on since
				e.left -= c.now().Sub(c.current.reportedAt)
			}
		}
	case c.lastSaid != nil && c.now().Add(-ago).Sub(*c.lastSaid.turn.EndedAt) < tail:
		e.overlaps, e.after = true, true
	}
}

func (c *Conversation) voiceEnded(h Heard) {
	if !c.ear.speaking {
		return
	}
	c.ear.speaking, c.ear.silentSince = false, c.now().Add(-h.Ago)
	if s := c.ear.stretch(h.Segment); s != nil {
		s.ended = c.ear.silentSince
	}
	c.clear(bargesIn)
	c.send(UserSpeaking{})
	c.nod()
	c.awaitEnd()
}

// listened is how long somebody speaks before the avatar shows that it listens, each time.
const listened = 3 * time.Second

// nod shows, at a pause, that the avatar listens to who speaks for long, as people do.
func (c *Conversation) nod() {
	since := c.ear.since
	if c.ear.nodded.After(since) {
		since = c.ear.nodded
	}
	if !c.config.Persona.Conversation.Backchannels || c.current != nil || c.ear.overlaps || c.ear.silentSince.Sub(since) < listened {
		return
	}
	c.ear.nodded = c.now()
	c.send(Gesture{Name: GestureNod})
}

func (c *Conversation) wordsHeard(h Heard) {
	s := c.ear.stretch(h.Segment)
	if s == nil {
		c.wordsCame(h) // of an utterance that is over
		return
	}
	if t := c.timing; t != nil && h.Failed && t.doubt(cmp.Or(s.late, t.put), session.NotUnderstood) {
		c.noteTime()
	}
	s.text, s.whole = truncateRunes(clean(h.Text), maxTextRunes), h.Whole
	if s.text != "" {
		c.understoodAt = c.now()
	}
	s.echo = s.text != "" && c.ear.overlaps && c.echoes(s, s.text)
	words := c.ear.words()
	if words != "" {
		c.active()
		c.send(UserTranscription{Turn: c.ear.turn, Text: truncateRunes(words, maxTextRunes)})
		c.spokenOver(words)
		if utf8.RuneCountInString(words) > maxTextRunes {
			c.hearOut()
			return
		}
	}
	if !c.ear.speaking {
		c.awaitEnd()
	}
}

// transcriptWithin is how long after a button was let go a client may still tell what it
// understood, where the server understood nothing.
const transcriptWithin = 1500 * time.Millisecond

// awaitEnd has what was said taken once the user has paused for long enough, and its words
// are there.
func (c *Conversation) awaitEnd() {
	switch {
	case c.ear.awaits():
		c.set(utteranceEnds, wordsWithin)
	case c.ear.words() == "" && c.ear.pressed:
		c.set(utteranceEnds, transcriptWithin) // the client may understand it itself
	case c.ear.words() == "":
		c.hearOut() // a noise, or an echo
	default:
		c.set(utteranceEnds, max(c.endpointAfter(c.ear.words())-c.now().Sub(c.ear.silentSince), 0))
	}
}

// stretch is the one of a segment; nil for none.
func (e *ear) stretch(number int) *stretch {
	for i := range e.stretches {
		if e.stretches[i].number == number {
			return &e.stretches[i]
		}
	}
	return nil
}

// awaits says whether words of a voice that was heard are still to come.
func (e *ear) awaits() bool {
	for i := range e.stretches {
		if !e.stretches[i].whole {
			return true
		}
	}
	return false
}

// echoed says whether all that was understood is the avatar's own.
func (e *ear) echoed() bool {
	echo := false
	for i := range e.stretches {
		echo = echo || e.stretches[i].echo
	}
	return echo && e.words() == ""
}

// softens says whether the avatar speaks softly, since the user may be taking the floor.
func (c *Conversation) softens() bool {
	e := &c.ear
	return c.current != nil && c.yields() && len(e.stretches) > 0 && (e.speaking || e.awaits()) && !e.echoed() &&
		(e.words() == "" || !c.isBackchannel(e.words()))
}

// tellDucking tells the client when it is to play a turn softly, and when not any more.
func (c *Conversation) tellDucking() {
	softly := c.softens()
	if softly == c.ducked {
		return
	}
	c.ducked = softly
	if c.current != nil {
		c.send(Duck{Turn: c.current.turn.ID, On: softly})
	}
}

// pauses are the pauses that the user makes within what they say.
type pauses struct{ typical time.Duration }

// learn takes a pause after which the user went on.
func (p *pauses) learn(pause time.Duration) {
	if pause <= 0 || pause > longestPause {
		return
	}
	if p.typical == 0 {
		p.typical = pause
		return
	}
	p.typical += (pause - p.typical) / 3
}

const (
	// longestPause is one after which a user has not paused, but begun anew.
	longestPause = 4 * time.Second
	// mostStretched is how much longer than the persona's a pause is waited for of somebody
	// who makes long ones, and unfinished for the end of a thought.
	mostStretched = 2.0
	unfinished    = 2.5
	// leastUnfinished is how long it is waited at least for the end of a thought.
	leastUnfinished = 1500 * time.Millisecond
)

// endpointAfter is the pause that ends an utterance of these words so far: longer for who
// pauses long, and in the middle of a thought.
func (c *Conversation) endpointAfter(words string) time.Duration {
	usual := c.endpoint()
	pause := max(usual, min(c.pauses.typical*5/4, time.Duration(mostStretched*float64(usual))))
	if isUnfinished(c.language, words) {
		pause = max(time.Duration(unfinished*float64(usual)), leastUnfinished, pause)
	}
	return pause
}
