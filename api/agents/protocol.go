package agents

import (
	"cmp"
	"context"
	"unicode/utf8"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/visits/agent"
)

const (
	// maxQuestion and maxThread bound what comes by other protocols, as AgentQuestion does.
	maxQuestion = 1000
	maxThread   = 8000
)

// asked answers a question that came by another protocol. Such protocols' libraries call it
// beside whatever writes the answer, so it touches nothing of the call's.
func (a *API) asked(ctx context.Context, of *agent.Agent, at, household string, q AgentQuestion) (AgentAnswer, error) {
	switch {
	case utf8.RuneCountInString(q.Question) > maxQuestion:
		return AgentAnswer{}, problem.Invalid("body.question", "A question has %d characters at most.", maxQuestion)
	case utf8.RuneCountInString(q.ConversationID) > maxThread:
		return AgentAnswer{}, problem.Invalid("body.conversationId", "conversationId was given by no agent of the organization.")
	}
	return a.reply(ctx, of, at, q, func() (*agent.Charge, error) {
		charge, err := a.count(ctx, of, household)
		return &charge, err
	})
}

// versionOr is the program's version as protocols tell it, of which they want one.
func versionOr(version string) string { return cmp.Or(version, "dev") }
