package rehearsal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
)

// longest is how long a whole conversation may take: less than a job's step may. A
// test shortens it.
var longest = 8 * time.Minute

// Report is what came of a script: the file of its job.
type Report struct {
	PersonaID      id.Persona              `json:"personaId"`
	PersonaVersion int64                   `json:"personaVersion"`
	Language       string                  `json:"language"`
	Transcript     []Turn                  `json:"transcript"`
	Goals          []Goal                  `json:"goals"`
	Tools          []conversation.ToolUse  `json:"tools"`
	Guardrails     []conversation.RuleKept `json:"guardrails"`
	// Outcome is that of the session that this would have been.
	Outcome *string `json:"outcome"`
	// EndReason is why the conversation ended before the script did; nil when all of
	// it was said.
	EndReason   *string `json:"endReason"`
	AIGenerated bool    `json:"aiGenerated"`
	DurationMs  int64   `json:"durationMs"`
}

// Turn is a turn in the form of a session's transcript, without what is always the
// same here: nobody is interrupted, and nothing takes time to be heard.
type Turn struct {
	ID        id.Turn            `json:"id"`
	Index     int64              `json:"index"`
	Speaker   session.Speaker    `json:"speaker"`
	Text      string             `json:"text"`
	Language  string             `json:"language"`
	Source    session.Origin     `json:"source"`
	StartedAt time.Time          `json:"startedAt"`
	EndedAt   *time.Time         `json:"endedAt"`
	Sources   []session.Source   `json:"sources"`
	Grounded  *bool              `json:"grounded"`
	ToolCalls []session.ToolCall `json:"toolCalls"`
}

// Goal is how far a goal got.
type Goal struct {
	Key string `json:"key"`
	// Required says that it had to be met.
	Required bool `json:"required"`
	Met      bool `json:"met"`
	// Value is what it found out; nil for nothing.
	Value *string `json:"value"`
}

// play holds the conversation of a script. It is one step: what a crash leaves of
// it is nothing, and its next run begins anew.
func (r *Rehearser) play(ctx context.Context, j job.Job, o order, v persona.Version) (job.Step, error) {
	var s Script
	if err := r.read(ctx, j, &s); err != nil {
		return nil, err
	}
	config, packs, err := r.config(ctx, j.Org, v, "")
	switch {
	case errors.Is(err, conversation.ErrNoModel):
		return nil, &job.Refusal{Code: codeNoConnection}
	case err != nil:
		return nil, err
	}
	config.Session.Language, config.Session.Variables, config.Session.Context = s.Language, s.Variables, s.Context
	began := r.Clock.Now()
	limited, stop := context.WithTimeout(ctx, longest)
	defer stop()
	came := conversation.Rehearse(limited, config, s.Turns)
	code := ""
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		code = codeTimeout
	case packs.err() != nil:
		return nil, packs.err()
	case came.EndReason == conversation.EndedModel:
		code = codeUnavailable
	}
	report := s.report(o, v, came)
	report.DurationMs = r.Clock.Since(began).Milliseconds()
	return r.last(ctx, j, report, func(j *job.Job) {
		j.Counts, j.Total, j.Done = report.counts(came), int64(len(s.Turns)), report.heard()
		if code != "" {
			j.State, j.ErrorCode = job.Failed, code
		}
	})
}

// report tells what came of a script.
func (s *Script) report(o order, v persona.Version, came conversation.Rehearsal) Report {
	r := Report{
		PersonaID: o.Persona, PersonaVersion: o.Version, Language: came.Language, Transcript: make([]Turn, len(came.Turns)),
		Goals: make([]Goal, len(v.Definition.Goals)), Tools: append([]conversation.ToolUse{}, came.Tools...),
		Guardrails: append([]conversation.RuleKept{}, came.Rules...), Outcome: orNil(came.Outcome), EndReason: orNil(came.EndReason), AIGenerated: true,
	}
	for i, t := range came.Turns {
		r.Transcript[i] = Turn{
			ID: t.ID, Index: t.Index, Speaker: t.Speaker, Text: t.Text, Language: t.Language, Source: t.Origin, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
			Sources: append([]session.Source{}, t.Sources...), Grounded: t.Grounded, ToolCalls: append([]session.ToolCall{}, t.ToolCalls...),
		}
	}
	for i, g := range v.Definition.Goals {
		r.Goals[i] = Goal{Key: g.Key, Required: slices.Contains(s.Goals, g.Key), Met: came.Met[g.Key], Value: found(g, came.Values)}
	}
	return r
}

// found is what a goal found out: the values of its outputs, in their order.
func found(g persona.Goal, values map[string]string) *string {
	var all []string
	for _, output := range g.Outputs {
		if value := values[output]; value != "" {
			all = append(all, value)
		}
	}
	return orNil(strings.Join(all, ", "))
}

// heard is how many of the visitor's turns were said.
func (r *Report) heard() (n int64) {
	for _, t := range r.Transcript {
		if t.Speaker == session.User {
			n++
		}
	}
	return n
}

func (r *Report) counts(came conversation.Rehearsal) map[string]int64 {
	counts := map[string]int64{
		"turns": int64(len(r.Transcript)), "grounded": 0, "unanswered": came.Gaps, "goalsMet": 0, "goalsTotal": 0, "toolCalls": int64(len(r.Tools)),
	}
	for _, t := range r.Transcript {
		if t.Grounded != nil && *t.Grounded {
			counts["grounded"]++
		}
	}
	for _, g := range r.Goals {
		if g.Required {
			counts["goalsTotal"]++
			if g.Met {
				counts["goalsMet"]++
			}
		}
	}
	return counts
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
