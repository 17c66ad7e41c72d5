// Package model speaks with language models: any that answers the widespread
// /chat/completions protocol, or its successor /responses.
//
// The stream of an answer is read with package go-sse, which bounds an event.
// The protocol's own Go client was looked at and is not used: it takes keys,
// addresses and headers from the environment unasked, repeats failed requests
// by itself, reads lines of up to 32 MiB, and ends a stream that broke off as
// if it were whole. What is needed of its 26 packages are the few fields below.
package model

import (
	"context"
	"errors"

	"visavis.dev/pkg/provider/upstream"
)

// Message is one message of a chat.
type Message struct {
	// Role is system, user, assistant or tool.
	Role    string `json:"role"`
	Content string `json:"content"`
	// Calls are the tools that an assistant asked for, and ResultOf, of the role tool, is
	// the id of the call that it is the result of.
	Calls    []ToolCall `json:"-"`
	ResultOf string     `json:"-"`
}

// Request asks for one answer.
type Request struct {
	Messages    []Message
	Temperature float64
	MaxTokens   int64
	// Tools are what the model may ask for.
	Tools []Tool
}

// Piece is the next part of an answer: words, or a tool that the model asks for. Calls come
// last.
type Piece struct {
	Text string
	Call *ToolCall
}

// Model writes answers.
type Model interface {
	// Stream writes an answer piece by piece; each is called with every piece as
	// it arrives, and ends the answer by an error, which is then Stream's. The
	// error is otherwise one of the package's or the context's.
	Stream(ctx context.Context, r Request, each func(Piece) error) error
}

// What an answer can end with, for errors.Is; package upstream has them with
// the status and with how long to wait.
var (
	// ErrTimeout: the first piece, the next one, or the end came too late.
	ErrTimeout error = upstream.ErrTimeout
	// ErrTruncated: the answer broke off.
	ErrTruncated error = upstream.ErrTruncated
	// ErrRefused: the model's service does not take the secret.
	ErrRefused error = upstream.ErrRefused
	// ErrRateLimited: the service was asked too often.
	ErrRateLimited error = upstream.ErrRateLimited
	// ErrUnavailable: the service cannot be reached, or failed.
	ErrUnavailable error = upstream.ErrUnavailable
	// ErrRejected: the service does not take the request; it may not know the
	// model's name.
	ErrRejected error = upstream.ErrRejected
	// ErrMalformed: the answer is empty, or not what the protocol says.
	ErrMalformed error = upstream.ErrMalformed

	// ErrLength: the answer was cut at the tokens that were asked for, or went
	// on far beyond them. What was written until then is good, and the service
	// did nothing wrong: upstream.CodeOf has no code for it.
	ErrLength = errors.New("the answer reached its length before it was finished")
	// ErrFiltered: the service withheld the rest of the answer for what it says.
	ErrFiltered = errors.New("the service withheld the answer for what it says")
)
