package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tmaxmax/go-sse"

	"visavis.dev/pkg/provider/upstream"
)

const (
	// maxEvent bounds an event of a stream, in bytes. A piece is a word or two.
	maxEvent = 256 << 10
	// maxWhole bounds an answer that is not a stream, in bytes.
	maxWhole = 1 << 20
	// maxAnswer bounds an answer in characters where no tokens were asked for.
	maxAnswer = 64 << 10
	// charactersPerToken is more than any language's words take on average.
	charactersPerToken = 16
)

// bound is how many characters an answer of so many tokens may have; a service
// need not keep to the tokens.
func bound(tokens int64) int {
	if tokens <= 0 {
		return maxAnswer
	}
	return int(min(tokens*charactersPerToken, maxAnswer))
}

// chunk is an event of a stream, or a whole answer: the former has deltas, the
// latter messages.
type chunk struct {
	Choices []choice        `json:"choices"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int64   `json:"index"`
	Delta        content `json:"delta"`
	Message      content `json:"message"`
	FinishReason string  `json:"finish_reason"`
}

type content struct {
	Content   string      `json:"content"`
	ToolCalls []callDelta `json:"tool_calls"`
}

// failed reads the error that a service sends where an answer should be. Its
// codes are not agreed upon; what is widespread is told apart.
func (c *chunk) failed() error {
	if len(c.Error) == 0 || bytes.Equal(c.Error, []byte("null")) {
		return nil
	}
	var e struct {
		Type string `json:"type"`
		Code any    `json:"code"`
	}
	_ = json.Unmarshal(c.Error, &e) // of any form it is an error
	return &upstream.Error{Code: failure(e.Code, e.Type)}
}

// failure is what the words by which services name their errors amount to.
func failure(words ...any) upstream.Code {
	code := upstream.Unavailable
	for _, word := range words {
		switch word {
		case "rate_limit_exceeded", "insufficient_quota", "rate_limit_error", 429.0:
			code = upstream.RateLimited
		case "invalid_api_key", "authentication_error", "permission_error", 401.0, 403.0:
			code = upstream.Refused
		case "model_not_found", "invalid_request_error", "context_length_exceeded", 400.0, 404.0:
			code = upstream.Rejected
		}
	}
	return code
}

// receive reads an answer in whichever form it comes: some services do not
// stream, and something in between may answer with a page of its own.
func receive(resp *http.Response, protocol Protocol, limit int, each func(Piece) error) error {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch mediaType {
	case "application/json":
		whole, err := readWhole(resp, protocol)
		if whole.text == "" && len(whole.calls) == 0 {
			return err
		}
		a := answer{limit: limit, each: each, calls: whole.calls}
		if err := errors.Join(a.write(whole.text), err); err != nil {
			return err
		}
		return a.calls.pass(each)
	case "text/html":
		return &upstream.Error{Code: upstream.Malformed}
	}
	return read(resp, protocol, limit, each)
}

// read reads the stream of an answer. An answer is whole when it says why it
// ended, or that it is done; anything else broke off, whatever the transport
// makes of it.
func read(resp *http.Response, protocol Protocol, limit int, each func(Piece) error) error {
	a := answer{limit: limit, each: each}
	take := a.take
	if protocol == Responses {
		take = a.takeResponses
	}
	for event, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
		if err != nil {
			return asStreamError(err)
		}
		if done, err := take(event.Data); done || err != nil {
			return err
		}
	}
	if a.finish == "" {
		return &upstream.Error{Code: upstream.Truncated}
	}
	return a.end()
}

// asStreamError tells an event beyond all bounds from a body that failed.
func asStreamError(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return upstream.FromBody(err)
}

// answer is what has arrived of a stream.
type answer struct {
	limit   int
	each    func(Piece) error
	written int // characters
	calls   calls
	finish  string
}

// take takes an event; done says that no more is to come.
func (a *answer) take(data string) (done bool, err error) {
	if data == "" {
		return false, nil
	}
	if data == "[DONE]" {
		return true, a.end()
	}
	c, err := parse(data)
	if err != nil {
		return false, err
	}
	if err := c.failed(); err != nil {
		return false, a.late(err)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		if err := a.write(choice.Delta.Content); err != nil {
			return false, err
		}
		for _, d := range choice.Delta.ToolCalls {
			if err := a.calls.add(d); err != nil {
				return false, err
			}
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	return false, nil
}

// late keeps a refusal that comes after words from being one: another secret
// would write them again.
func (a *answer) late(err error) error {
	if a.written > 0 && errors.Is(err, upstream.ErrRefused) {
		return &upstream.Error{Code: upstream.Unavailable, Err: err}
	}
	return err
}

// parse reads an event.
func parse(data string) (c chunk, err error) {
	err = decode(data, &c)
	return c, err
}

// decode reads the JSON of an event. One that breaks off is what is left of a stream that
// did.
func decode(data string, v any) error {
	err := json.NewDecoder(strings.NewReader(data)).Decode(v)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &upstream.Error{Code: upstream.Truncated, Err: err}
	case err != nil:
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return nil
}

// write passes a piece on, as far as there is room.
func (a *answer) write(piece string) error {
	if piece == "" {
		return nil
	}
	n := utf8.RuneCountInString(piece)
	if a.written+n > a.limit {
		return ErrLength
	}
	a.written += n
	return a.each(Piece{Text: piece})
}

// end says how an answer ended.
func (a *answer) end() error {
	switch {
	case a.finish == "length":
		return ErrLength
	case a.finish == "content_filter":
		return ErrFiltered
	case a.written == 0 && len(a.calls) == 0:
		return &upstream.Error{Code: upstream.Malformed}
	}
	return a.calls.pass(a.each)
}

// answered is an answer that is not a stream.
type answered struct {
	text, finish string
	calls        calls
}

// readWhole reads an answer that is not a stream. The error is that of how it ended; what it
// says until then is good.
func readWhole(resp *http.Response, protocol Protocol) (whole answered, err error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole+1))
	if err != nil {
		return whole, upstream.FromBody(err)
	}
	if len(body) > maxWhole {
		return whole, &upstream.Error{Code: upstream.Malformed}
	}
	parts := wholeChat
	if protocol == Responses {
		parts = wholeResponse
	}
	if whole, err = parts(string(body)); err != nil {
		return answered{}, err
	}
	nothing := func(Piece) error { return nil }
	a := answer{limit: maxAnswer, each: nothing, finish: whole.finish, calls: whole.calls}
	if err := a.write(whole.text); err != nil {
		return answered{}, err
	}
	return whole, a.end()
}

func wholeChat(body string) (a answered, err error) {
	c, err := parse(body)
	if err != nil {
		return a, err
	}
	if err := c.failed(); err != nil {
		return a, err
	}
	if len(c.Choices) == 0 {
		return a, &upstream.Error{Code: upstream.Malformed}
	}
	for _, d := range c.Choices[0].Message.ToolCalls {
		if err := a.calls.add(d); err != nil {
			return a, err
		}
	}
	a.text, a.finish = c.Choices[0].Message.Content, c.Choices[0].FinishReason
	return a, nil
}
