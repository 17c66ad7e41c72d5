package room

import (
	"encoding/json"

	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/encoding/protowire"
)

// signal is what a server says; one field is set.
type signal struct {
	join   *joined
	answer *webrtc.SessionDescription
	offer  *webrtc.SessionDescription
	// candidate is one of the connection that the server offers where secondary is set, and
	// of the other where it is not.
	candidate *webrtc.ICECandidateInit
	secondary bool
	update    []participant
	leave     bool
}

// joined is what a server says to who has joined.
type joined struct {
	self   participant
	others []participant
	// secondary says that the server wants a connection of its own for what it sends,
	// as it does for those who may subscribe.
	secondary bool
}

// participant is somebody in a room.
type participant struct {
	sid, identity string
	state         state
	tracks        []trackInfo
}

// trackInfo is a track that somebody publishes.
type trackInfo struct {
	sid    string
	kind   trackKind
	source trackSource
}

// trackKind and trackSource are what a track is of.
type (
	trackKind   uint64
	trackSource uint64
)

// The kinds and sources that matter.
const (
	audio trackKind = 0
	video trackKind = 1

	unknown    trackSource = 0
	camera     trackSource = 1
	microphone trackSource = 2
)

// state is how far somebody has come.
type state uint64

// The states: a participant that is active has all its channels, as far as the server
// knows.
const (
	active       state = 2
	disconnected state = 3
)

// readSignal reads a message of the server (the protocol's SignalResponse). What is of no
// use here is a signal without a field.
func readSignal(message []byte) (s signal, err error) {
	err = fields(message, func(field protowire.Number, text []byte, _ uint64) (err error) {
		switch field {
		case 1:
			s.join, err = readJoin(text)
		case 2:
			s.answer, err = readDescription(webrtc.SDPTypeAnswer, text)
		case 3:
			s.offer, err = readDescription(webrtc.SDPTypeOffer, text)
		case 4:
			s.candidate, s.secondary, err = readTrickle(text)
		case 5:
			s.update, err = readUpdate(text)
		case 8:
			s.leave = true
		}
		return err
	})
	return s, err
}

func readJoin(message []byte) (*joined, error) {
	j := &joined{}
	err := fields(message, func(field protowire.Number, text []byte, number uint64) (err error) {
		switch field {
		case 2:
			j.self, err = readParticipant(text)
		case 3:
			p, err := readParticipant(text)
			if err != nil {
				return err
			}
			j.others = append(j.others, p)
		case 6:
			j.secondary = number != 0
		}
		return err
	})
	return j, err
}

func readParticipant(message []byte) (p participant, err error) {
	err = fields(message, func(field protowire.Number, text []byte, number uint64) error {
		switch field {
		case 1:
			p.sid = string(text)
		case 2:
			p.identity = string(text)
		case 3:
			p.state = state(number)
		case 4:
			t, err := readTrack(text)
			if len(p.tracks) < maxTracks {
				p.tracks = append(p.tracks, t)
			}
			return err
		}
		return nil
	})
	return p, err
}

func readTrack(message []byte) (t trackInfo, err error) {
	err = fields(message, func(field protowire.Number, text []byte, number uint64) error {
		switch field {
		case 1:
			t.sid = string(text)
		case 2:
			t.kind = trackKind(number)
		case 9:
			t.source = trackSource(number)
		}
		return nil
	})
	return t, err
}

func readUpdate(message []byte) (all []participant, err error) {
	err = fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		if field != 1 {
			return nil
		}
		p, err := readParticipant(text)
		all = append(all, p)
		return err
	})
	return all, err
}

func readDescription(kind webrtc.SDPType, message []byte) (*webrtc.SessionDescription, error) {
	d := &webrtc.SessionDescription{Type: kind}
	err := fields(message, func(field protowire.Number, text []byte, _ uint64) error {
		if field == 2 {
			d.SDP = string(text)
		}
		return nil
	})
	return d, err
}

// readTrickle reads a candidate, and which connection it is of; nil for none.
func readTrickle(message []byte) (c *webrtc.ICECandidateInit, secondary bool, err error) {
	var candidate []byte
	err = fields(message, func(field protowire.Number, text []byte, number uint64) error {
		switch field {
		case 1:
			candidate = text
		case 2:
			secondary = number != 0
		}
		return nil
	})
	if err != nil || len(candidate) == 0 {
		return nil, secondary, err
	}
	c = &webrtc.ICECandidateInit{}
	if json.Unmarshal(candidate, c) != nil {
		return nil, secondary, errMalformed
	}
	return c, secondary, nil
}

// description is the message that makes an offer (field 1) or an answer (2).
func description(field protowire.Number, d webrtc.SessionDescription) []byte {
	return appendMessage(nil, field, appendText(appendText(nil, 1, d.Type.String()), 2, d.SDP))
}

// leaving is the message of a participant that leaves as it wants to.
func leaving() []byte {
	const clientInitiated = 1
	return appendMessage(nil, 8, appendNumber(nil, 2, clientInitiated))
}

// publishing is the message that says which track the next offer has.
func publishing(track webrtc.TrackLocal) []byte {
	kind, source := audio, microphone
	if track.Kind() == webrtc.RTPCodecTypeVideo {
		kind, source = video, camera
	}
	m := appendText(appendText(nil, 1, track.ID()), 2, track.ID())
	m = appendNumber(appendNumber(m, 3, uint64(kind)), 8, uint64(source))
	const withoutRED = 13
	return appendMessage(nil, 4, appendNumber(m, withoutRED, 1))
}

// subscribing is the message that asks for a track.
func subscribing(sid string) []byte {
	return appendMessage(nil, 6, appendNumber(appendText(nil, 1, sid), 2, 1))
}
