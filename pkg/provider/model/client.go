package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/upstream"
)

// Timeouts bound an answer. A zero one does not; the HTTP client's stays.
type Timeouts struct {
	// First is until the first piece, from the request.
	First time.Duration
	// Between is from one piece to the next. The time that the receiver of a
	// piece takes does not count.
	Between time.Duration
	// Whole is until the end.
	Whole time.Duration
}

// Client is a model behind an address.
type Client struct {
	// HTTP makes the requests; a guard's, with bounds that suit a stream.
	HTTP *http.Client
	// BaseURL is what comes before /chat/completions, or /responses.
	BaseURL string
	// Protocol is how the service is asked; empty for ChatCompletions.
	Protocol Protocol
	// Name is the model's.
	Name string
	// Secrets are tried in turn while they are refused; none for a service
	// that asks for none.
	Secrets  []string
	Timeouts Timeouts
	// TokensParameter is how the service calls the bound of an answer; empty
	// for max_tokens.
	TokensParameter string
	// OmitTemperature is for models that take none but their own.
	OmitTemperature bool
	// Clock is the real one unless given.
	Clock clock.WithDelayedExecution
}

var _ Model = (*Client)(nil)

// body is a request of the protocol.
func (c *Client) body(r Request, stream bool) ([]byte, error) {
	if c.Protocol == Responses {
		return c.responsesBody(r, stream)
	}
	body := map[string]any{"model": c.Name, "messages": chatMessages(r.Messages), "stream": stream}
	if len(r.Tools) > 0 {
		body["tools"] = chatTools(r.Tools)
	}
	if r.MaxTokens > 0 {
		name := c.TokensParameter
		if name == "" {
			name = "max_tokens"
		}
		body[name] = r.MaxTokens
	}
	if !c.OmitTemperature {
		body["temperature"] = r.Temperature
	}
	return json.Marshal(body)
}

// post sends a request and answers the response, whose status is success.
func (c *Client) post(ctx context.Context, secret string, body []byte, accept string) (*http.Response, error) {
	url := strings.TrimSuffix(c.BaseURL, "/") + c.Protocol.path()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, upstream.FromRequest(err)
	}
	if err := upstream.CheckStatus(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// Stream writes an answer piece by piece.
func (c *Client) Stream(ctx context.Context, r Request, each func(Piece) error) error {
	body, err := c.body(r, true)
	if err != nil {
		return err
	}
	w := c.watch(ctx)
	defer w.stop()
	err = upstream.WithSecrets(c.Secrets, func(secret string) error {
		resp, err := c.post(w.ctx, secret, body, "text/event-stream")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return receive(resp, c.Protocol, bound(r.MaxTokens), func(p Piece) error {
			w.pause()
			defer w.resume()
			return each(p)
		})
	})
	return w.explain(ctx, err)
}

// Complete is a whole answer. It is for short ones, as of a test.
func (c *Client) Complete(ctx context.Context, r Request) (string, error) {
	body, err := c.body(r, false)
	if err != nil {
		return "", err
	}
	w := c.watch(ctx)
	defer w.stop()
	var text string
	err = upstream.WithSecrets(c.Secrets, func(secret string) error {
		resp, err := c.post(w.ctx, secret, body, "application/json")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		whole, err := readWhole(resp, c.Protocol)
		text = whole.text
		return err
	})
	return text, w.explain(ctx, err)
}

// watch is what ends an answer that takes too long.
type watch struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	between  time.Duration
	waiting  clock.Timer
	deadline clock.Timer
}

func (c *Client) watch(ctx context.Context) *watch {
	w := &watch{between: c.Timeouts.Between}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	var clk clock.WithDelayedExecution = clock.RealClock{}
	if c.Clock != nil {
		clk = c.Clock
	}
	late := func() { w.cancel(upstream.ErrTimeout) }
	if c.Timeouts.First > 0 {
		w.waiting = clk.AfterFunc(c.Timeouts.First, late)
	} else if w.between > 0 {
		// Made here, and begun with the first piece.
		w.waiting = clk.AfterFunc(w.between, late)
		w.waiting.Stop()
	}
	if c.Timeouts.Whole > 0 {
		w.deadline = clk.AfterFunc(c.Timeouts.Whole, late)
	}
	return w
}

// pause lets a piece's receiver take its time.
func (w *watch) pause() {
	if w.waiting != nil {
		w.waiting.Stop()
	}
}

// resume waits for the next piece.
func (w *watch) resume() {
	if w.waiting != nil && w.between > 0 {
		w.waiting.Reset(w.between)
	}
}

func (w *watch) stop() {
	w.pause()
	if w.deadline != nil {
		w.deadline.Stop()
	}
	w.cancel(nil)
}

// explain tells a caller who gave up from an answer that was ended for its
// slowness: both look the same to the HTTP client.
func (w *watch) explain(caller context.Context, err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if err := caller.Err(); err != nil {
		return err
	}
	if cause := context.Cause(w.ctx); errors.Is(cause, upstream.ErrTimeout) {
		return cause
	}
	return err
}
