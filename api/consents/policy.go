package consents

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/consent"
)

// ConsentPolicy is what can be declared about a likeness or a voice.
type ConsentPolicy struct {
	PolicyVersion string             `json:"policyVersion"`
	Statements    []ConsentStatement `json:"statements"`
	EffectiveAt   time.Time          `json:"effectiveAt"`
}

// ConsentStatement is one thing that can be declared.
type ConsentStatement struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// Policy answers what can be declared about something.
func Policy(of consent.Kind) func(context.Context, *route.Call, *struct{}) (ConsentPolicy, error) {
	p := ConsentPolicy{PolicyVersion: consent.PolicyVersion, EffectiveAt: consent.PolicyEffective}
	for _, s := range consent.Statements(of) {
		p.Statements = append(p.Statements, ConsentStatement(s))
	}
	return func(context.Context, *route.Call, *struct{}) (ConsentPolicy, error) { return p, nil }
}
