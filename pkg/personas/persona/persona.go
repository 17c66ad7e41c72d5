package persona

import (
	"strconv"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/voice"
)

// Kind tells a persona with one face from one that a duo wears.
type Kind string

// The kinds.
const (
	Standard Kind = "standard"
	OfDuo    Kind = "duo"
)

// Status is whether a persona can start sessions.
type Status string

// The states of a persona. They follow from its faces and are kept nowhere.
const (
	// Ready: it can start sessions, unless its duo is not live.
	Ready Status = "ready"
	// Preparing: a face of it is being prepared.
	Preparing Status = "preparing"
	// Paused: something stands in its way that does not pass by itself.
	Paused Status = "paused"
)

// Obstacle is why a persona is paused.
type Obstacle string

// The obstacles.
const (
	// ConsentWithdrawn: the consent that a face of it rests on was.
	ConsentWithdrawn Obstacle = "consent_withdrawn"
	// FaceFailed: a face of it could not be prepared. Giving it the same face
	// again tries again.
	FaceFailed Obstacle = "face_failed"
)

// Persona is one persona as it is now.
type Persona struct {
	ID   id.Persona
	Name string
	Kind Kind
	// Avatar and Voice are its face and voice; a duo's persona has the lead
	// host's, and in Partner the other host's face.
	Avatar  id.Avatar
	Voice   id.Voice
	Partner id.Avatar
	// DuoID is the duo that a persona of kind duo belongs to.
	DuoID      id.Duo
	Definition Definition
	// Version counts from one.
	Version              int64
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
	// Preparation is when a face that is being prepared was expected to be
	// ready; nil when none is.
	Preparation *time.Time
	// Obstacle is empty when there is none.
	Obstacle Obstacle
	// Widgets are those that show it, and Portals those on which it speaks, in the
	// draft or for visitors.
	Widgets []id.Widget
	Portals []id.Portal

	// Duo and VoiceStatus are set by Load, the former for a persona of kind duo.
	Duo         *Duo
	VoiceStatus voice.Status
}

// Duo is what a session needs to know of a duo.
type Duo struct {
	ID        id.Duo
	Live      bool
	Languages []string
	Cast
}

// Cast is the two who speak in a conversation with a duo, and how they share it.
type Cast struct {
	Hosts     []Host    `json:"hosts"`
	Interplay Interplay `json:"interplay"`
}

// Interplay is how the hosts of a duo share a conversation (package floor has the rules).
type Interplay struct {
	Style    string `json:"style" enum:"interview,debate,co_host,teach" doc:"What the two do together. interview: the lead asks, the partner answers. teach: the lead explains, the partner sums up and asks. co_host: they share every answer. debate: they alternate within every answer."`
	Handover string `json:"handover" enum:"natural,strict" doc:"natural lets the hosts change from one sentence of an answer to the next, strict has one of them say all of it."`
	// Balance is the lead's share of the characters that the two say, 0 to 1.
	Balance float64 `json:"balance" minimum:"0" maximum:"1" doc:"How much of the talking is the lead's, by the characters that the two say; the rest is the partner's. The conversation comes near to it as far as style and handover let it: where a strict interview or teach gives each host their part, it changes nothing."`
}

// Host is one of the two of a duo.
type Host struct {
	Seat   string    `json:"seat" doc:"Where the host sits, as seen by the visitor: left or right."`
	Name   string    `json:"name" doc:"What the host is called in the conversation."`
	Avatar id.Avatar `json:"avatarId" doc:"The face that the host wears."`
	Voice  id.Voice  `json:"voiceId" doc:"The voice that the host speaks with."`
	Role   string    `json:"role" doc:"lead steers the conversation, partner comes in."`
}

// Noun is what errors call a persona, and VersionNoun a version of one.
const (
	Noun        errdefs.Noun = "persona"
	VersionNoun errdefs.Noun = "version of the persona"
)

// noVersion says that the persona never had a version.
func noVersion(version int64) error {
	return errdefs.NotFound{Noun: VersionNoun, ID: strconv.FormatInt(version, 10)}
}

// Status is whether it can start sessions.
func (p *Persona) Status() Status {
	switch {
	case p.Obstacle != "":
		return Paused
	case p.Preparation != nil:
		return Preparing
	}
	return Ready
}

// FaceReadyAt is when its faces are expected to be ready; nil unless one is
// being prepared.
func (p *Persona) FaceReadyAt(now time.Time) *time.Time {
	if p.Status() != Preparing {
		return nil
	}
	at := now.Add(face.Wait(*p.Preparation, now))
	return &at
}
