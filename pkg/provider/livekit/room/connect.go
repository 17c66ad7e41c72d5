package room

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"

	"visavis.dev/pkg/provider/upstream"
)

// version is that of the protocol that is spoken: the first in which a server tells
// everybody who leaves.
const version = "9"

// dial opens the socket of the signals. The error is an upstream.Error, or
// context.Canceled.
func dial(ctx context.Context, o Options) (*websocket.Conn, error) {
	query := url.Values{"protocol": {version}, "auto_subscribe": {"0"}, "sdk": {"go"}, "version": {"1"}}
	socket, resp, err := websocket.Dial(ctx, strings.TrimSuffix(o.URL, "/")+"/rtc?"+query.Encode(), &websocket.DialOptions{
		HTTPClient: o.Guard.Upgrader(),
		// Not in the address, which ends up in logs.
		HTTPHeader: http.Header{"Authorization": {"Bearer " + o.Token}},
	})
	switch {
	case err == nil:
		socket.SetReadLimit(maxSignal)
		return socket, nil
	case resp != nil:
		_ = resp.Body.Close()
		if status := upstream.CheckStatus(resp); status != nil {
			return nil, status
		}
		return nil, &upstream.Error{Code: upstream.Rejected, Status: resp.StatusCode, Err: err}
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, context.Canceled
	}
	return nil, upstream.FromRequest(err)
}

// The labels of the channels. A server counts both before it takes a connection for
// complete; nothing is said over the lossy one.
const (
	reliable = "_reliable"
	lossy    = "_lossy"
)

// connect makes the connection that this side offers, and the one that the server will.
func (r *Room) connect(secondary bool) (offer webrtc.SessionDescription, err error) {
	if r.out, err = newLink(r.guard, r.tracks, r.lose); err != nil {
		return offer, err
	}
	unordered, once := false, uint16(0)
	if _, err := r.out.CreateDataChannel(lossy, &webrtc.DataChannelInit{Ordered: &unordered, MaxRetransmits: &once}); err != nil {
		return offer, err
	}
	if r.data, err = r.out.CreateDataChannel(reliable, nil); err != nil {
		return offer, err
	}
	r.channel(r.data)
	r.out.OnDataChannel(r.offered)
	if secondary {
		if r.in, err = newLink(r.guard, nil, r.lose); err != nil {
			return offer, err
		}
		r.opening.Add(1)
		r.in.OnDataChannel(r.offered)
		r.in.OnTrack(r.listenTo)
	}
	if offer, err = r.out.CreateOffer(nil); err != nil {
		return offer, err
	}
	return offer, r.out.SetLocalDescription(offer)
}

// offered takes a channel that the server opens. Each costs some memory, so that there
// may not be many.
func (r *Room) offered(c *webrtc.DataChannel) {
	switch {
	case r.channels.Add(1) > maxChannels:
		r.lose(errFlood)
	case c.Label() == reliable:
		r.channel(c)
	}
}

// channel follows a channel for data.
func (r *Room) channel(c *webrtc.DataChannel) {
	c.OnOpen(r.open)
	c.OnMessage(r.hear)
	c.OnClose(func() { r.lose(errClosed) })
}

// accept answers what the server offers.
func (r *Room) accept(offer webrtc.SessionDescription) error {
	if r.in == nil {
		return errMalformed
	}
	if err := r.in.describe(offer); err != nil {
		return err
	}
	answer, err := r.in.CreateAnswer(nil)
	if err == nil {
		err = r.in.SetLocalDescription(answer)
	}
	if err != nil {
		return errMalformed
	}
	return r.write(r.ctx, description(2, answer))
}
