package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/base/id"
)

// The bounds of what a client sends.
const (
	maxMessageBytes = 32 << 10
	maxTextRunes    = 4000
	maxPlayedMs     = 24 * 60 * 60 * 1000
)

// ClientMessage is what a client sent. Which fields count follows from the type.
type ClientMessage struct {
	Type string
	// Text is of user-text and user-transcript; Final of the latter.
	Text  string
	Final bool
	// Question, of user-text and user-transcript, is the key of the question that they answer, as answer-time told it;
	// empty for none that the client knows of.
	Question string
	// Turn and PlayedMs are of playback: how much of a turn was played.
	Turn     id.Turn
	PlayedMs int64
	// Audio, of client-ready, are the formats of sound that the client plays, the
	// preferred first.
	Audio []string
	// Call, of llm-function-call-result, is the call that it is the result of: Result as
	// JSON, or Failure in words.
	Call, Failure string
	Result        json.RawMessage
	// Agreed, of recording, says that the user agrees to be recorded.
	Agreed bool
	// On, of pause, says that the conversation waits from now on.
	On bool
}

// The types of what a client sends (live client protocol).
const (
	ClientReady         = "client-ready"
	UserText            = "user-text"
	UserStartedSpeaking = "user-started-speaking"
	UserStoppedSpeaking = "user-stopped-speaking"
	UserTranscript      = "user-transcript"
	Interrupt           = "interrupt"
	Playback            = "playback"
	Ping                = "ping"
	EndSession          = "end"
	FunctionCallResult  = "llm-function-call-result"
	// Recording is for who holds the session's socket; conversations do not get it.
	Recording = "recording"
	// Pause likewise.
	Pause = "pause"
)

// BadMessageError says why a client's message was not understood. Its text is
// made for the client.
type BadMessageError struct{ Code, Message string }

func (e *BadMessageError) Error() string { return e.Message }

// Decode reads a client's message. The error is a *BadMessageError, which
// Conversation.Refuse tells the client.
func Decode(raw []byte) (ClientMessage, error) {
	if len(raw) > maxMessageBytes {
		return ClientMessage{}, bad("message_too_large", "a message has at most %d bytes", maxMessageBytes)
	}
	var wire struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return ClientMessage{}, bad("invalid_message", "a message is a JSON object {id, type, data}")
	}
	m := ClientMessage{Type: wire.Type}
	var err error
	switch wire.Type {
	case ClientReady:
		err = m.readReady(wire.Data)
	case UserStartedSpeaking, UserStoppedSpeaking, Interrupt, Ping, EndSession:
	case UserText, UserTranscript:
		err = m.readText(wire.Data)
	case Playback:
		err = m.readPlayback(wire.Data)
	case Recording:
		err = m.readRecording(wire.Data)
	case Pause:
		err = m.readPause(wire.Data)
	case FunctionCallResult:
		err = m.readResult(wire.Data)
	default:
		err = bad("unknown_type", "type is not one of the protocol's")
	}
	if err != nil {
		return ClientMessage{}, err
	}
	return m, nil
}

// maxAudio is how many formats are looked at.
const maxAudio = 16

func (m *ClientMessage) readReady(raw json.RawMessage) error {
	var d struct {
		Audio []string `json:"audio"`
	}
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return bad("invalid_message", "data.audio is a list of formats")
	}
	m.Audio = d.Audio[:min(len(d.Audio), maxAudio)]
	return nil
}

func (m *ClientMessage) readText(raw json.RawMessage) error {
	var d struct {
		Text     *string `json:"text"`
		Final    bool    `json:"final"`
		Question *string `json:"question"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.Text == nil {
		return bad("invalid_message", "data.text is a string, and data.question one if there is any")
	}
	if d.Question != nil {
		if len(*d.Question) > maxKey {
			return bad("invalid_message", "data.question has at most %d characters", maxKey)
		}
		m.Question = *d.Question
	}
	if utf8.RuneCountInString(*d.Text) > maxTextRunes {
		return bad("text_too_long", "data.text has at most %d characters", maxTextRunes)
	}
	m.Text, m.Final = clean(*d.Text), d.Final && m.Type == UserTranscript
	if m.Text == "" && m.Type == UserText {
		return bad("invalid_message", "data.text is empty")
	}
	return nil
}

func (m *ClientMessage) readPlayback(raw json.RawMessage) error {
	var d struct {
		Turn     string `json:"turnId"`
		PlayedMs *int64 `json:"playedMs"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.PlayedMs == nil {
		return bad("invalid_message", "data is {turnId, playedMs}")
	}
	turn, err := id.ParseTurn(d.Turn)
	if err != nil {
		return bad("invalid_message", "data.turnId is not the id of a turn")
	}
	if *d.PlayedMs < 0 || *d.PlayedMs > maxPlayedMs {
		return bad("invalid_message", "data.playedMs is out of bounds")
	}
	m.Turn, m.PlayedMs = turn, *d.PlayedMs
	return nil
}

func (m *ClientMessage) readRecording(raw json.RawMessage) error {
	var d struct {
		Agreed *bool `json:"agreed"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.Agreed == nil {
		return bad("invalid_message", "data.agreed is true or false")
	}
	m.Agreed = *d.Agreed
	return nil
}

func (m *ClientMessage) readPause(raw json.RawMessage) error {
	var d struct {
		On *bool `json:"on"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.On == nil {
		return bad("invalid_message", "data.on is true or false")
	}
	m.On = *d.On
	return nil
}

func (m *ClientMessage) readResult(raw json.RawMessage) error {
	var d struct {
		Call   string          `json:"callId"`
		Result json.RawMessage `json:"result"`
		Error  *string         `json:"error"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.Call == "" || (d.Result == nil) == (d.Error == nil) {
		return bad("invalid_message", "data is {callId, result} or {callId, error}")
	}
	m.Call, m.Result = d.Call, d.Result
	if d.Error != nil {
		if m.Failure = clean(*d.Error); m.Failure == "" {
			m.Failure = "it failed"
		}
	}
	return nil
}

func bad(code, format string, args ...any) error {
	return &BadMessageError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// clean makes a line of words of what came from outside: no control characters,
// which databases and speech engines choke on, and no runs of blanks.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, isBidiControl(r):
			return -1
		default:
			return r
		}
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// isBidiControl tells the characters that reorder what surrounds them, by which
// words could be shown otherwise than they are kept.
func isBidiControl(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
