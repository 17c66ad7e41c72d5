package session

import (
	"time"

	"visavis.dev/pkg/base/id"
)

// Speaker is who speaks a turn.
type Speaker string

// The speakers.
const (
	Avatar Speaker = "avatar"
	User   Speaker = "user"
	Staff  Speaker = "staff"
)

// Origin is how a turn came to be.
type Origin string

// The origins.
const (
	Voice    Origin = "voice"
	Typed    Origin = "typed"
	Say      Origin = "say"
	Greeting Origin = "greeting"
	Tool     Origin = "tool"
)

// Turn is one turn of a conversation. It is kept before a word of it is sent:
// what a client has heard, the transcript has.
type Turn struct {
	ID      id.Turn
	Index   int64
	Speaker Speaker
	// Name is the team member's, or the host's of a duo; empty for others.
	Name string
	// Host is the seat of the duo's host who speaks; empty for everybody else.
	Host string
	// Text is all of what was to be said; Spoken what was really heard, which is
	// less when the turn was interrupted.
	Text, Spoken string
	Language     string
	Origin       Origin
	StartedAt    time.Time
	// EndedAt is nil while the turn is under way.
	EndedAt     *time.Time
	Interrupted bool
	// Unrecorded words are not kept; the turn is.
	Unrecorded bool
	// Sources are the passages an answer rests on.
	Sources []Source
	// Grounded says whether an answer rests on the packs; nil where there was
	// nothing to rest on, as in a greeting.
	Grounded  *bool
	ToolCalls []ToolCall
	Timing    Timing
}

// Source is a passage that an answer rests on.
type Source struct {
	DocumentID id.Document `json:"documentId" doc:"The document that it is from."`
	Title      string      `json:"title" doc:"The document's title."`
	ChunkID    id.Chunk    `json:"chunkId" doc:"The passage, by id."`
	Score      float64     `json:"score" doc:"How well it fits the question, from 0 to 1."`
}

// ToolCall is a tool that was used in a turn.
type ToolCall struct {
	Name       string `json:"name" doc:"The tool's name."`
	Status     string `json:"status" doc:"What came of it."`
	DurationMs int64  `json:"durationMs" doc:"How long it took, in milliseconds."`
}

// Timing is how long the stages of an answer took, in milliseconds; a negative
// one did not happen.
type Timing struct {
	// ResponseMs is from the end of the question to the first words out.
	ResponseMs   int64 `json:"responseMs"`
	RetrievalMs  int64 `json:"retrievalMs"`
	ModelFirstMs int64 `json:"modelFirstMs"`
	// Continues says that the turn is a further part of the answer before it, by a duo's other host.
	Continues bool `json:"continues,omitempty"`
}

// Heard is what of the turn was really heard.
func (t Turn) Heard() string {
	if t.Interrupted {
		return t.Spoken
	}
	return t.Text
}
