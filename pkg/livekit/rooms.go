package livekit

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/pkg/upstream"
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
	token, err := s.Key.Mint(Participant{}, Grant{RoomList: true}, now, requestLasts)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, HTTPAddress(s.URL)+"/twirp/livekit.RoomService/ListRooms", strings.NewReader("{}"))
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	var answer struct {
		Rooms []Room `json:"rooms"`
	}
	err = upstream.ExchangeJSON(s.HTTP, req, &answer)
	return answer.Rooms, err
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
