package room

import "google.golang.org/protobuf/encoding/protowire"

// packet is a data packet of a user.
type packet struct {
	// from is who sent it, as the server says, who knows; empty for somebody hidden.
	from, topic string
	// sid is that of the stay in which it was sent; empty where the server is too old to say.
	sid     string
	payload []byte
}

// readPacket reads a data packet; false for what is none of a user.
func readPacket(message []byte) (p packet, user bool, err error) {
	var outer string
	err = fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		switch field {
		case 2:
			user = true
			return p.readUser(text)
		case 4:
			outer = string(text)
		}
		return nil
	})
	// The sender is written twice, by servers of all ages once at least. Where a server
	// is too old to know the second place it passes on what the sender wrote there, so
	// the two must agree.
	switch {
	case p.from == "":
		p.from = outer
	case outer != "" && outer != p.from:
		p.from = ""
	}
	return p, user, err
}

func (p *packet) readUser(message []byte) error {
	return fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		switch field {
		case 1:
			p.sid = string(text)
		case 2:
			p.payload = text
		case 4:
			p.topic = string(text)
		case 5:
			p.from = string(text)
		}
		return nil
	})
}

// packetTo is the data packet that brings a payload to one participant alone.
func packetTo(to, topic string, payload []byte) []byte {
	user := appendText(appendMessage(nil, 2, payload), 4, topic)
	// Both places say for whom it is, for servers of all ages.
	user = appendText(user, 6, to)
	return appendText(appendMessage(nil, 2, user), 5, to)
}
