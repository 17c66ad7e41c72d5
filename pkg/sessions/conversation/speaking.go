package conversation

import (
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// speech is a turn of the avatar's: waiting, being said, or said.
type speech struct {
	turn session.Turn
	// pending are sentences that were not said yet; whole says that no more come.
	pending []Piece
	whole   bool
	sources []Source
	// quotes are the sentences of documents in it.
	quotes []Piece

	interruptible bool
	// own are the avatar's own words, which have no place any more when the user
	// speaks up; orders of the owner's stay.
	own bool
	// asking words are followed by no goal's prompt, nudging ones are no activity.
	asking, nudging bool
	// asks is the key of the question of a subject that it puts; empty for none. missed says that the user does not hear
	// it to its end, by no doing of theirs, and closes that it says that a time is up.
	asks           string
	missed, closes bool
	// answers says that what is said next of it answers what is unanswered; gap is the
	// question that it leaves open.
	answers bool
	gap     string
	// act is what it does, empty for what is said unasked; grave says that somebody is
	// in danger.
	act   Act
	grave bool
	// afterwards follows when it is over.
	afterwards func()

	hosting

	line timeline
	// report is how much the client says it has played; negative before it does.
	report time.Duration
	// reportedAt is when it said so.
	reportedAt time.Time
	// until is how far it was played when it ended.
	until time.Duration
}

func (c *Conversation) newSpeech(origin session.Origin) *speech {
	return &speech{
		turn: session.Turn{
			ID: id.NewTurn(), Speaker: session.Avatar, Language: c.language, Origin: origin,
			Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
		},
		interruptible: true, own: true, report: -1,
	}
}

// ownOrigin is the origin of what the avatar says by itself.
func (c *Conversation) ownOrigin() session.Origin {
	if c.config.aloud() {
		return session.Voice
	}
	return session.Typed
}

// reply is a speech of fixed words, given to the user's last utterance.
func (c *Conversation) reply(origin session.Origin, texts ...string) *speech {
	s := c.fixed(origin, texts...)
	s.called = c.called
	if !c.heardAt.IsZero() {
		s.turn.Timing.ResponseMs = c.now().Sub(c.heardAt).Milliseconds()
	}
	return s
}

// fixed is a speech of words that are all known.
func (c *Conversation) fixed(origin session.Origin, texts ...string) *speech {
	s := c.newSpeech(origin)
	for _, text := range texts {
		for _, sentence := range sentencesOf(clean(text)) {
			s.pending = append(s.pending, Piece{Text: sentence, Retrieval: untold, ModelFirst: untold})
		}
	}
	s.whole = true
	return s
}

// speak has something said when nothing else is.
func (c *Conversation) speak(s *speech) {
	if s.whole && len(s.pending) == 0 {
		return
	}
	c.queue = append(c.queue, s)
}

// utter says what is pending of the current speech: it is kept, and then sent.
func (c *Conversation) utter() {
	s := c.current
	if c.handOver(s); len(s.pending) == 0 {
		return
	}
	before := *s
	now := c.now()
	first := s.turn.Text == ""
	if first {
		s.turn.StartedAt = now
	}
	var out []data
	if first {
		out = c.gestured(s)
	}
	var aloud []Sentence
	for _, piece := range s.pending {
		out = append(out, s.add(piece)...)
		if piece.Text == "" {
			continue
		}
		if sentence, ok := c.saidAloud(s, piece.Text); ok {
			aloud = append(aloud, sentence)
		} else if words := s.estimate(piece.Text, now, c.config.Persona.Settings.Speed); c.config.aloud() {
			out = append(out, Words{Turn: s.turn.ID, Items: words})
		}
	}
	s.pending = nil
	if s.own {
		s.turn.ToolCalls = append(s.turn.ToolCalls, c.takeUsed()...)
	}
	s.turn.Spoken = c.heardOfSpeech(s)
	if !c.keep(&s.turn) {
		// What was not kept was not said.
		*s = before
		if first {
			c.current = nil
		}
		return
	}
	if first {
		c.index = s.turn.Index + 1
		c.tell()
	}
	if s.answers {
		c.unanswered, s.answers = nil, false // what is asked from now on is another question
	}
	for _, d := range out {
		c.send(d)
	}
	for _, sentence := range aloud {
		c.config.Sound.Say(sentence)
	}
	if s.gap != "" {
		c.noted("gap", c.config.Journal.Gap(c.ctx, s.gap, s.turn.Language))
		s.gap = ""
	}
}

// add puts a piece at the end of what is said, and returns what to send for it.
func (s *speech) add(p Piece) []data {
	for _, source := range p.Sources {
		if !slices.ContainsFunc(s.sources, func(had Source) bool { return had.ChunkID == source.ChunkID }) {
			s.sources = append(s.sources, source)
			s.turn.Sources = append(s.turn.Sources, source.Source)
		}
	}
	s.turn.Grounded = groundedWith(s.turn.Grounded, p)
	if text := strings.TrimSpace(strings.TrimPrefix(p.Text, p.lead)); p.quoted && !s.grave && text != "" && !strings.Contains(p.lead, text) {
		s.quotes = append(s.quotes, Piece{Text: text, Sources: p.Sources, Grounded: p.Grounded, quoted: true, Retrieval: untold, ModelFirst: untold})
	}
	if p.Text == "" {
		return nil
	}
	s.turn.Text = join(s.turn.Text, p.Text)
	return []data{BotText{Turn: s.turn.ID, Text: p.Text, Host: s.turn.Host, Name: s.turn.Name}}
}

// estimate puts the sentence that was added last on the timeline, and returns its words.
func (s *speech) estimate(sentence string, now time.Time, speed float64) []Word {
	return s.line.add(sentence, len(s.turn.Text)-len(sentence), now.Sub(s.turn.StartedAt), speed)
}

// finalise says that the current speech is whole, and waits for its playing.
func (c *Conversation) finalise() {
	s := c.current
	final := BotText{Turn: s.turn.ID, Final: true, Host: s.turn.Host, Name: s.turn.Name}
	if c.config.Persona.Knowledge.Cite {
		final.Sources = s.sources
	}
	c.send(final)
	if !c.config.aloud() {
		c.end(false)
		return
	}
	if c.config.Sound != nil {
		c.config.Sound.Finish(s.turn.ID)
	}
	c.set(turnPlayed, c.remaining(s))
}

// played is called when the current speech should have been spoken.
func (c *Conversation) played() {
	s := c.current
	switch {
	case s == nil || !s.done():
	case c.isLate(s):
		c.set(turnPlayed, max(c.remaining(s), soundAgain))
	default:
		c.end(false)
	}
}

// done says whether all of a speech was sent.
func (s *speech) done() bool { return s.whole && len(s.pending) == 0 }

// end closes the current speech. An interrupted one keeps what was heard of it; one that is
// read was not interrupted, once all of it was sent.
func (c *Conversation) end(interrupted bool) {
	s := c.current
	if interrupted {
		c.rejoin(s)
	}
	interrupted = interrupted && (!s.done() || s.turn.Text == "" || !c.read(s))
	s.until = c.position(s)
	c.current = nil
	c.clear(turnPlayed)
	now := c.now()
	s.turn.EndedAt, s.turn.Interrupted = &now, interrupted
	s.turn.Spoken = s.turn.Text
	if interrupted {
		s.turn.Spoken = c.heardOfSpeech(s)
		if c.config.Sound != nil {
			c.config.Sound.Stop(s.turn.ID)
		}
	}
	if s.own {
		s.turn.ToolCalls = append(s.turn.ToolCalls, c.takeUsed()...)
	}
	if !c.keep(&s.turn) {
		return
	}
	c.remember(s.turn)
	c.saidAs[s.turn.ID] = spokenAs{asking: s.asking, quotes: s.quotes}
	c.lastSaid = s
	if c.said != nil {
		c.said(s)
	}
	c.corrected = nil
	if !s.nudging {
		c.activeAt = now
	}
	if interrupted {
		c.corrected = s
		c.send(Interrupted{Turn: s.turn.ID, Spoken: s.turn.Spoken})
	} else {
		c.mayAsk = c.mayAsk || s.own && !s.asking && !s.nudging
	}
	c.wasPut(s)
	if s.afterwards != nil {
		s.afterwards()
	}
}

// position is how far a speech was played: by the client's report, or else by
// the clock.
func (c *Conversation) position(s *speech) time.Duration {
	if s.report >= 0 {
		return s.report
	}
	if len(s.line.spans) > 0 || s.line.awaits() {
		return s.line.played(c.elapsed(s))
	}
	return c.elapsed(s)
}

// read says whether a speech is read, and not listened to: in a chat, and where the client
// plays no sound and reports none.
func (c *Conversation) read(s *speech) bool {
	return !c.config.aloud() || !c.plays && s.report < 0
}

// heardOfSpeech is what was really heard of a speech: what is read, all that was sent.
func (c *Conversation) heardOfSpeech(s *speech) string {
	if c.read(s) {
		return s.turn.Text
	}
	return s.turn.Text[:s.line.heard(c.position(s))]
}

// slack is how much longer than estimated a client's playing may take before it
// is not waited for any more: as long again, and ten seconds.
const slack = 10 * time.Second

// reported takes the client's word for how much was played. For a turn that was
// just interrupted it corrects what was heard.
func (c *Conversation) reported(turn id.Turn, playedMs int64) {
	at := time.Duration(playedMs) * time.Millisecond
	switch {
	case !c.config.aloud():
	case c.current != nil && c.current.turn.ID == turn:
		s := c.current
		s.report, s.reportedAt = min(at, s.line.end), c.now()
		if s.done() {
			c.set(turnPlayed, c.remaining(s))
		}
	case c.corrected != nil && c.corrected.turn.ID == turn:
		s := c.corrected
		s.report = min(at, s.line.end)
		s.turn.Spoken = c.heardOfSpeech(s)
		if !c.keep(&s.turn) {
			return
		}
		for i := range c.turns {
			if c.turns[i].ID == turn {
				c.turns[i].Spoken = s.turn.Spoken
			}
		}
	}
}

// saying takes an order to say something.
func (c *Conversation) saying(order Say) {
	language := c.language
	if order.Language != "" {
		language = order.Language
	}
	s := c.fixed(session.Say, order.Text)
	s.turn.Language, s.turn.Unrecorded = language, !order.Record
	s.own, s.interruptible = false, order.Interruptible
	if !order.ID.IsZero() {
		s.turn.ID = order.ID
	}
	if len(s.pending) == 0 || c.finishing {
		return
	}
	if !order.Interrupt {
		c.speak(s)
		return
	}
	if c.current != nil && c.current.interruptible {
		c.unask()
		c.interrupt()
	}
	next := 0
	if c.current != nil && c.current.rest != nil {
		next = 1 // behind what the other host says of it
	}
	c.queue = slices.Insert(c.queue, next, s)
}
