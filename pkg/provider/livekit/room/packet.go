package room

import (
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// packet is a data packet.
type packet struct {
	// from is who sent it, as the server says, who knows; empty for somebody hidden.
	from string
	// user is what somebody says on a topic, ask a method that is called, and answer what came of one that was; one is
	// set, or none for what is of no use here.
	user   *said
	ask    *call
	answer *answer
}

// said is what somebody says.
type said struct {
	from, topic string
	// sid is that of the stay in which it was sent; empty where the server is too old to say.
	sid     string
	payload []byte
}

// call is a method that a participant calls of another, and answer what came of it.
type (
	call   struct{ id, method, payload string }
	answer struct {
		id, payload string
		failed      *Failure
	}
)

// The kinds of packets, by the number of their field.
const (
	userField     protowire.Number = 2
	askField      protowire.Number = 10
	ackField      protowire.Number = 11
	answerField   protowire.Number = 12
	headerField   protowire.Number = 13
	chunkField    protowire.Number = 14
	trailerField  protowire.Number = 15
	fromField     protowire.Number = 4
	toField       protowire.Number = 5
	rpcVersion                     = 1
	unsupported                    = 1400 // the protocol's code for a method that nobody has
	answersWithin                  = 10 * time.Second
)

// readPacket reads a data packet.
func readPacket(message []byte) (p packet, err error) {
	err = fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		switch field {
		case userField:
			p.user = &said{}
			return p.user.read(text)
		case fromField:
			p.from = string(text)
		case askField:
			p.ask = &call{}
			return p.ask.read(text)
		case answerField:
			p.answer = &answer{}
			return p.answer.read(text)
		}
		return nil
	})
	if u := p.user; u != nil {
		// The sender of these is written twice, by servers of all ages once at least. Where a server
		// is too old to know the second place it passes on what the sender wrote there, so
		// the two must agree.
		switch {
		case u.from == "":
		case p.from == "":
			p.from = u.from
		case p.from != u.from:
			p.from = ""
		}
	}
	return p, err
}

func (s *said) read(message []byte) error {
	return fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		switch field {
		case 1:
			s.sid = string(text)
		case 2:
			s.payload = text
		case 4:
			s.topic = string(text)
		case 5:
			s.from = string(text)
		}
		return nil
	})
}

func (c *call) read(message []byte) error {
	return fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		switch field {
		case 1:
			c.id = string(text)
		case 2:
			c.method = string(text)
		case 3:
			c.payload = string(text)
		}
		return nil
	})
}

func (a *answer) read(message []byte) error {
	return fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		switch field {
		case 1:
			a.id = string(text)
		case 2:
			a.payload = string(text)
		case 3:
			a.failed = &Failure{}
			return a.failed.read(text)
		}
		return nil
	})
}

func (f *Failure) read(message []byte) error {
	return fields(message, func(field protowire.Number, text []byte, number uint64) error {
		switch field {
		case 1:
			f.Code = int(min(number, 1<<16))
		case 2:
			f.Message = string(text[:min(len(text), 200)])
		}
		return nil
	})
}

// packetTo is the data packet that brings a payload to one participant alone.
func packetTo(to, topic string, payload []byte) []byte {
	user := appendText(appendMessage(nil, 2, payload), 4, topic)
	// Both places say for whom it is, for servers of all ages.
	return appendText(appendMessage(nil, userField, appendText(user, 6, to)), toField, to)
}

// asking is the packet that calls a method, which is to be answered in time.
func asking(to string, c call, within time.Duration) []byte {
	m := appendText(appendText(appendText(nil, 1, c.id), 2, c.method), 3, c.payload)
	m = appendNumber(appendNumber(m, 4, uint64(within.Milliseconds())), 5, rpcVersion)
	return appendText(appendMessage(nil, askField, m), toField, to)
}

// acknowledging is the packet that says that a call has arrived, and answering what came of it.
func acknowledging(to, id string) []byte {
	return appendText(appendMessage(nil, ackField, appendText(nil, 1, id)), toField, to)
}

func answering(to string, a answer) []byte {
	m := appendText(nil, 1, a.id)
	if a.failed != nil {
		m = appendMessage(m, 3, appendText(appendNumber(nil, 1, uint64(a.failed.Code)), 2, a.failed.Message))
	} else {
		m = appendText(m, 2, a.payload)
	}
	return appendText(appendMessage(nil, answerField, m), toField, to)
}

// heading is the packet that begins a stream of bytes, chunk one of its pieces, and trailing its end.
func heading(to, id, topic, name string, attributes map[string]string, now time.Time) []byte {
	m := appendNumber(appendText(nil, 1, id), 2, uint64(now.UnixMilli()))
	m = appendText(appendText(m, 3, topic), 4, "application/octet-stream")
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		m = appendMessage(m, 8, appendText(appendText(nil, 1, key), 2, attributes[key]))
	}
	return appendText(appendMessage(nil, headerField, appendMessage(m, 10, appendText(nil, 1, name))), toField, to)
}

func chunk(to, id string, index uint64, content []byte) []byte {
	m := appendMessage(appendNumber(appendText(nil, 1, id), 2, index), 3, content)
	return appendText(appendMessage(nil, chunkField, m), toField, to)
}

func trailing(to, id string) []byte {
	return appendText(appendMessage(nil, trailerField, appendText(nil, 1, id)), toField, to)
}
