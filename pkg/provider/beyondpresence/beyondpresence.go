// Package beyondpresence is what is used of the Beyond Presence API: having an avatar rendered in a room of a LiveKit
// server, and finding out whether a key is good and an avatar can be had. What is said to who renders, in the room, is no
// part of it (livekit.AudioTopic).
package beyondpresence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is the service's own address.
const DefaultURL = "https://api.bey.dev"

// available is the status of an avatar that can be rendered.
const available = "available"

// Client speaks with the service. Its errors are upstream's, or context.Canceled.
type Client struct {
	// HTTP makes the requests; a guard's.
	HTTP *http.Client
	// BaseURL is the address up to /v1.
	BaseURL string
	Key     string
}

// Start has an avatar come into a room, whose token is shown to the service, and answers the id of the stay. It costs the account's
// time until the room is closed or the avatar is sent out of it. It is not repeated: nobody knows whether a request that broke off
// was heard.
func (c Client) Start(ctx context.Context, avatar, server, token string) (string, error) {
	body, err := json.Marshal(map[string]string{"avatar_id": avatar, "url": server, "token": token, "transport": "livekit"})
	if err != nil {
		return "", err
	}
	var answer struct {
		ID string `json:"id"`
	}
	if err := c.ask(ctx, http.MethodPost, "/v1/sessions", body, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", &upstream.Error{Code: upstream.Malformed, Err: errors.New("the session has no id")}
	}
	return answer.ID, nil
}

// Check says whether an avatar can be rendered with the key.
func (c Client) Check(ctx context.Context, avatar string) error {
	var answer struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	if err := c.ask(ctx, http.MethodGet, "/v1/avatars/"+url.PathEscape(avatar), nil, &answer); err != nil {
		return err
	}
	if answer.Status != available {
		return &upstream.Error{Code: upstream.Rejected, Err: errors.New("the avatar cannot be rendered now")}
	}
	return nil
}

func (c Client) ask(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("X-Api-Key", c.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.GetBody = nil // which keeps it from being sent again where a connection breaks
	}
	return upstream.ExchangeJSON(c.HTTP, req, answer)
}
