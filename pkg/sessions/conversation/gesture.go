package conversation

import (
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// Gesture is a movement of the face that fits what a turn says, or one of this moment, of no turn.
type Gesture struct {
	Turn id.Turn `json:"turnId,omitzero"`
	// T is when, in milliseconds from the start of the turn.
	T    int64  `json:"t"`
	Name string `json:"name"`
}

func (Gesture) messageType() string { return "gesture" }

// The gestures that are sent; a client may know others.
const (
	GestureNod     = "nod"
	GestureSmile   = "smile"
	GestureThink   = "think"
	GestureConcern = "concern"
	GestureWave    = "wave"
)

// gestures are what the acts look like. An answer has none of its own: the words stress
// themselves.
var gestures = map[Act]string{
	ActGreeting: GestureSmile, ActThanks: GestureSmile, ActWellness: GestureSmile, ActGoodbye: GestureWave,
	ActAcknowledge: GestureNod, ActHandoff: GestureNod, ActRepeat: GestureNod, ActAbility: GestureSmile,
	ActUnknown: GestureConcern, ActRefusal: GestureConcern, ActClarify: GestureThink,
}

// gesture is what a speech looks like that begins; empty for nothing in particular.
func (s *speech) gesture() string {
	switch {
	case s.grave:
		return GestureConcern
	case s.turn.Origin == session.Greeting:
		return GestureSmile
	}
	return gestures[s.act]
}

// gestured are the messages that show how a speech begins, to a client that shows a face.
func (c *Conversation) gestured(s *speech) []data {
	if name := s.gesture(); name != "" && s.follows == nil && c.config.aloud() {
		return []data{Gesture{Turn: s.turn.ID, Name: name}}
	}
	return nil
}
