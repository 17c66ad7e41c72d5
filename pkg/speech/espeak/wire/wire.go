// Package wire is what the product and its speech process say to each other over
// pipes: requests as JSON, answers as frames. Both sides bound what they read.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The bounds of a request and of a frame, in bytes.
const (
	MaxRequest = 64 << 10
	MaxFrame   = 1 << 20
)

// Request asks for the speech of a text.
type Request struct {
	// Text is spoken as it stands.
	Text string `json:"text"`
	// Voice is an espeak voice with its variant: "de+f3".
	Voice string `json:"voice"`
	// Rate is in words a minute, 80 to 450; Pitch and Range are 0 to 100; WordGap
	// is the pause between words in units of 10 ms.
	Rate    int `json:"rate"`
	Pitch   int `json:"pitch"`
	Range   int `json:"range"`
	WordGap int `json:"wordGap"`
}

// Kind is what a frame holds.
type Kind byte

// The kinds of frames. Ready comes first of all and holds the sample rate as a
// big-endian uint32; a request is answered by Events and Samples in turn, the events
// of samples before them, and ends with Done or Failed, which holds the reason.
const (
	Ready   Kind = 'R'
	Events  Kind = 'E'
	Samples Kind = 'S'
	Done    Kind = 'D'
	Failed  Kind = 'X'
)

// EventKind is what happens in the sound.
type EventKind byte

// The kinds of events.
const (
	Word EventKind = iota + 1
	Phoneme
	End
)

// Event is something in the sound.
type Event struct {
	Kind EventKind
	// AtMs is when, in milliseconds from the first sample of the request.
	AtMs uint32
	// Position is the character of the text at which a word begins, from 0, and
	// Length how many characters it has.
	Position, Length uint32
	// Phoneme is its name in the International Phonetic Alphabet, 8 bytes at most.
	Phoneme [8]byte
}

// eventBytes is how long an event is on the wire.
const eventBytes = 1 + 4 + 4 + 4 + 8

// Name is the phoneme's name.
func (e *Event) Name() string {
	for i, b := range e.Phoneme {
		if b == 0 {
			return string(e.Phoneme[:i])
		}
	}
	return string(e.Phoneme[:])
}

// AppendEvents appends events as a frame holds them.
func AppendEvents(to []byte, events []Event) []byte {
	for i := range events {
		e := &events[i]
		to = append(to, byte(e.Kind))
		to = binary.BigEndian.AppendUint32(to, e.AtMs)
		to = binary.BigEndian.AppendUint32(to, e.Position)
		to = binary.BigEndian.AppendUint32(to, e.Length)
		to = append(to, e.Phoneme[:]...)
	}
	return to
}

// ReadEvents reads the events of a frame.
func ReadEvents(payload []byte) ([]Event, error) {
	if len(payload)%eventBytes != 0 {
		return nil, errors.New("a frame of events is cut off")
	}
	events := make([]Event, 0, len(payload)/eventBytes)
	for ; len(payload) > 0; payload = payload[eventBytes:] {
		e := Event{
			Kind: EventKind(payload[0]), AtMs: binary.BigEndian.Uint32(payload[1:]),
			Position: binary.BigEndian.Uint32(payload[5:]), Length: binary.BigEndian.Uint32(payload[9:]),
		}
		copy(e.Phoneme[:], payload[13:])
		events = append(events, e)
	}
	return events, nil
}

// WriteFrame writes a frame.
func WriteFrame(to io.Writer, kind Kind, payload []byte) error {
	if len(payload) > MaxFrame {
		return fmt.Errorf("a frame has %d bytes, more than it may", len(payload))
	}
	head := [5]byte{byte(kind)}
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload)))
	if _, err := to.Write(head[:]); err != nil {
		return err
	}
	_, err := to.Write(payload)
	return err
}

// ReadFrame reads a frame.
func ReadFrame(from io.Reader) (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > MaxFrame {
		return 0, nil, fmt.Errorf("a frame has %d bytes, more than it may", length)
	}
	payload := make([]byte, length)
	_, err := io.ReadFull(from, payload)
	return Kind(head[0]), payload, err
}

// WriteRequest writes a request.
func WriteRequest(to io.Writer, r Request) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(body) > MaxRequest {
		return fmt.Errorf("a request has %d bytes, more than it may", len(body))
	}
	_, err = to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

// ReadRequest reads a request. The error is io.EOF where there are no more.
func ReadRequest(from io.Reader) (Request, error) {
	var r Request
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return r, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > MaxRequest {
		return r, fmt.Errorf("a request has %d bytes, more than it may", length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(from, body); err != nil {
		return r, err
	}
	return r, json.Unmarshal(body, &r)
}
