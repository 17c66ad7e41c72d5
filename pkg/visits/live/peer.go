package live

import (
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/speech/playout"
)

// The codes a socket is closed with, beside those of RFC 6455.
const (
	closeBadToken   websocket.StatusCode = 4001
	closeEnded      websocket.StatusCode = 4002
	closeSuperseded websocket.StatusCode = 4003
	closeIdle       websocket.StatusCode = 4008
	closeNoPlace    websocket.StatusCode = 4029
	closeElsewhere                       = websocket.StatusServiceRestart
)

// peer is somebody in a conversation, as its room reaches them: over a socket (socket), or
// as a participant of a media server's room (participant).
type peer interface {
	// send queues a message. It never waits: who does not take what they are sent is
	// let go.
	send(f frame)
	// close ends it, after what was sent.
	close(code websocket.StatusCode, reason string)
	// plays says whether it can be sent sound.
	plays() bool
	// carries is in which way sound of a format comes to it.
	carries(f playout.Format) playout.Format
	// most is the largest message that is sure to get there, in bytes.
	most() int
}

// frame is a message, or the end of all.
type frame struct {
	// kind and content are of a message: its type and its data.
	kind    string
	content any
	data    []byte
	binary  bool
	// track says that it is a packet of a track's (playout.Track).
	track bool
	// stopped says, once it is set, that it is not worth sending any more; nil for never.
	stopped *atomic.Bool
	end     bool
	code    websocket.StatusCode
	reason  string
}

// message writes a message of the protocol.
func (s *Server) message(kind string, data any) frame {
	return encode(conversation.Message{ID: id.NewTurn().Bare(), Type: kind, Data: data, T: s.Clock.Now().UnixMilli()})
}

func encode(m conversation.Message) frame {
	text, err := json.Marshal(m)
	if err != nil {
		panic(errors.Join(errors.New("a message cannot be written"), err)) // a fault of the program
	}
	return frame{kind: m.Type, content: m.Data, data: text}
}
