package connections

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/store/directory"
)

func (a *API) registerReceive(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "receiveMediaEvent", Method: http.MethodPost, Path: "/connections/{id}/webhook", Group: "Connections", Auth: route.Open,
		Since: contract.V20261001, MaxBody: maxReceived, Takes: []string{"application/webhook+json"},
		Summary: "What a media server tells of its rooms",
		Description: "Called by the server of a connection of kind media: give it this address, with the organization's id, as its webhook. " +
			"The request is signed with the connection's key and secret; anything else is 404. It is noted among the connection's calls.",
	}, a.receive)
}

// maxReceived is the largest event of a server, in bytes.
const maxReceived = 64 << 10

// ReceiveInput is the request of a media server. Its body is read as it came,
// since it is signed.
type ReceiveInput struct {
	Path
	Organization  string `query:"organization" maxLength:"80" doc:"Whose connection it is."`
	Authorization string `header:"Authorization" maxLength:"4000" doc:"The server's token, which holds the hash of the body."`
}

// ReceivedEvent says that an event was taken.
type ReceivedEvent struct {
	Received bool `json:"received" enum:"true" doc:"Always true: the event was taken."`
}

// receive notes an event of the server. Whatever is wrong, it is 404.
func (a *API) receive(ctx context.Context, c *route.Call, in *ReceiveInput) (ReceivedEvent, error) {
	unknown := problem.Missing("connection").WithParam("path.id")
	which, err := in.connection()
	if err != nil {
		return ReceivedEvent{}, err
	}
	org, err := id.ParseOrg(in.Organization)
	if err != nil {
		return ReceivedEvent{}, unknown
	}
	opened, err := a.Opener.Open(ctx, org, which)
	switch {
	case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled),
		errors.Is(err, directory.ErrUnknown):
		return ReceivedEvent{}, unknown
	case err != nil:
		return ReceivedEvent{}, err
	case opened.Kind != connection.Media || opened.Provider != connection.LiveKit:
		return ReceivedEvent{}, unknown
	}
	event, ok := verified(opened, in.Authorization, c.Body(), c.Now())
	if !ok {
		return ReceivedEvent{}, unknown
	}
	a.Reporter.Report(org, which, connection.Outcome{At: c.Now(), Name: "webhook " + eventName(event.Type), Received: true})
	return ReceivedEvent{Received: true}, nil
}

// verified reads an event that was signed with one of the connection's secrets.
func verified(o connection.Opened, authorization string, body []byte, now time.Time) (livekit.Event, bool) {
	for _, secret := range o.Secrets {
		event, err := livekit.Key{ID: o.Config.Text("apiKey"), Secret: string(secret)}.Receive(authorization, body, now)
		if err == nil {
			return event, true
		}
	}
	return livekit.Event{}, false
}

// eventNames are what events of the protocol are called.
var eventNames = regexp.MustCompile(`^[a-z_]{1,40}$`)

func eventName(name string) string {
	if !eventNames.MatchString(name) {
		return "other"
	}
	return name
}
