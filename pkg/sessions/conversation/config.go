package conversation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// ErrLost is what a Journal returns when the session is no longer this
// process's. The conversation stops at once and sends nothing more.
var ErrLost = errors.New("the session is another process's")

// Knowledge finds passages.
type Knowledge interface {
	// Search returns the passages that support an answer, best first.
	Search(ctx context.Context, q Query) ([]Passage, error)
}

// ErrNoModel says that the model of a conversation cannot answer, or is switched
// off, and nobody else may.
var ErrNoModel = errors.New("the model cannot answer")

// Minds give conversations their organization's knowledge and models.
type Minds interface {
	// Knowledge searches an organization's packs.
	Knowledge(org id.Org) Knowledge
	// Furnish gives a conversation the model that its persona names, and what
	// hears of its calls. Without one it is left as it is. The error is
	// ErrNoModel where a conversation cannot be held without.
	Furnish(ctx context.Context, org id.Org, c *Config) error
}

// Outline is a Knowledge that can tell what its packs are about.
type Outline interface {
	// Headings are the headings of the packs, in their order, some at most: of what is written
	// in a language, where anything is.
	Headings(ctx context.Context, bases []id.KnowledgeBase, tags []string, language string) ([]string, error)
}

// Query asks for passages.
type Query struct {
	Text, Language string
	Bases          []id.KnowledgeBase
	Tags           []string
	// Languages are those in which what is there in several is looked at: the first that it is in.
	Languages []string
	Limit     int
	// Synonyms are the organization's own; nil for none.
	Synonyms *search.Synonyms
	// WordsAlone has passages found by their words alone, which costs nobody anything.
	WordsAlone bool
}

// Passage is a piece of a document.
type Passage struct {
	Document                       id.Document
	Chunk                          id.Chunk
	Title, Heading, Text, Language string
	Page                           *int64
	URL                            *string
	// Score is how far the passage supports an answer, 0 to 1.
	Score float64
}

// Remote is a tool of a system of the organization's.
type Remote struct {
	tool.Tool
	// Use has it done and returns what it answered. The key is that of this one use. The
	// error's text is for the model.
	Use func(ctx context.Context, arguments map[string]any, key string) (string, error)
}

// Journal keeps what was said. An error that is not ErrLost ends the
// conversation as engine_error, since nothing may be said that is not kept: a
// journal tries again by itself what is worth it. It is called by one goroutine.
type Journal interface {
	// Keep inserts or updates a turn, by its index.
	Keep(ctx context.Context, t session.Turn) error
	// Gap records a question that the packs do not answer.
	Gap(ctx context.Context, question, language string) error
	// Collected notes all that the conversation has found out so far.
	Collected(ctx context.Context, f session.Found) error
}

// Staffing is a Journal that knows whether a person can come.
type Staffing interface {
	// Nobody says that nobody who could come to the hand-off that was noted is there now.
	Nobody(ctx context.Context) (bool, error)
}

// Channel is how a conversation is held.
type Channel string

// The channels.
const (
	Chat  Channel = "chat"
	Voice Channel = "voice"
	Video Channel = "video"
)

// Facts are what is known of a session when it begins.
type Facts struct {
	ID       id.Session
	Language string
	Channel  Channel
	// Context is what the session's maker tells of it; only a model uses it.
	Context string
	// Variables replace {{name}} in greeting, closing, instructions and prompts.
	Variables map[string]string
	// Greeting replaces the persona's; an empty one is none.
	Greeting *string
	// Memories are what is remembered of the person. They are used when the
	// persona's privacy allows memory, and only by a model.
	Memories []string
	// Collected and Outcome are what is known beforehand, or what the journal was
	// last told, when a session is resumed.
	Collected map[string]string
	Outcome   string
	// Deaf, Mute and Goal are how the conversation was steered before it was resumed.
	Deaf, Mute bool
	Goal       string
	// Reachable says that what the user tells of how they are reached is passed on.
	Reachable bool
	// PersonAsked is said to who asks for a person where none joins, but gets an answer elsewhere. The wish is heard
	// also while a question of a subject stands, whatever tools there are. Empty where people join.
	PersonAsked string
	// Ending is said once every question of the subject was put; an empty one is none, or, where
	// the session Ends with it, the avatar's own.
	Ending string
	Ends   bool
	// Clocks are how the time of the subject's questions stands; nil where nothing has a limit.
	Clocks *session.Clocks
}

// The ends a conversation asks for, of Session.endReason.
const (
	EndedByUser = "ended_by_user"
	EndedIdle   = "idle"
	EndedRule   = "moderation"
	EndedError  = "engine_error"
	// EndedTime is the end when the time of all questions has run out.
	EndedTime = "max_duration"
	// EndedModel is the end when the model cannot answer and nobody else may.
	EndedModel = "upstream_error"
)

// DefaultMinScore is the support below which a passage is not looked at, whatever a
// persona allows. Whether it answers is judged by its sentences.
const DefaultMinScore = 0.12

// Config is what a conversation is made of.
type Config struct {
	Session     Facts
	Persona     persona.Definition
	PersonaName string
	// Duo is who speaks, where the persona is a duo's; nil else.
	Duo   *persona.Cast
	Bases []id.KnowledgeBase
	Tags  []string
	// Turns are what was said before, in order, when a session is resumed.
	Turns []session.Turn
	// Staff are the team members who are in, when a session is resumed.
	Staff []Staff
	// NextTurn is the index of the next turn, where Turns are the last of more.
	NextTurn int64
	// Knowledge may be nil: then nothing is known.
	Knowledge Knowledge
	// Model writes the answers; nil leaves them to the built-in brain.
	Model model.Model
	// ModelOnly ends the conversation as upstream_error when the model cannot
	// answer, where the built-in brain would answer instead.
	ModelOnly bool
	Journal   Journal
	// Diary has the times that the tool booking books; nil where it passes on who wants one.
	Diary Diary
	// Examiner looks at the answers to a subject's questions; nil where nobody does.
	Examiner Examiner
	// Send takes a message to the client and to listening staff. It must not
	// block; only Run's goroutine calls it.
	Send func(Message)
	// Kept is what becomes of what is said, as it stands when somebody asks; nil where that is not
	// known. It is called by goroutines of the conversation's.
	Kept func(ctx context.Context) (Kept, error)
	// Sound says aloud what is said; nil where nothing does, and times are estimates.
	Sound Sound
	// End asks for the end of the session, once, as the last thing Run does.
	// It is not called after Finish, a loss, or the end of Run's context.
	End   func(reason string)
	Clock clock.WithDelayedExecution
	// Zone is where the organization's clocks are; nil is UTC.
	Zone *time.Location
	Log  *slog.Logger
	// Detect names the language of an utterance, empty when it is not clear;
	// nil switches detection off.
	Detect func(text string) string
	// Explain gathers why Ask answers as it does; nil where nobody wants to know.
	Explain *Explanation
	// MinScore replaces DefaultMinScore when above zero.
	MinScore float64
	// ModelBreaker says whether the model may be asked, and hears how each call went; nil
	// lets every question through.
	ModelBreaker *model.Breaker
	// Remotes are tools of the organization's own systems that a model may ask for.
	Remotes []Remote
	// ModelOutcome hears how each call of the model went and how long it took.
	// It may be nil, and is called by goroutines of the conversation's.
	ModelOutcome func(err error, took time.Duration)
	// Trace hears how the built-in brain chose each answer. It may be nil, and is called
	// by goroutines of the conversation's.
	Trace func(Trace)
}

func (c *Config) minScore() float64 {
	least := c.MinScore
	if least <= 0 {
		least = DefaultMinScore
	}
	return least
}

// threshold is how likely an answer of the built-in brain's is to be one, at least.
func (c *Config) threshold() float64 { return max(fitted.least, c.Persona.Knowledge.MinScore) }

// least is the threshold for a sentence of such features, for a question of a kind. What the persona asks for at least holds
// for all.
func (c *Config) least(kind answer.Kind, f *features) float64 {
	return max(fitted.least*f.leastShare(kind), c.Persona.Knowledge.MinScore)
}

// localNow is what the organization's clocks show.
func (c *Config) localNow() time.Time {
	now := c.Clock.Now()
	if c.Zone != nil {
		return now.In(c.Zone)
	}
	return now.UTC()
}

func (c *Config) aloud() bool { return c.Session.Channel != Chat }
