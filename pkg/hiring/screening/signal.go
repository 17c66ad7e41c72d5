package screening

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// SignalKind is what a candidate's page notes beside the words.
type SignalKind string

// The kinds of signals.
const (
	// Watching: the page notes what follows, from then on. It is no signal of anything.
	Watching SignalKind = "watching"
	// Pasted: a text was pasted or dropped where answers are typed.
	Pasted SignalKind = "pasted"
	// Left: the page was not to be seen, since another one was, or another program.
	Left SignalKind = "left"
)

// Signal is a fact that the page saw. Nothing is concluded from it, and nothing scored.
type Signal struct {
	Kind SignalKind `json:"kind"`
	// At is when it began.
	At time.Time `json:"at"`
	// Question is the key of the question that was asked last; empty before the first.
	Question string `json:"question,omitempty"`
	// DurationMs is for how long, and Characters how much was pasted.
	DurationMs int64 `json:"durationMs,omitempty"`
	Characters int64 `json:"characters,omitempty"`
}

// Integrity is all that the page saw of an interview.
type Integrity struct {
	// Pastes and TabSwitches count the signals, and AwayMs sums their time.
	Pastes      int64 `json:"pastes"`
	TabSwitches int64 `json:"tabSwitches"`
	AwayMs      int64 `json:"awayMs,omitempty"`
	// Signals are the first of them, in their order.
	Signals []Signal `json:"signals,omitempty"`
}

// Bounds of what a page says. Signals beyond mostSignals are counted alone.
const (
	mostSignals    = 500
	longestAway    = 24 * time.Hour
	mostCharacters = 1_000_000
)

// add notes a signal.
func (g *Integrity) add(s Signal) {
	switch s.Kind {
	case Pasted:
		g.Pastes++
	case Left:
		g.TabSwitches, g.AwayMs = g.TabSwitches+1, g.AwayMs+s.DurationMs
	case Watching:
		return
	}
	if len(g.Signals) < mostSignals {
		g.Signals = append(g.Signals, s)
	}
}

// check bounds what a page says. The error is an errdefs.Invalid.
func (s *Signal) check() error {
	switch {
	case !slices.Contains([]SignalKind{Watching, Pasted, Left}, s.Kind):
		return errdefs.InvalidField("kind", "is watching, pasted or left")
	case s.DurationMs < 0 || s.DurationMs > longestAway.Milliseconds():
		return errdefs.InvalidField("durationMs", "is at most a day")
	case s.Characters < 0:
		return errdefs.InvalidField("characters", "is no number of characters")
	}
	s.Characters = min(s.Characters, mostCharacters)
	return nil
}

// lastTurns is how many turns are looked at for the question that stands.
const lastTurns = 60

// Observe notes what the page of a candidate saw, as it ends now, in the interview that is under way in a session: whoever
// has their link elsewhere notes nothing about them. Of who was not told that their page notes it, and where there is no
// interview, it notes nothing. The error is an errdefs.Invalid.
func Observe(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Candidate, in id.Session, s Signal, now time.Time) error {
	if err := s.check(); err != nil {
		return err
	}
	c, err := candidate.Get(ctx, t, org, which)
	if err != nil || !c.Watched() {
		return ignored(err)
	}
	i, err := Get(ctx, t, org, c.Screening)
	if err != nil || i.State != InProgress || i.Session != in {
		return err
	}
	if s.Question, err = i.standing(ctx, t, org); err != nil {
		return err
	}
	now = now.Truncate(time.Millisecond)
	s.DurationMs = max(0, min(s.DurationMs, now.Sub(i.StartedAt).Milliseconds())) // the clocks of pages are their own
	s.At = now.Add(-time.Duration(s.DurationMs) * time.Millisecond)
	return t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		c, err := candidate.Lock(ctx, tx, which) // whoever changes both locks the candidate first
		if err != nil || !c.Watched() {
			return ignored(err)
		}
		i, err := Find(ctx, tx, c.Screening)
		if err != nil || i.State != InProgress || i.Session != in {
			return err
		}
		if i.Integrity == nil {
			i.Integrity = &Integrity{}
		}
		i.Integrity.add(s)
		return i.save(ctx, tx)
	})
}

// ignored says that nothing is noted of who is erased.
func ignored(err error) error {
	if errdefs.IsAbsent(err, candidate.Noun) {
		return nil
	}
	return err
}

// standing is the key of the question that was asked last; empty for none.
func (i *Screening) standing(ctx context.Context, t *tenant.Tenants, org id.Org) (string, error) {
	s, err := session.Get(ctx, t, org, i.Session)
	if err != nil {
		return "", err
	}
	turns, err := session.Turns(ctx, t, org, s.ID, max(0, s.TurnCount-lastTurns), lastTurns)
	if err != nil {
		return "", err
	}
	for _, turn := range slices.Backward(turns) {
		for _, key := range slices.Backward(i.Asked) {
			if rubric.Asked(s, []session.Turn{turn}, key) {
				return key, nil
			}
		}
	}
	return "", nil
}

// SawSignals is the action of the entry that has what the page saw, as words: they are deleted with those of the
// interview.
const SawSignals = "interview.signals"

// observed notes in the record what the page saw of an interview that is over, of a candidate who is locked and saved
// after it.
func (i *Screening) observed(ctx context.Context, tx *tenant.Tx, c *candidate.Candidate, at time.Time) error {
	if i.Integrity == nil {
		return nil
	}
	words, err := json.Marshal(i.Integrity)
	if err != nil {
		return err
	}
	return c.Note(ctx, tx, record.Fact{At: at, Actor: "platform", Action: SawSignals, Words: string(words), Data: map[string]any{"screeningId": i.ID}})
}
