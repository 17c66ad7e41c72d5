package conversation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// stage is where a script is played: a conversation with everything around it
// made of memory, and time that moves when the script says so. Whatever is
// played, it watches over what holds of every conversation.
type stage struct {
	t       require.TestingT
	c       *Conversation
	clock   *clocktesting.FakeClock
	journal *memoryJournal
	cancel  context.CancelFunc
	stopped chan struct{}

	mu       sync.Mutex
	messages []Message
	told     int
	ended    []string
	broken   []string
	outcomes []error
}

// play plays a script; the set-up changes the persona and all else.
func play(t *testing.T, setup func(*Config), script func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { perform(t, setup, script) })
}

// perform plays a script in the bubble that the caller is in.
func perform(t require.TestingT, setup func(*Config), script func(*stage)) {
	s := &stage{t: t, clock: clocktesting.NewFakeClock(noon), stopped: make(chan struct{})}
	s.journal = &memoryJournal{stage: s, kept: map[int64]session.Turn{}}
	config := Config{
		Session: Facts{ID: id.NewSession(), Language: "en", Channel: Voice},
		Persona: persona.Definition{
			Greeting:  persona.Greeting{Mode: "none"},
			Knowledge: persona.Knowledge{Mode: "strict", Cite: true, Retrieval: "balanced"},
			Model:     persona.Model{MaxTokens: 300, TimeoutMs: 3000},
			Conversation: persona.Conversation{
				Patience: "medium", Interruptible: "high", EndpointMs: 600, MaxTurnS: 60,
			},
			Settings: persona.Settings{Language: "en", Speed: 1},
		},
		PersonaName: "Mia", Knowledge: bakery, Journal: s.journal, Clock: s.clock,
		Send: s.receive, End: func(reason string) { s.ended = append(s.ended, reason) },
		ModelOutcome: func(err error, _ time.Duration) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.outcomes = append(s.outcomes, err)
		},
	}
	if setup != nil {
		setup(&config)
	}
	for _, turn := range config.Turns {
		s.journal.kept[turn.Index] = turn
	}
	s.c = New(config)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() {
		defer close(s.stopped)
		s.c.Run(ctx)
	}()
	synctest.Wait()
	defer func() {
		cancel() // also after a failure, for the bubble waits for all
		<-s.stopped
	}()
	script(s)
	cancel()
	<-s.stopped
	require.Empty(t, s.broken)
	require.Empty(t, s.journal.open(), "a turn was left open")
}

// receive is the client. It checks that what it is told was kept before.
func (s *stage) receive(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if said, ok := m.Data.(BotText); ok && !strings.Contains(s.journal.textOf(said.Turn), said.Text) {
		s.broken = append(s.broken, "sent before it was kept: "+said.Text)
	}
	if s.journal.lost {
		s.broken = append(s.broken, "sent after the session was lost: "+line(m))
	}
	s.messages = append(s.messages, m)
}

// line is a message as scripts write it; what they seldom care for is empty.
func line(m Message) string {
	switch d := m.Data.(type) {
	case BotText:
		if d.Final {
			var titles []string
			for _, source := range d.Sources {
				titles = append(titles, source.Title)
			}
			return strings.TrimSpace("final " + strings.Join(titles, ", "))
		}
		return "bot: " + d.Text
	case Interrupted:
		return "interrupted: " + d.Spoken
	case UserTranscription:
		if d.Final {
			return "user: " + d.Text
		}
		return ""
	case StaffText:
		return "staff: " + d.Text
	case ToolUse:
		return "tool: " + d.Name + " " + d.Status
	case Notice:
		return "notice: " + d.Kind
	case Error:
		return "error: " + d.Code
	case Pong:
		return "pong"
	default:
		return ""
	}
}

// expect compares what the client was told since the last time.
func (s *stage) expect(lines ...string) {
	if h, ok := s.t.(interface{ Helper() }); ok {
		h.Helper()
	}
	synctest.Wait()
	require.Equal(s.t, append([]string{}, lines...), s.heard())
}

func (s *stage) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := []string{}
	for _, m := range s.messages[s.told:] {
		if l := line(m); l != "" {
			got = append(got, l)
		}
	}
	s.told = len(s.messages)
	return got
}

func (s *stage) send(m ClientMessage) {
	s.c.Receive(m)
	synctest.Wait()
}

// ready brings the client in, and expects what a new conversation begins with.
func (s *stage) ready() {
	s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
	s.expect("notice: ai_notice")
}

func (s *stage) types(text string) { s.send(ClientMessage{Type: UserText, Text: text}) }

// says speaks a whole utterance and waits for the avatar to take it.
func (s *stage) says(text string) {
	s.send(ClientMessage{Type: UserStartedSpeaking})
	s.send(ClientMessage{Type: UserTranscript, Text: text, Final: true})
	s.send(ClientMessage{Type: UserStoppedSpeaking})
	s.wait(600 * time.Millisecond)
}

// wait lets time pass, in steps small enough for one thing to follow another.
func (s *stage) wait(d time.Duration) {
	for d > 0 {
		step := min(d, 50*time.Millisecond)
		s.clock.Step(step)
		synctest.Wait()
		d -= step
	}
}

// turns are the journal's, in order.
func (s *stage) turns() []session.Turn {
	synctest.Wait()
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	var out []session.Turn
	for i := range int64(len(s.journal.kept)) {
		out = append(out, s.journal.kept[i])
	}
	return out
}

func (s *stage) lastTurn() session.Turn {
	turns := s.turns()
	return turns[len(turns)-1]
}

func (s *stage) state() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := ""
	for _, m := range s.messages {
		if d, ok := m.Data.(State); ok {
			last = d.State
		}
	}
	return last
}

// over waits for Run's end.
func (s *stage) over() []string {
	<-s.stopped
	return s.ended
}

// memoryJournal keeps turns in memory, and watches over what holds of them.
type memoryJournal struct {
	stage *stage

	mu      sync.Mutex
	kept    map[int64]session.Turn
	texts   map[id.Turn]string
	gaps    []string
	values  map[string]string
	outcome string
	left    []inbox.Left
	clocks  *session.Clocks
	// loseAt makes the session another process's with so many calls.
	calls, loseAt int
	lost          bool
	fails         error
}

func (j *memoryJournal) call() error {
	j.calls++
	if j.loseAt > 0 && j.calls >= j.loseAt {
		j.lost = true
		return fmt.Errorf("keep: %w", ErrLost)
	}
	return j.fails
}

func (j *memoryJournal) Keep(_ context.Context, t session.Turn) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.call(); err != nil {
		return err
	}
	if _, had := j.kept[t.Index]; !had && t.Index != int64(len(j.kept)) {
		j.complain("index %d after %d turns", t.Index, len(j.kept))
	}
	if !strings.HasPrefix(t.Text, t.Spoken) {
		j.complain("%q was heard of %q", t.Spoken, t.Text)
	}
	if t.Unrecorded && t.Text != "" {
		j.complain("unrecorded words were kept: %q", t.Text)
	}
	j.kept[t.Index] = t
	if j.texts == nil {
		j.texts = map[id.Turn]string{}
	}
	j.texts[t.ID] = t.Text
	open := 0
	for _, turn := range j.kept {
		if turn.EndedAt == nil {
			open++
		}
	}
	if open > 1 {
		j.complain("%d turns are open", open)
	}
	return nil
}

func (j *memoryJournal) complain(format string, args ...any) {
	j.stage.mu.Lock()
	defer j.stage.mu.Unlock()
	j.stage.broken = append(j.stage.broken, fmt.Sprintf(format, args...))
}

// textOf is what was kept of a turn; of unrecorded ones everything may be sent.
func (j *memoryJournal) textOf(turn id.Turn) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range j.kept {
		if t.ID == turn && t.Unrecorded {
			return strings.Join(unrecorded, " ")
		}
	}
	return j.texts[turn]
}

var unrecorded = []string{"The code is 4711."}

func (j *memoryJournal) open() (open []session.Turn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lost || j.fails != nil {
		return nil
	}
	for _, t := range j.kept {
		if t.EndedAt == nil {
			open = append(open, t)
		}
	}
	return open
}

func (j *memoryJournal) Gap(_ context.Context, question, _ string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.call(); err != nil {
		return err
	}
	j.gaps = append(j.gaps, question)
	return nil
}

func (j *memoryJournal) Collected(_ context.Context, f session.Found) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.call(); err != nil {
		return err
	}
	j.values, j.outcome, j.left, j.clocks = f.Values, f.Outcome, append(j.left, f.Left...), f.Clocks
	return nil
}

// pack is knowledge in memory: a passage supports an answer as far as it holds
// the question's words.
type pack []Passage

func (p pack) Search(_ context.Context, q Query) ([]Passage, error) {
	wanted := contentWords(q.Language, q.Text)
	var out []Passage
	for _, passage := range p {
		held := map[string]bool{}
		for _, w := range contentWords(q.Language, passage.Title+" "+passage.Heading+" "+passage.Text) {
			held[w.text] = true
		}
		hits := 0
		for _, w := range wanted {
			if held[w.text] {
				hits++
			}
		}
		passage.Score = float64(hits) / float64(max(len(wanted), 1))
		out = append(out, passage)
	}
	return out, nil
}

func passage(title, text string) Passage {
	return Passage{Document: id.NewDocument(), Chunk: id.NewChunk(), Title: title, Text: text}
}

var bakery = pack{
	passage("Opening hours", "The bakery opens at 7 in the morning from Monday to Saturday. It closes at 18:30. On Sundays we are closed."),
	passage("Delivery", "We deliver bread within Hamburg. Delivery costs 4.90 euros. Orders above 50 euros are delivered free of charge."),
	passage("About us", "The bakery was founded by Anna Petersen in 1953. Our oven stands at Deichstraße 12 in Hamburg. We bake rye bread with sourdough only."),
	passage("Questions", "Do you have gluten-free cakes? Yes, our almond cake and our polenta cake contain no wheat. Can I pay by card? We take every usual card from 5 euros."),
}

// scribe is a model that writes what a test wants.
type scribe struct {
	mu     sync.Mutex
	asked  []model.Request
	stream func(ctx context.Context, each func(string) error) error
}

func (m *scribe) Stream(ctx context.Context, r model.Request, each func(model.Piece) error) error {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	return m.stream(ctx, inWords(each))
}

// inWords are pieces of nothing but words.
func inWords(each func(model.Piece) error) func(string) error {
	return func(text string) error { return each(model.Piece{Text: text}) }
}

// writes is a model that writes these pieces, and then ends.
func writes(pieces ...string) *scribe {
	return &scribe{stream: func(_ context.Context, each func(string) error) error {
		for _, piece := range pieces {
			if err := each(piece); err != nil {
				return err
			}
		}
		return nil
	}}
}

var errBroken = errors.New("broken")

// anyWords is a pack that finds all of its passages, as a search by meaning does.
type anyWords pack

func (p anyWords) Search(context.Context, Query) ([]Passage, error) {
	out := make([]Passage, len(p))
	for i, passage := range p {
		passage.Score = 0.8
		out[i] = passage
	}
	return out, nil
}
