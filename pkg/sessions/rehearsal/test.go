package rehearsal

import (
	"fmt"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search"
)

// Test is a question that a persona is to answer well.
type Test struct {
	ID       id.PersonaTest `json:"id"`
	Persona  id.Persona     `json:"personaId"`
	Name     string         `json:"name"`
	Question string         `json:"question"`
	// Language is the one it is asked in; nil for the persona's, or for the
	// question's where the persona detects it.
	Language             *string     `json:"language"`
	Expect               Expectation `json:"expect"`
	Enabled              bool        `json:"enabled"`
	LastRun              *LastRun    `json:"lastRun"`
	CreatedAt, UpdatedAt time.Time
	// Gap is what it was made for; zero for none.
	Gap id.Gap `json:"gapId"`
}

// Expectation is what makes an answer good. What is empty demands nothing.
type Expectation struct {
	Facts       []string      `json:"facts" doc:"Each must be in the answer, word for word but for case, accents, punctuation and the way numbers are written."`
	NotFacts    []string      `json:"notFacts" doc:"None may be in the answer."`
	DocumentIDs []id.Document `json:"documentIds" doc:"One of them must be among the sources."`
	Grounded    *bool         `json:"grounded" doc:"true: the answer must rest on the packs; false: the persona must say that it does not know."`
}

// LastRun is what came of a test when it was run last.
type LastRun struct {
	At             time.Time `json:"at" doc:"When it was run, in UTC."`
	Job            id.Job    `json:"jobId" doc:"The job that ran it, whose file has the answer in full."`
	PersonaVersion int64     `json:"personaVersion" doc:"The version of the persona that answered."`
	Result
}

const (
	// MaxTests is how many tests a persona can have.
	MaxTests = 200
	// MaxFact is how many characters a fact can have.
	MaxFact = 500
)

// Noun is what errors call a test.
const Noun errdefs.Noun = "persona test"

// Check refuses what no answer can be held against. The error is a
// [errdefs.Invalid].
func (e *Expectation) Check() error {
	for _, list := range []struct {
		field string
		facts []string
	}{{"expect.facts", e.Facts}, {"expect.notFacts", e.NotFacts}} {
		for i, fact := range list.facts {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			switch {
			case utf8.RuneCountInString(fact) > MaxFact:
				return errdefs.InvalidField(field, "must have at most %d characters", MaxFact)
			case len(search.NewPhrase(fact)) == 0:
				return &errdefs.Invalid{Field: field, Message: "has no words"}
			}
		}
	}
	if e.empty() {
		return &errdefs.Invalid{Field: "expect", Message: "must hold something that an answer can fail"}
	}
	return nil
}

func (e *Expectation) empty() bool {
	return len(e.Facts)+len(e.NotFacts)+len(e.DocumentIDs) == 0 && e.Grounded == nil
}
