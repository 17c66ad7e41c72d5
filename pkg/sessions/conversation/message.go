package conversation

import (
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// Message is what a client is sent (live client protocol). Its data is one of
// the types below.
type Message struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data any    `json:"data"`
	// T is when it was sent, in milliseconds since 1970.
	T int64 `json:"t"`
}

// data is what a message can hold; the type follows from it.
type data interface{ messageType() string }

// State is what the avatar does.
type State struct {
	State string `json:"state"`
}

// The states: hearing or awaiting the user, looking for an answer, speaking,
// and taking no part (before the client is ready, muted, or taken over).
const (
	Listening = "listening"
	Thinking  = "thinking"
	Speaking  = "speaking"
	Idle      = "idle"
)

// BotText is the avatar's next sentence. The final one of a turn has no text of
// its own: it says that the turn is whole, and what it rests on. Host and Name are the
// seat and the name of the host of a duo who says it.
type BotText struct {
	Turn    id.Turn  `json:"turnId"`
	Text    string   `json:"text"`
	Final   bool     `json:"final"`
	Host    string   `json:"host,omitempty"`
	Name    string   `json:"name,omitempty"`
	Sources []Source `json:"sources,omitempty"`
}

// Source is what an answer rests on, as a client shows it: title and page.
type Source struct {
	session.Source
	Page *int64  `json:"page"`
	URL  *string `json:"url"`
}

// Words is when the words of a sentence are spoken. Times are estimates.
type Words struct {
	Turn  id.Turn `json:"turnId"`
	Items []Word  `json:"items"`
}

// Word is when a word is spoken, in milliseconds from the start of its turn.
type Word struct {
	T    int64  `json:"t"`
	D    int64  `json:"d"`
	Text string `json:"text"`
}

// Interrupted says that a turn ended early, and what was heard of it.
type Interrupted struct {
	Turn   id.Turn `json:"turnId"`
	Spoken string  `json:"spokenText"`
}

// UserTranscription is what the user said, as understood so far.
type UserTranscription struct {
	Turn  id.Turn `json:"turnId"`
	Text  string  `json:"text"`
	Final bool    `json:"final"`
}

// UserSpeaking says that the server hears the user's voice begin, or end.
type UserSpeaking struct {
	Speaking bool `json:"-"`
}

// Duck says that a turn is to be played softly from now on, since the user may be taking
// the floor, or as loud as before again.
type Duck struct {
	Turn id.Turn `json:"turnId"`
	On   bool    `json:"on"`
}

// StaffText is what a team member says.
type StaffText struct {
	Turn  id.Turn  `json:"turnId"`
	Staff id.Staff `json:"staffId"`
	Name  string   `json:"name"`
	Text  string   `json:"text"`
}

// ToolUse is a tool at work: requested, completed, failed or declined.
type ToolUse struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// FunctionCall asks the client to use a tool of its own, and to answer what came of it.
type FunctionCall struct {
	ID        string         `json:"callId"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// Notice is something to show beside the conversation.
type Notice struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	// EndsInS is how soon an idle conversation ends.
	EndsInS int64     `json:"endsInS,omitempty"`
	Staff   *id.Staff `json:"staffId,omitempty"`
	Name    string    `json:"name,omitempty"`
	Mode    StaffMode `json:"mode,omitempty"`
}

// The kinds of notices.
const (
	AINotice         = "ai_notice"
	IdleWarning      = "idle_warning"
	HandoffRequested = "handoff_requested"
	StaffJoined      = "staff_joined"
	StaffLeft        = "staff_left"
	// LateWords: words came too late for the question that they answer. They are kept, and do not count.
	LateWords = "late_words"
	// StaffChanged: a team member who was in is in another mode now.
	StaffChanged = "staff_mode"
)

// Error says what was wrong with a message of the client's, or with us.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Fatal   bool   `json:"fatal"`
}

// Pong answers a ping.
type Pong struct{}

func (State) messageType() string             { return "state" }
func (BotText) messageType() string           { return "bot-text" }
func (Words) messageType() string             { return "words" }
func (Interrupted) messageType() string       { return "interrupted" }
func (UserTranscription) messageType() string { return "user-transcription" }
func (Duck) messageType() string              { return "duck" }
func (StaffText) messageType() string         { return "staff-text" }
func (ToolUse) messageType() string           { return "tool" }
func (FunctionCall) messageType() string      { return "llm-function-call" }
func (Notice) messageType() string            { return "notice" }
func (Error) messageType() string             { return "error" }
func (Pong) messageType() string              { return "pong" }

func (u UserSpeaking) messageType() string {
	if u.Speaking {
		return UserStartedSpeaking
	}
	return UserStoppedSpeaking
}
