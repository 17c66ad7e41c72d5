package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// ear is what was heard of the user's utterance under way.
type ear struct {
	turn id.Turn
	// speaking is between the sounds' start and stop; since is when it began.
	speaking bool
	since    time.Time
	// finals are recognised for good; interim may still change.
	finals  []string
	interim string

	// stretches are what the server itself heard, in order, and silentSince is since when
	// that voice is silent; zero while it is not.
	stretches   []stretch
	silentSince time.Time
	// overlaps says that the user began while the avatar was heard, of which so much was
	// left then.
	overlaps bool
	left     time.Duration
	// after says that they began once it was silent.
	after bool
	// nodded is when the avatar showed last that it listens.
	nodded time.Time
	// pressed says that a button is held for it.
	pressed bool
	// late is the question that all of it is too late for, where the client understands it; empty for none. told says that
	// the client said so.
	late string
	told bool
	// stopping says that something was being said, or thought of, which it may stop.
	stopping bool
}

// busy says whether the user has the floor.
func (e *ear) busy() bool { return e.speaking || e.awaits() || e.words() != "" }

// words are all that was recognised so far: by the server, or else by the client, which both
// may hear the same.
func (e *ear) words() string {
	var words []string
	for i := range e.stretches {
		if s := &e.stretches[i]; s.text != "" && !s.echo {
			words = append(words, s.text)
		}
	}
	if len(words) > 0 {
		return strings.Join(words, " ")
	}
	return strings.TrimSpace(strings.Join(e.finals, " ") + " " + e.interim)
}

// patience stretches the pause after which a user is taken to have finished.
var patience = map[string]float64{"low": 0.75, "medium": 1, "high": 1.5}

// endpoint is that pause.
func (c *Conversation) endpoint() time.Duration {
	factor := patience[c.config.Persona.Conversation.Patience]
	if factor == 0 {
		factor = 1
	}
	return time.Duration(factor * float64(c.config.Persona.Conversation.EndpointMs) * float64(time.Millisecond))
}

func (c *Conversation) startedSpeaking() {
	if c.deaf || c.over {
		return
	}
	c.active()
	c.openEar()
	c.ear.speaking = true
	c.clear(utteranceEnds)
	if delay, may := bargeInDelays[c.config.Persona.Conversation.Interruptible]; may && c.current != nil {
		c.set(bargesIn, delay)
	}
}

// openEar begins an utterance, unless one is under way.
func (c *Conversation) openEar() {
	if c.ear.busy() {
		return
	}
	c.ear.since, c.ear.turn = c.now(), id.NewTurn()
	c.ear.stopping = c.current != nil || c.thought != nil
	c.ear.late = c.lateFor("", c.now(), 0)
	if most := c.config.Persona.Conversation.MaxTurnS; most > 0 {
		c.set(turnTooLong, time.Duration(most)*time.Second)
	}
}

func (c *Conversation) stoppedSpeaking() {
	if !c.ear.speaking {
		return
	}
	c.active()
	c.ear.speaking = false
	c.clear(bargesIn)
	c.set(utteranceEnds, c.endpointAfter(c.ear.words()))
}

// transcribed takes what the client's speech recognition understood. Final parts
// that come before the user has paused are one utterance. about is the question that the client
// says it is of; empty for none.
func (c *Conversation) transcribed(text string, final bool, about string) {
	if c.deaf || c.over || !c.microphoneOpen() || c.understands() {
		return
	}
	if text == "" && !final || c.echoesClient(text) {
		return
	}
	c.active()
	c.openEar()
	if about != "" && c.ear.words() == "" {
		c.ear.late, c.ear.told = c.lateFor(about, c.ear.since, 0), c.isQuestion(about)
	}
	c.ear.interim = text
	if final {
		c.ear.interim = ""
		if text != "" {
			c.ear.finals = append(c.ear.finals, text)
		}
	}
	if words := c.ear.words(); words != "" {
		c.send(UserTranscription{Turn: c.ear.turn, Text: truncateRunes(words, maxTextRunes)})
		c.spokenOver(words)
		if utf8.RuneCountInString(words) > maxTextRunes {
			c.hearOut()
			return
		}
	}
	if !c.ear.speaking {
		c.set(utteranceEnds, c.endpointAfter(c.ear.words()))
	}
}

// sameSpeech is how much later a client understands what the server did before.
const sameSpeech = 3 * time.Second

// understands says whether the server itself understands what the user says now.
func (c *Conversation) understands() bool {
	return !c.understoodAt.IsZero() && c.now().Sub(c.understoodAt) < sameSpeech
}

// microphoneOpen says whether what is heard counts: with push-to-talk only what
// was said while the button was held, whose last words come a little later.
func (c *Conversation) microphoneOpen() bool {
	return !c.config.Persona.Conversation.PushToTalk || c.ear.busy() || c.isSet(utteranceEnds)
}

// hearOut takes what was heard as the user's turn.
func (c *Conversation) hearOut() {
	heard := c.ear
	c.ear = ear{}
	c.clear(utteranceEnds, turnTooLong, bargesIn)
	words, goesOn := c.heardLate(&heard)
	words = truncateRunes(words, maxTextRunes)
	if c.timing != nil {
		c.awaitLate(&heard, c.timing.put, words)
	}
	if words == "" || !goesOn {
		return // a noise
	}
	heard.stopping = heard.stopping || c.current != nil || c.thought != nil
	if c.yields() {
		if c.showsListening(&heard, words) {
			c.heard(heard, words, session.Voice)
			return
		}
		c.interrupt()
	}
	if c.over || !c.heard(heard, words, session.Voice) {
		return
	}
	if heard.stopping && onlyStops(c.language, words) {
		c.forget() // there is nothing to say to that
		return
	}
	c.ask(words)
}

// typed takes what the user wrote, which is a whole turn at once. about is the question that the client
// says it answers; empty for none.
func (c *Conversation) typed(turn id.Turn, text, about string) {
	if text == "" || c.over {
		return
	}
	c.active()
	if key := c.lateFor(about, c.now(), typedLate); key != "" {
		told := c.isQuestion(about)
		c.mayAnswer(told)
		if c.keepLate(turn, text, key, c.now()) && !told {
			c.askAfterLate(c.now())
		}
		return
	}
	c.dropEar()
	if c.current == nil || c.yields() {
		c.interrupt()
	}
	if !c.over && c.heard(ear{turn: turn, since: c.now()}, text, session.Typed) {
		c.ask(text)
	}
}

// dropEar takes the words there are of an utterance under way, and waits for no more of it:
// a noise, or a recognition that does not answer, holds up nothing that was typed.
func (c *Conversation) dropEar() {
	if !c.ear.busy() {
		return
	}
	if c.ear.speaking && len(c.ear.stretches) > 0 {
		c.send(UserSpeaking{})
	}
	c.hearOut()
}

// heard keeps a turn of the user's and says how it was understood.
func (c *Conversation) heard(e ear, text string, origin session.Origin) bool {
	c.detect(text)
	now := c.now()
	turn := session.Turn{
		ID: e.turn, Index: c.index, Speaker: session.User, Text: text, Spoken: text,
		Language: c.language, Origin: origin, StartedAt: e.since, EndedAt: &now,
		Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
	if !c.keep(&turn) {
		return false
	}
	c.index++
	c.remember(turn)
	c.send(UserTranscription{Turn: turn.ID, Text: text, Final: true})
	return true
}

// maxUnanswered bounds how much is answered at once.
const maxUnanswered = 8

// ask has an utterance answered. What the user adds before an answer begins is
// part of the same question.
func (c *Conversation) ask(text string) {
	c.heardAt = c.now()
	if c.takenOver() {
		return // the team member answers
	}
	if len(c.unanswered) == maxUnanswered {
		c.unanswered = append(c.unanswered[:0], c.unanswered[1:]...)
	}
	c.unanswered = append(c.unanswered, text)
}

// active notes that the user did something.
func (c *Conversation) active() {
	c.activeAt = c.now()
	c.nudged, c.mayAsk = false, false
	c.clear(asksGoal, nudges, warns, silenceEnds)
}

func truncateRunes(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

// leastToDetect is how many letters show a language.
const leastToDetect = 8

// detect switches the language when the user clearly speaks another of those
// that the persona allows. Where answers are examined, it stays that of the questions.
func (c *Conversation) detect(text string) {
	if c.config.Detect == nil || len(text) < leastToDetect {
		return
	}
	spoken := cmp.Or(c.config.Detect(text), answer.Guess(text))
	if spoken == "" || base(spoken) == base(c.language) || search.MayBe(c.language, text) {
		return
	}
	if allowed, ok := c.config.goesOnIn(spoken); ok {
		c.switchTo(allowed)
	}
}

// languages are those in which it goes on where somebody speaks them; none where it stays with the one it has.
func (c *Config) languages() []string {
	settings := &c.Persona.Settings
	if !settings.AutoDetectLanguage || c.Examiner != nil {
		return nil
	}
	return append([]string{settings.Language}, settings.Languages...)
}

// goesOnIn is the one of those that is a language, whatever its region.
func (c *Config) goesOnIn(language string) (string, bool) {
	all := c.languages()
	at := slices.IndexFunc(all, func(one string) bool { return base(one) == base(language) })
	if at < 0 {
		return "", false
	}
	return all[at], true
}

func (c *Conversation) switchTo(language string) {
	c.language = language
	c.rules = guardrailsOf(c.config.Persona.Guardrails, language, c.config.Persona.Settings.Language)
}
