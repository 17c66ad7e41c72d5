package livekit

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// ErrUnsigned says that a webhook's request was not sent by the server.
var ErrUnsigned = errors.New("the request does not carry a signature of this server")

// Event is what a server tells of a room. Fields that nobody here reads are
// left out.
type Event struct {
	// Type is such as participant_joined or room_finished.
	Type        string           `json:"event"`
	ID          string           `json:"id"`
	Room        EventRoom        `json:"room"`
	Participant EventParticipant `json:"participant"`
}

// EventRoom is the room of an event.
type EventRoom struct {
	SID  string `json:"sid"`
	Name string `json:"name"`
}

// EventParticipant is the participant of an event, if it is about one.
type EventParticipant struct {
	SID      string `json:"sid"`
	Identity string `json:"identity"`
}

// Receive checks that a webhook's request was sent by the server that has the
// key, and reads it. authorization is the request's header: a token of the key,
// with the hash of the body. The error is ErrUnsigned, or that of a body that
// is no JSON.
func (k Key) Receive(authorization string, body []byte, now time.Time) (Event, error) {
	var (
		c     claims
		event Event
	)
	token := strings.TrimPrefix(strings.TrimSpace(authorization), "Bearer ")
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return []byte(k.Secret), nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(k.ID), jwt.WithExpirationRequired(),
		jwt.WithLeeway(clockSkew), jwt.WithTimeFunc(func() time.Time { return now }))
	if err != nil || k.Secret == "" {
		return event, ErrUnsigned
	}
	sum := sha256.Sum256(body)
	want := base64.StdEncoding.EncodeToString(sum[:])
	if subtle.ConstantTimeCompare([]byte(c.SHA256), []byte(want)) != 1 {
		return event, ErrUnsigned
	}
	return event, json.Unmarshal(body, &event)
}
