// Package model speaks with language models: any that answers the widespread
// /chat/completions protocol.
package model

import "context"

// Message is one message of a chat.
type Message struct {
	// Role is system, user or assistant.
	Role, Content string
}

// Request asks for one answer.
type Request struct {
	Messages    []Message
	Temperature float64
	MaxTokens   int64
}

// Model writes answers.
type Model interface {
	// Stream writes an answer piece by piece; each is called with every piece as
	// it arrives, and ends the answer by an error. The error is one of the
	// package's or the context's.
	Stream(ctx context.Context, r Request, each func(piece string) error) error
}
