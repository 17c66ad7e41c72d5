package livekit

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/pkg/provider/upstream"
)

// Server is a LiveKit server.
type Server struct {
	// HTTP makes the requests; a guard's.
	HTTP *http.Client
	// URL is the address that clients connect to: wss://…
	URL string
	Key Key
}

// Room is a room that exists.
type Room struct {
	SID  string `json:"sid"`
	Name string `json:"name"`
}

// requestLasts is how long the token of a request is good for.
const requestLasts = time.Minute

// Rooms lists the rooms that exist. The error is an upstream.Error or
// context.Canceled.
func (s Server) Rooms(ctx context.Context, now time.Time) ([]Room, error) {
	var answer struct {
		Rooms []Room `json:"rooms"`
	}
	err := s.ask(ctx, "ListRooms", Grant{RoomList: true}, struct{}{}, &answer, now)
	return answer.Rooms, err
}

// Delete closes a room and sends everybody out of it. One that does not exist is as good
// as closed. The error is as that of Rooms.
func (s Server) Delete(ctx context.Context, room string, now time.Time) error {
	err := s.ask(ctx, "DeleteRoom", Grant{RoomCreate: true}, map[string]string{"room": room}, &struct{}{}, now)
	if upstream.StatusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// Remove sends a participant out of a room. One that is not there is as good as sent out. The error is as that of Rooms.
func (s Server) Remove(ctx context.Context, room, identity string, now time.Time) error {
	err := s.ask(ctx, "RemoveParticipant", Grant{Room: room, RoomAdmin: true}, map[string]string{"room": room, "identity": identity}, &struct{}{}, now)
	if upstream.StatusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// ask calls a method of the server's room service.
func (s Server) ask(ctx context.Context, method string, g Grant, request, answer any, now time.Time) error {
	token, err := s.Key.Mint(Participant{}, g, now, requestLasts)
	if err != nil {
		return err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, HTTPAddress(s.URL)+"/twirp/livekit.RoomService/"+method, bytes.NewReader(body))
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return upstream.ExchangeJSON(s.HTTP, req, answer)
}

// HTTPAddress is where a server that clients reach at wss://… is asked over
// HTTP.
func HTTPAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.Scheme == "wss" {
		u.Scheme = "https"
	}
	return strings.TrimSuffix(u.String(), "/")
}
