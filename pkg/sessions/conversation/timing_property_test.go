package conversation

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/sessions/session"
)

// history is a conversation with limits, from one process to the next, as somebody sees it who sits beside the visitor.
type history struct {
	t       *rapid.T
	channel Channel
	server  bool // the server understands the visitor, and not their client
	crash   bool // the process is to die
	process int

	*stage
	gone     time.Duration // in the processes before
	clocks   *session.Clocks
	values   map[string]string
	turns    []session.Turn
	said     []utterance
	put      map[string]time.Duration // when each question could be answered first
	prompted map[string]time.Duration // when its words were sent first
	ran      map[string]time.Duration // for how long its clock ran, as clients were told
	current  *utterance
	// total is ran in all processes, of which so many crashed.
	total   map[string]time.Duration
	crashes int
	words   int
	deaf    bool
	away    bool
	mute    bool
	staffed bool
	segment int
}

// utterance is something that the visitor says, with a word that no other has.
type utterance struct {
	word     string
	began    time.Duration
	question string
	segment  int
	ended    bool
	dropped  bool // nobody could hear all of it
	// split says that the server took it for two, and was not told to which question the second is said.
	split bool
}

func (h *history) now() time.Duration { return h.gone + h.stage.clock.Now().Sub(noon) }

// see takes note of what clients were told.
func (h *history) see() {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	running, since := "", int64(0)
	ran := map[string]time.Duration{}
	for _, m := range h.messages {
		switch d := m.Data.(type) {
		case *AnswerTime:
			if running != "" {
				ran[running] += time.Duration(m.T-since) * time.Millisecond
			}
			running, since = "", m.T
			if d.Question != nil && d.State == TimeRunning {
				running = *d.Question
			}
			if d.Question != nil {
				if _, had := h.put[*d.Question]; !had {
					h.put[*d.Question] = h.gone + time.Duration(m.T-noon.UnixMilli())*time.Millisecond
				}
			}
		case BotText:
			for key, words := range map[string]string{"bread": "the bread", "oven": "the oven"} {
				if _, had := h.prompted[key]; !had && strings.Contains(d.Text, words) {
					h.prompted[key] = h.gone + time.Duration(m.T-noon.UnixMilli())*time.Millisecond
				}
			}
		}
	}
	if running != "" && !h.stoppedAlready() {
		ran[running] += time.Duration(h.stage.clock.Now().UnixMilli()-since) * time.Millisecond
	}
	h.ran = ran
}

// word is one that nobody said before.
func (h *history) word() string {
	h.words++
	return fmt.Sprintf("word%dq", h.words)
}

func (h *history) question() string {
	if q := h.time().Question; q != nil {
		return *q
	}
	return ""
}

func (h *history) over() bool {
	synctest.Wait()
	return h.stoppedAlready()
}

func (h *history) stoppedAlready() bool {
	select {
	case <-h.stopped:
		return true
	default:
		return false
	}
}

// does one of all the things that can happen.
func (h *history) does(t *rapid.T) {
	act := rapid.IntRange(0, 16).Draw(t, "act")
	switch {
	case act == 0:
		h.types(t)
	case act <= 4:
		h.speaks(t)
	case act == 5:
		h.away = !h.away
		h.c.Present(!h.away)
		if h.current != nil {
			h.current.dropped = true
		}
	case act == 6:
		h.deaf = !h.deaf
		h.c.Steer(Steer{Listening: new(!h.deaf)})
		for i := range h.said { // what is under way is not to be understood
			h.said[i].dropped = h.said[i].dropped || h.deaf && !strings.Contains(h.transcript(), h.said[i].word)
		}
		if h.current != nil {
			h.current.dropped = true
		}
	case act == 7:
		h.mute = !h.mute
		h.c.Steer(Steer{Mute: new(h.mute)})
	case act == 8:
		if h.staffed = !h.staffed; h.staffed {
			h.c.StaffJoined(Staff{ID: member, Name: "Jo", Mode: StaffTakeover})
		} else {
			h.c.StaffLeft(member)
		}
	case act == 9:
		h.c.Steer(Steer{Interrupt: true})
	case act == 10:
		h.send(ClientMessage{Type: Interrupt})
	default:
		h.wait(time.Duration(rapid.IntRange(1, 80).Draw(t, "time")) * 50 * time.Millisecond)
	}
	h.see()
}

func (h *history) types(t *rapid.T) {
	if h.away {
		return
	}
	u := utterance{word: h.word(), began: h.now(), ended: true}
	at := h.time()
	if rapid.Bool().Draw(t, "tells") {
		u.question = h.question()
	}
	early := h.put["oven"] != 0 && u.began-h.put["oven"] < typedLate
	h.send(ClientMessage{Type: UserText, Text: "I say " + u.word, Question: u.question})
	if h.current != nil {
		h.current.split = h.current.question == ""
	}
	synctest.Wait()
	h.said = append(h.said, u)
	if at.Question != nil && at.State == TimeRunning && (u.question != "" || *at.Question == "bread" || !early) {
		require.Contains(t, h.journal.values[session.AnswerTo+*at.Question], u.word, "it was said while the time ran")
	}
}

// speaks begins an utterance, goes on with it, or ends it.
func (h *history) speaks(t *rapid.T) {
	if h.current == nil {
		h.segment++
		h.current = &utterance{word: h.word(), began: h.now(), question: h.question(), segment: h.segment, dropped: h.away || h.deaf}
		if h.server {
			h.c.Hear(Heard{Kind: VoiceBegan, Segment: h.segment})
		} else {
			h.send(ClientMessage{Type: UserStartedSpeaking})
		}
		return
	}
	u := h.current
	text := "I say " + u.word
	switch rapid.IntRange(0, 2).Draw(t, "speaks") {
	case 0: // some of it is understood
		if h.server {
			h.c.Hear(Heard{Kind: WordsHeard, Segment: u.segment, Text: text})
		} else if !u.ended {
			h.send(ClientMessage{Type: UserTranscript, Text: text, Question: u.question})
		}
	case 1:
		if u.ended {
			return
		}
		u.ended = true
		if h.server {
			h.c.Hear(Heard{Kind: VoiceEnded, Segment: u.segment})
		} else {
			h.send(ClientMessage{Type: UserTranscript, Text: text, Final: true, Question: u.question})
			h.send(ClientMessage{Type: UserStoppedSpeaking})
			h.said, h.current = append(h.said, *u), nil
		}
	default: // all of it is
		if !h.server || !u.ended {
			return
		}
		h.c.Hear(Heard{Kind: WordsHeard, Segment: u.segment, Text: text, Whole: true})
		h.said, h.current = append(h.said, *u), nil
	}
}

// transcript is what was kept so far.
func (h *history) transcript() (kept string) {
	h.journal.mu.Lock()
	defer h.journal.mu.Unlock()
	for _, turn := range h.turnsKept() {
		kept += string(turn.Speaker) + ": " + turn.Text + "\n"
	}
	return kept
}

// holds checks what is true of every history.
func (h *history) holds() {
	t := h.t
	h.see()
	kept := h.transcript()
	clocks := h.journal.clocks
	for _, u := range h.said {
		if !u.dropped && !h.journal.lost && h.process == 0 {
			require.Contains(t, kept, u.word, "what was said is kept")
		}
		n := 0
		for key, answer := range h.journal.values {
			key = strings.TrimPrefix(key, session.AnswerTo)
			if !strings.Contains(answer, u.word) {
				continue
			}
			if u.split || u.dropped && u.question == "" {
				continue
			}
			n++
			require.GreaterOrEqual(t, u.began, h.prompted[key], "%s is no answer to %s, which nobody had asked", u.word, key)
			if before := clocks.Questions["bread"].Came; key == "oven" && (before == session.RanOut || before == session.NoAnswer) {
				require.GreaterOrEqual(t, u.began, h.put[key]-answersSoon, "%s came too late for the bread, and is no answer to the oven", u.word)
			}
			require.Contains(t, []string{"", key}, u.question, "%s was said to another question: %+v\n%s", u.word, clocks, kept)
		}
		require.LessOrEqual(t, n, 1, "%s answers two questions", u.word)
	}
	if clocks == nil {
		return
	}
	for _, k := range clocks.Questions {
		if k.LimitS > 0 {
			require.LessOrEqual(t, k.UsedMs, k.LimitS*1000)
		}
	}
	for key, ran := range h.ran {
		if limit := clocks.Questions[key].Limit(); limit > 0 {
			require.LessOrEqual(t, ran, limit+100*time.Millisecond, "the clock of %s ran for too long", key)
		}
	}
}

// ends has everybody come back and be silent: it ends by itself.
func (h *history) ends() {
	h.c.StaffLeft(member)
	h.c.Steer(Steer{Listening: new(true), Mute: new(false)})
	h.c.Present(true)
	if u := h.current; u != nil {
		h.send(ClientMessage{Type: UserStoppedSpeaking})
		h.c.Hear(Heard{Kind: VoiceEnded, Segment: u.segment})
	}
	for range 400 {
		if h.over() {
			return
		}
		h.wait(time.Second)
	}
	require.Fail(h.t, "it never ended", "%+v", h.journal.clocks)
}

// Whatever happens: nothing that is said is lost, nothing is the answer to another question than it was said to, no clock
// runs for longer than its limit, also from one process to the next, and it ends.
func TestWhateverHappensTheTimeIsKept(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bubble(t, func() {
			h := &history{t: r, put: map[string]time.Duration{}, prompted: map[string]time.Duration{}, total: map[string]time.Duration{}}
			h.channel = rapid.SampledFrom([]Channel{Chat, Voice}).Draw(r, "channel")
			h.server = rapid.Bool().Draw(r, "server")
			breadS, ovenS := rapid.Int64Range(5, 20).Draw(r, "bread"), rapid.Int64Range(5, 20).Draw(r, "oven")
			allS := rapid.SampledFrom([]int64{0, 15, 40}).Draw(r, "all")
			for h.process = range rapid.IntRange(1, 3).Draw(r, "processes") {
				if h.plays(r, breadS, ovenS, allS) {
					return
				}
			}
		})
	})
}

// plays plays one process; true says that the conversation is over.
func (h *history) plays(r *rapid.T, breadS, ovenS, allS int64) (over bool) {
	before := h.clocks
	perform(r, func(c *Config) {
		talking(breadS, ovenS, allS)(c)
		c.Session.Channel = h.channel
		c.Session.Collected, c.Turns = h.values, h.turns
		if before != nil {
			c.Session.Clocks = before
		}
		c.Session.Deaf, c.Session.Mute = h.deaf, h.mute
	}, func(s *stage) {
		h.stage, h.away, h.staffed, h.current = s, false, false, nil
		if before != nil {
			s.journal.clocks, s.journal.values = before.Clone(), h.values
		}
		s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			if h.does(r); h.over() {
				break
			}
		}
		h.see()
		h.crash = rapid.Bool().Draw(r, "crash")
		if h.process < 2 && h.crash && !h.over() {
			s.journal.mu.Lock()
			s.journal.loseAt = s.journal.calls + 1
			s.journal.mu.Unlock()
		} else if h.process == 2 || rapid.Bool().Draw(r, "to the end") {
			h.ends()
		}
	})
	over = h.ended != nil
	h.holds()
	h.gone += h.stage.clock.Now().Sub(noon)
	if h.journal.lost {
		h.crashes++
	}
	for key, ran := range h.ran {
		h.total[key] += ran
		if limit := h.journal.clocks.Questions[key].Limit(); limit > 0 {
			require.LessOrEqual(r, h.total[key], limit+time.Duration(h.crashes)*1100*time.Millisecond+100*time.Millisecond, "the time of %s was given anew", key)
		}
	}
	if h.journal.clocks != nil && before != nil {
		for key, k := range before.Questions {
			require.GreaterOrEqual(r, h.journal.clocks.Questions[key].UsedMs, k.UsedMs, "the time of %s was given back", key)
		}
	}
	h.clocks, h.values, h.turns = h.journal.clocks, h.journal.values, h.turnsKept()
	return over
}
