// Package livekit speaks with an organization's LiveKit server: it mints the
// tokens that let participants into a room, verifies the server's webhooks,
// asks it which rooms there are, and closes them. Being in a room is package room's.
// It is the wire protocol and nothing else; when to do what is for the callers.
//
// The project's own protocol module does this and much more: it brings gRPC,
// protobuf, a WebRTC stack and a message bus, where a token is a JWT of a few
// claims and a room list one request.
package livekit

import (
	"time"

	"github.com/golang-jwt/jwt/v5"

	"visavis.dev/pkg/base/id"
)

// Key is an API key of a LiveKit server with its secret.
type Key struct{ ID, Secret string }

// Grant is what a token allows (the protocol's "video" claim). The three Can
// are always written, since a server takes a missing one for true.
type Grant struct {
	Room           string `json:"room,omitempty"`
	RoomJoin       bool   `json:"roomJoin,omitempty"`
	RoomList       bool   `json:"roomList,omitempty"`
	RoomCreate     bool   `json:"roomCreate,omitempty"`
	RoomAdmin      bool   `json:"roomAdmin,omitempty"`
	Hidden         bool   `json:"hidden,omitempty"`
	CanPublish     bool   `json:"canPublish"`
	CanSubscribe   bool   `json:"canSubscribe"`
	CanPublishData bool   `json:"canPublishData"`
}

// Participant is who a token lets in.
type Participant struct {
	// Identity is unique in the room.
	Identity string
	// Name is shown; empty for none.
	Name string
	// Metadata is the participant's, for the others in the room.
	Metadata string
	// Agent says that it is a program rather than a person: such alone do not keep a room open.
	Agent bool
	// Attributes are the participant's, for the others in the room.
	Attributes map[string]string
}

// claims are a token's.
type claims struct {
	jwt.RegisteredClaims
	Name     string `json:"name,omitempty"`
	Metadata string `json:"metadata,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Video    *Grant `json:"video,omitempty"`
	// Attributes are the participant's.
	Attributes map[string]string `json:"attributes,omitempty"`
	// SHA256 is the hash of a webhook's body.
	SHA256 string `json:"sha256,omitempty"`
}

// clockSkew is how far the server's clock may be behind, or ahead.
const clockSkew = 10 * time.Second

// Mint makes a token that is good for a while.
func (k Key) Mint(p Participant, g Grant, now time.Time, lasts time.Duration) (string, error) {
	kind := ""
	if p.Agent {
		kind = "agent"
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: k.ID, Subject: p.Identity, ID: p.Identity,
			NotBefore: jwt.NewNumericDate(now.Add(-clockSkew)), ExpiresAt: jwt.NewNumericDate(now.Add(lasts)),
		},
		Name: p.Name, Metadata: p.Metadata, Kind: kind, Attributes: p.Attributes, Video: &g,
	}).SignedString([]byte(k.Secret))
}

// RoomName is the name of a session's room. The prefix keeps rooms of several
// deployments on one server apart.
func RoomName(prefix string, session id.Session) string { return prefix + session.String() }
