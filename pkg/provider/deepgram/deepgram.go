// Package deepgram is what is used of Deepgram's streaming recognition: sound goes in as it
// is spoken, and words come out while it is.
package deepgram

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is the service's own address.
const DefaultURL = "https://api.deepgram.com"

// maxMessage bounds what the service sends at once, in bytes.
const maxMessage = 1 << 20

// Client speaks with the service. Its errors are upstream's, or context.Canceled.
type Client struct {
	// HTTP makes the requests; a guard's, for WebSockets.
	HTTP *http.Client
	// BaseURL is the address up to /v1; empty for DefaultURL.
	BaseURL, Model string
	// Secrets are tried in turn while they are refused.
	Secrets []string
}

// Sound is what a stream is of: mono samples, signed 16 bits, little-endian.
type Sound struct {
	SampleRate int
	// Language is a BCP 47 code, or "multi"; empty for the service's own.
	Language string
}

// Stream is one stream of sound. Sending and reading may be done at once.
type Stream struct{ socket *websocket.Conn }

// Result is what was understood of a stretch of the sound.
type Result struct {
	Text       string
	Confidence float64
	// Begin and End are where the stretch is, from the first sample of the stream.
	Begin, End time.Duration
	// Final says that the stretch is not told of again, and Finalized that this follows
	// a Finalize.
	Final, Finalized bool
}

// Open begins a stream. The context bounds the opening alone.
func (c Client) Open(ctx context.Context, s Sound) (*Stream, error) {
	base := c.BaseURL
	if base == "" {
		base = DefaultURL
	}
	query := url.Values{
		"model": {c.Model}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(s.SampleRate)}, "channels": {"1"},
		"interim_results": {"true"}, "punctuate": {"true"},
		"endpointing": {"false"}, // the end of speech is found here
		"mip_opt_out": {"true"},  // nobody agreed to train models with their voice
	}
	if s.Language != "" {
		query.Set("language", s.Language)
	}
	address := "ws" + strings.TrimPrefix(strings.TrimSuffix(base, "/"), "http") + "/v1/listen?" + query.Encode()
	var stream *Stream
	err := upstream.WithSecrets(c.Secrets, func(secret string) error {
		//nolint:bodyclose // the answer that opens a socket has no body
		socket, resp, err := websocket.Dial(ctx, address, &websocket.DialOptions{
			HTTPClient: c.HTTP, HTTPHeader: http.Header{"Authorization": {"Token " + secret}},
		})
		if err != nil {
			return dialed(resp, err)
		}
		socket.SetReadLimit(maxMessage)
		stream = &Stream{socket}
		return nil
	})
	return stream, err
}

// dialed is why a stream was not opened.
func dialed(resp *http.Response, err error) error {
	if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		if status := upstream.CheckStatus(resp); status != nil {
			return status
		}
		return &upstream.Error{Code: upstream.Malformed, Status: resp.StatusCode, Err: err}
	}
	return upstream.FromRequest(err)
}

// Send sends the next samples.
func (s *Stream) Send(ctx context.Context, pcm []byte) error {
	return upstream.FromBody(s.socket.Write(ctx, websocket.MessageBinary, pcm))
}

// Finalize asks for all that is left of what was sent.
func (s *Stream) Finalize(ctx context.Context) error { return s.control(ctx, "Finalize") }

// KeepAlive keeps a stream open on which nothing is sent: the service closes it after ten
// seconds.
func (s *Stream) KeepAlive(ctx context.Context) error { return s.control(ctx, "KeepAlive") }

func (s *Stream) control(ctx context.Context, kind string) error {
	return upstream.FromBody(s.socket.Write(ctx, websocket.MessageText, []byte(`{"type":"`+kind+`"}`)))
}

// Close ends the stream.
func (s *Stream) Close() { _ = s.socket.CloseNow() }

// Read waits for the next result.
func (s *Stream) Read(ctx context.Context) (Result, error) {
	for {
		_, data, err := s.socket.Read(ctx)
		if err != nil {
			return Result{}, ended(err)
		}
		var m struct {
			Type      string
			Start     float64
			Duration  float64
			IsFinal   bool `json:"is_final"`
			Finalized bool `json:"from_finalize"`
			Channel   json.RawMessage
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return Result{}, &upstream.Error{Code: upstream.Malformed, Err: err}
		}
		if m.Type != "Results" {
			continue // what it says of itself
		}
		var channel struct {
			Alternatives []struct {
				Transcript string
				Confidence float64
			}
		}
		if err := json.Unmarshal(m.Channel, &channel); err != nil || len(channel.Alternatives) == 0 {
			return Result{}, &upstream.Error{Code: upstream.Malformed, Err: err}
		}
		best := channel.Alternatives[0]
		return Result{
			Text: strings.TrimSpace(best.Transcript), Confidence: best.Confidence, Begin: seconds(m.Start), End: seconds(m.Start + m.Duration),
			Final: m.IsFinal, Finalized: m.Finalized,
		}, nil
	}
}

// ended is why nothing more comes.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	switch websocket.CloseStatus(err) {
	case websocket.StatusPolicyViolation: // as it closes for sound that it cannot read
		return &upstream.Error{Code: upstream.Rejected, Err: err}
	case websocket.StatusInternalError, websocket.StatusTryAgainLater:
		return &upstream.Error{Code: upstream.Unavailable, Err: err}
	}
	return upstream.FromBody(err)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
