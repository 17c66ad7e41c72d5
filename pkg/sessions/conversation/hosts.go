package conversation

import (
	"slices"
	"time"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/floor"
	"visavis.dev/pkg/sessions/session"
)

// speechKind is what a speech does, by which it is settled who of a duo says it (package floor).
type speechKind int

const (
	ofLead     speechKind = iota // a greeting, a courtesy, a refusal: the lead's, or whose name was called
	ofAnswer                     // divided between the two
	ofQuestion                   // a question of the avatar's own
)

// hosting is who of a duo says a speech.
type hosting struct {
	kind speechKind
	// host says this part of it; nil before it began, and where the persona is no duo's.
	host *persona.Host
	// began is who began the answer, and sentences how many were said of it.
	began     *persona.Host
	sentences int
	// called is the host whom the user addressed; nil for none.
	called *persona.Host
	// rest is the part that the other one says, which is in the queue, and follows the part before.
	rest, follows *speech
}

// seat has a host say a speech.
func (s *speech) seat(h *persona.Host) {
	s.host, s.turn.Host, s.turn.Name = h, h.Seat, h.Name
}

// handOver leaves of what is pending what one host says. What the other one says begins a turn of its own.
func (c *Conversation) handOver(s *speech) {
	if c.floor == nil {
		return
	}
	s.pending = c.sentences(s)
	for i := range s.pending {
		p := &s.pending[i]
		if p.Text == "" {
			continue // it is about the sentence before
		}
		if p.host == nil {
			p.host = c.whoSays(s, p)
		}
		if s.host == nil {
			s.seat(p.host)
		}
		if p.host != s.host {
			c.part(s, i)
			return
		}
		if s.began == nil {
			s.began = s.host
		}
		s.sentences++
		c.floor.Said(s.host, p.Text)
	}
}

// sentences are the pending pieces of a speech, each a sentence, so that the hosts can change after it.
func (c *Conversation) sentences(s *speech) []Piece {
	var out []Piece
	for _, p := range s.pending {
		if p.host != nil {
			out = append(out, p) // looked at before
			continue
		}
		texts := sentencesOf(p.Text)
		if len(texts) < 2 {
			out = append(out, p)
			continue
		}
		for _, text := range texts {
			one := p
			one.Text = text
			out = append(out, one)
		}
	}
	return out
}

// whoSays is who says the next sentence of a speech. A name before it is taken out of it.
func (c *Conversation) whoSays(s *speech, p *Piece) *persona.Host {
	divided := s.kind == ofAnswer
	var named *persona.Host
	if !divided || c.model != nil { // a name before a line of a document, as of a list of people, is a part of it
		var text string
		if named, text = c.floor.Named(p.Text); text != "" {
			p.Text = text
		}
	}
	switch {
	case s.grave:
		return c.floor.Lead()
	case named != nil && (!divided || !c.floor.Strict() || s.host == nil):
		s.called = named
		return named
	case s.called != nil:
		return s.called
	case p.asks:
		return c.floor.Asks(p.Text)
	case s.kind == ofQuestion && s.host != nil:
		return s.host
	case s.kind == ofQuestion:
		return c.floor.Asks(p.Text)
	case !divided:
		return c.floor.Lead()
	case s.began == nil:
		return c.floor.Begins(p.Text)
	}
	return c.floor.GoesOn(s.began, s.host, s.sentences, p.Text)
}

// part makes a speech of its own of what is pending from an index on, to be said right after.
func (c *Conversation) part(s *speech, from int) {
	rest := *s
	rest.turn = c.newSpeech(s.turn.Origin).turn
	rest.turn.Language, rest.turn.Unrecorded = s.turn.Language, s.turn.Unrecorded
	rest.pending, s.pending = slices.Clone(s.pending[from:]), s.pending[:from]
	rest.host, rest.follows, rest.sources, rest.quotes, rest.line, rest.report = nil, s, nil, nil, timeline{}, -1
	if from > 0 {
		rest.act, rest.gap, rest.answers = "", "", false // the first part has them
	} else {
		// What was said so far was no answer yet, such as asking for one moment, or it was one already.
		if s.answers {
			s.act = ""
			of := s.turn.Timing
			rest.turn.Timing, s.turn.Timing = of, rest.turn.Timing
			s.turn.Timing.Continues = of.Continues
		} else {
			rest.act = ""
		}
		s.gap, s.answers = "", false
	}
	rest.turn.Timing.Continues = true
	s.whole, s.rest = true, &rest
	s.afterwards, s.asks, s.closes = nil, "", false
	c.queue = slices.Insert(c.queue, 0, &rest)
	if t := c.thought; t != nil && t.speech == s {
		t.speech = &rest
	}
}

// rejoin takes back the part that the other host does not get to say, since this one was interrupted.
func (c *Conversation) rejoin(s *speech) {
	rest := s.rest
	if rest == nil {
		return
	}
	s.rest = nil
	c.queue = slices.DeleteFunc(c.queue, func(q *speech) bool { return q == rest })
	s.afterwards, s.asks, s.closes, s.missed = rest.afterwards, rest.asks, rest.closes, s.missed || rest.missed
}

// withoutSequel has nothing follow a speech, whose rest is not said either.
func (c *Conversation) withoutSequel(s *speech) {
	c.rejoin(s)
	s.afterwards = nil
}

// call notes whom the user addresses by name, and has the avatar's own words be of who speaks then.
func (c *Conversation) call(text string) {
	if c.floor == nil {
		return
	}
	c.called = c.floor.Addressed(text)
	c.introduces(c.called)
}

// introduces has the avatar call itself by the name of a host, or of the lead.
func (c *Conversation) introduces(h *persona.Host) {
	if c.named {
		return
	}
	if h == nil {
		h = c.floor.Lead()
	}
	c.variables["persona"] = h.Name
}

// resumeFloor has the shares be as they were.
func (c *Conversation) resumeFloor(t *session.Turn) {
	if c.floor == nil || t.Host == "" {
		return
	}
	if h := c.floor.At(t.Host); h != nil {
		c.floor.Said(h, t.Heard())
	}
}

// expected is how long a speech takes to say at a speed, with the parts of it before, and what waits for them.
func (s *speech) expected(speed float64) (all time.Duration) {
	if speed <= 0 {
		speed = 1
	}
	for ; s != nil; s = s.follows {
		all += s.line.expected()
		if s.follows == nil {
			continue // what is pending is looked at once it is said
		}
		for _, p := range s.pending {
			all += time.Duration(float64(Estimate(p.Text)) / speed)
		}
	}
	return all
}

// welcome is the product's own greeting, after which the lead of a duo hands over, where the hosts do so within a turn.
func (c *Conversation) welcome(text string) *speech {
	s := c.fixed(session.Greeting, text)
	if c.floor != nil && !c.floor.Strict() {
		for i := range s.pending {
			s.pending[i].asks = i > 0
		}
	}
	return s
}

// newFloor is the floor of a duo's conversation; nil where there is no duo.
func newFloor(cast *persona.Cast) *floor.Floor {
	if cast == nil || len(cast.Hosts) != 2 {
		return nil
	}
	return floor.New(*cast)
}
