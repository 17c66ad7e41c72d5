package consents

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/store/consent"
)

// ConsentPolicy is what can be declared about a likeness or a voice.
type ConsentPolicy struct {
	PolicyVersion string             `json:"policyVersion" doc:"The version to send as policyVersion, a date."`
	Statements    []ConsentStatement `json:"statements" doc:"What can be declared; each consent names one by its key."`
	EffectiveAt   time.Time          `json:"effectiveAt" doc:"Since when this version holds, in UTC."`
}

// ConsentStatement is one thing that can be declared.
type ConsentStatement struct {
	Key  string `json:"key" doc:"The value to send as statement."`
	Text string `json:"text" doc:"What is declared by it, in full."`
}

// Policy answers what can be declared about something.
func Policy(of consent.Kind) func(context.Context, *route.Call, *struct{}) (ConsentPolicy, error) {
	p := ConsentPolicy{PolicyVersion: consent.PolicyVersion, EffectiveAt: consent.PolicyEffective}
	for _, s := range consent.Statements(of) {
		p.Statements = append(p.Statements, ConsentStatement(s))
	}
	return func(context.Context, *route.Call, *struct{}) (ConsentPolicy, error) { return p, nil }
}
