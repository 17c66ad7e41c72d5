package conversation

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/sessions/floor"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/search"
)

// maxRemembered is how many turns a conversation holds in memory; the journal
// has them all.
const maxRemembered = 24

// windUp bounds the last write when the process is told to stop.
const windUp = 2 * time.Second

// Conversation is one live conversation. Its methods may be called by any
// goroutine; the fields are Run's alone.
type Conversation struct {
	config Config
	log    *slog.Logger
	mail   *mailbox
	seen   atomic.Pointer[Activity]
	// thoughts carries the pieces of answers to Run, and running counts the
	// goroutines that were started for them.
	thoughts chan thoughtPiece
	running  sync.WaitGroup
	builtin  Brain
	asides   map[intent]func(context.Context, Question) Stream
	// saidAs is how turns were said here, of those that are remembered.
	saidAs map[id.Turn]spokenAs
	// whom looks for whom to turn to in a matter.
	whom     func(context.Context, Question) Stream
	model    *generative // nil without a model
	synonyms *search.Synonyms

	ctx context.Context
	// over ends Run; reason is what the owner is asked to end the session for.
	over, lost bool
	reason     string

	due [alarms]time.Time
	// plays says that the client plays sound. One that does not only reads.
	plays bool
	// ready is set when the client is; begun when a greeting has no place any more.
	ready, begun bool
	state        string
	sent         int64

	language     string
	instructions string
	context      string
	variables    map[string]string
	rules        []guardrail
	forbidding   func(*guardrail) // hears of every rule that is kept; nil for nobody
	said         func(*speech)    // hears of every speech that ended; nil for nobody

	turns    []session.Turn // the last that ended
	index    int64          // of the next turn
	activeAt time.Time      // when somebody last did something, nudges aside

	ear        ear
	pauses     pauses
	ducked     bool
	deaf, mute bool
	// paused says that the user has it wait.
	paused bool
	// understoodAt is when the server itself last understood words.
	understoodAt time.Time
	staff        map[id.Staff]Staff

	current   *speech   // what is being said
	queue     []*speech // what is to be said then
	corrected *speech   // the last that was interrupted, whose playback may still be told
	lastSaid  *speech   // the last that ended, whose echo may still come
	thought   *thought  // the answer in the making

	unanswered  []string // what the user said since the last answer began
	heardAt     time.Time
	previous    string // the last question that a brain was asked
	goals       *goals
	mayAsk      bool // an answer or a greeting was just given
	nudged      bool
	outcome     string
	appointment appointment
	agreed      *inbox.Consent // to be contacted; nil where nobody asked
	finishing   bool

	// tools are what a model may ask for; rehearsing says that none has an effect.
	tools      []*offer
	rehearsing bool
	// calls are what the client and others were asked to do, by the keys of the calls.
	calls map[string]otherCall
	// unconfirmed is what the visitor was asked leave for, and used what was done since the
	// last turn of the avatar's.
	unconfirmed *toolCall
	used        []session.ToolCall
	// uses are the last uses of tools, as a model is told of them.
	uses []string

	timing *timing // nil where nothing has a limit

	// floor says who of a duo speaks, nil where there is none, and called whom the user addressed last; named says that the
	// session's owner has a name for the persona.
	floor  *floor.Floor
	called *persona.Host
	named  bool
}

// New makes a conversation, which begins when it is run.
func New(config Config) *Conversation {
	c := &Conversation{
		config:       config,
		log:          config.Log,
		mail:         newMailbox(),
		thoughts:     make(chan thoughtPiece),
		language:     config.Session.Language,
		instructions: config.Persona.Instructions,
		context:      truncate(config.Session.Context, maxContext),
		variables:    map[string]string{"persona": config.PersonaName},
		staff:        map[id.Staff]Staff{},
		goals:        newGoals(config.Persona.Goals),
		deaf:         config.Session.Deaf,
		mute:         config.Session.Mute,
		calls:        map[string]otherCall{},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.language == "" {
		c.language = config.Persona.Settings.Language
	}
	maps.Copy(c.variables, config.Session.Variables)
	_, c.named = config.Session.Variables["persona"]
	if c.floor = newFloor(config.Duo); c.floor != nil {
		c.introduces(nil)
	}
	c.goals.pursue(config.Session.Goal)
	c.timing = newTiming(config.Session.Clocks, config.Clock.Now().UTC())
	c.restoreTime()
	c.goals.learn(config.Session.Collected) // which may have met that goal since
	c.outcome = config.Session.Outcome
	c.synonyms = synonymsOf(&c.config.Persona)
	c.rules = guardrailsOf(config.Persona.Guardrails, c.language, config.Persona.Settings.Language)
	found := retrieval{&c.config}
	own := extractive{found}
	c.builtin = own
	c.whom = own.Whom
	c.saidAs = map[id.Turn]spokenAs{}
	c.asides = map[intent]func(context.Context, Question) Stream{askPerson: own.Reach, askAbility: own.Abilities, askLanguages: own.Languages, askKept: own.Keeping}
	if config.Model != nil {
		c.model = &generative{retrieval: found, running: &c.running, patience: model.NewBreaker(1, config.Clock)}
		c.tools = c.offers()
	}
	c.reopen()
	for _, s := range config.Staff {
		c.staff[s.ID] = s
	}
	c.activeAt = config.Clock.Now()
	// Known from the first moment on: who comes is shown the last turns.
	c.index = config.NextTurn
	for _, t := range config.Turns {
		c.index = max(c.index, t.Index+1)
	}
	c.show()
	return c
}

// Run holds the conversation until the context ends, it ended, or it was lost.
// All it started has ended when it returns.
func (c *Conversation) Run(ctx context.Context) {
	defer c.mail.close()
	c.ctx = ctx
	c.resume()
	c.settle()
	for !c.over {
		c.await(ctx)
	}
	c.wind(ctx)
}

// await handles the next thing that happens.
func (c *Conversation) await(ctx context.Context) {
	var ring <-chan time.Time
	if at, any := c.next(); any {
		timer := c.config.Clock.NewTimer(max(at.Sub(c.now()), 0))
		defer timer.Stop()
		ring = timer.C()
	}
	select {
	case <-ctx.Done():
		c.over = true
	case <-c.mail.wake:
		c.handle()
		c.settle()
	case piece := <-c.thoughts:
		c.take(piece)
		c.settle()
	case <-ring:
		c.expire()
	}
}

// settle brings about what follows from what just happened: who speaks next,
// what is to be waited for, and what others are told.
func (c *Conversation) settle() {
	for again := true; again; {
		for !c.over && c.proceed() {
		}
		if c.over {
			return
		}
		waiting := len(c.queue)
		c.keepTime()
		again = len(c.queue) > waiting // what a time that ran out has said
	}
	if c.over {
		return
	}
	c.minuteSilence()
	c.tell()
	c.tellDucking()
	c.show()
}

// stop ends the conversation and asks for the end of the session, if there is a reason.
func (c *Conversation) stop(reason string) { c.over, c.reason = true, reason }

// wind closes what is open and waits for all that was started.
func (c *Conversation) wind(ctx context.Context) {
	if c.thought != nil {
		c.thought.cancel()
		c.thought = nil
	}
	if !c.lost {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), windUp)
		c.ctx = last
		c.leave()
		cancel()
	}
	c.running.Wait()
	c.show()
	if c.reason != "" && !c.lost && c.config.End != nil {
		c.config.End(c.reason)
	}
}

// leave keeps what is under way: what the avatar was saying, and what the user
// had said of an utterance.
func (c *Conversation) leave() {
	if c.current != nil {
		c.withoutSequel(c.current)
		c.end(true)
	}
	c.giveUpClient()
	for _, call := range c.calls { // nobody will hear what came of it
		c.record(session.ToolCall{Name: call.Name, Status: requested}, nil)
	}
	c.keepUsed()
	words, late := c.parted(&c.ear)
	if late != "" && !c.lost {
		c.mayAnswer(c.ear.told)
		c.keepLate(id.NewTurn(), c.ear.lateWords(), late, c.ear.since)
	}
	if words = truncateRunes(words, maxTextRunes); words != "" && !c.lost && c.heard(c.ear, words, session.Voice) && c.timing != nil {
		c.unanswered = append(c.unanswered, words)
	}
	if c.timing != nil {
		c.awaitLate(&c.ear, c.timing.put, words)
	}
	c.takeLast()
}

// resume goes on from the turns of before. One that a crash left open is closed
// with what it says was heard.
func (c *Conversation) resume() {
	for _, t := range c.config.Turns {
		if t.EndedAt == nil {
			now := c.now()
			t.EndedAt, t.Interrupted = &now, true
			if !c.keep(&t) {
				return
			}
		}
		c.remember(t)
		c.resumeFloor(&t)
		for _, use := range t.ToolCalls {
			c.recall(use.Name + ": " + use.Status)
		}
		if t.Speaker == session.User {
			c.previous = t.Text
			if allowed, ok := c.config.goesOnIn(t.Language); ok && t.Language != "" && base(allowed) != base(c.language) {
				c.switchTo(allowed)
			}
		}
	}
	c.begun = c.index > 0
	c.awaitAgain(c.config.Turns)
	c.config.Turns = nil
}

// keep writes a turn; false says that the conversation is over.
func (c *Conversation) keep(t *session.Turn) bool {
	if c.lost {
		return false
	}
	kept := *t
	if kept.Unrecorded {
		kept.Text, kept.Spoken = "", ""
	}
	return c.written("turn", c.config.Journal.Keep(c.ctx, kept))
}

// written judges what the journal said to something without which the
// conversation cannot go on.
func (c *Conversation) written(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrLost):
		c.over, c.lost = true, true
	case c.ctx.Err() != nil:
		c.over = true
	default:
		c.log.Error("could not keep a "+what, "session", c.config.Session.ID, "error", err)
		c.send(Error{Code: EndedError, Message: "The conversation cannot go on.", Fatal: true})
		c.stop(EndedError)
	}
	return false
}

// noted judges what the journal said to something that the conversation can do
// without.
func (c *Conversation) noted(what string, err error) {
	switch {
	case errors.Is(err, ErrLost):
		c.over, c.lost = true, true
	case err != nil:
		c.log.Warn("could not note a "+what, "session", c.config.Session.ID, "error", err)
	}
}

func (c *Conversation) remember(t session.Turn) {
	if t.Unrecorded {
		t.Text, t.Spoken = "", ""
	}
	if len(c.turns) == maxRemembered {
		delete(c.saidAs, c.turns[0].ID)
		c.turns = append(c.turns[:0], c.turns[1:]...)
	}
	c.turns = append(c.turns, t)
}

func (c *Conversation) send(d data) {
	if c.lost {
		return
	}
	c.sent++
	c.config.Send(Message{
		ID: "c" + strconv.FormatInt(c.sent, 10), Type: d.messageType(), Data: d, T: c.now().UnixMilli(),
	})
}

// tell sends the state when it is another.
func (c *Conversation) tell() {
	state := Listening
	switch {
	case c.current != nil:
		state = Speaking
	case c.thought != nil:
		state = Thinking
	case !c.ready || c.deaf || c.silent():
		state = Idle
	}
	if state != c.state {
		c.state = state
		c.send(State{State: state})
	}
}

func (c *Conversation) now() time.Time { return c.config.Clock.Now().UTC() }

// Activity is what an owner's timers need to know.
type Activity struct {
	LastAt time.Time
	// Speaking is the avatar, Hearing is the user being heard.
	Speaking, Thinking, Hearing bool
	// Turns counts all, of before a resumption too.
	Turns int64
	// Language is the one that is spoken now.
	Language string
	// State is what the avatar does, as State has it; empty before it does anything.
	State string
	// Held says that nobody is idle, though nothing happens: somebody thinks about an answer while its time runs, or cannot
	// give it for now, by no doing of theirs.
	Held bool
	// Time is what the client was told of the time there is to answer, as of At; nil where nothing has a limit.
	Time *AnswerTime
	At   time.Time
}

// Snapshot is the activity as of the last thing that happened.
func (c *Conversation) Snapshot() Activity { return *c.seen.Load() }

func (c *Conversation) show() {
	a := Activity{
		LastAt: c.activeAt, Speaking: c.current != nil, Thinking: c.thought != nil,
		Hearing: c.ear.busy(), Turns: c.index, Language: c.language, State: c.state,
	}
	if c.timing != nil {
		a.Held, a.Time, a.At = c.timing.holds, new(c.answerTime()), c.now()
	}
	c.seen.Store(&a)
}

// AnswerTime is what a client that comes now is to know of the time there is to answer; nil where nothing has a limit.
func (a Activity) AnswerTime(now time.Time) *AnswerTime { return a.Time.after(now.Sub(a.At)) }
