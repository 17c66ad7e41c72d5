// Package scoring has a model score answers by the rubrics of a subject's questions. The model
// says of each point whether the answer covers or denies it, and on which of the answer's own
// words that rests; words that the answer does not have count for nothing. What the points
// come to is worked out by package rubric, as it is without a model, so that no model gives
// points as it likes.
//
// Where the model and the words of an answer say the contrary of each other, where the same
// words are to show several things, and where an answer tells the model what to do, nothing is
// sure, and a person looks at it: an answer that talks the model into something gains nothing.
package scoring

import (
	"context"
	"unicode/utf8"

	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/provider/model"
)

// MaxAnswer is the longest answer that a model is shown, in bytes. What is longer is scored
// without one.
const MaxAnswer = 8000

// Reads says whether a model is of use for an answer: there are words, and criteria to hold
// them against.
func Reads(q subject.Question, a rubric.Answer) bool {
	return q.Kind != "choice" && len(q.Rubric) > 0 && a.Kept && a.Text != "" && len(a.Text) <= MaxAnswer && utf8.ValidString(a.Text)
}

// Score has a model score an answer that it Reads. code is the language that the question was
// asked in. The error is one of package model's, the context's, or ErrMalformed.
func Score(ctx context.Context, m model.Model, code string, q subject.Question, a rubric.Answer, in rubric.Text) ([]rubric.Score, error) {
	criteria, err := ask(ctx, m, code, q, a.Text, in)
	if err != nil {
		return nil, err
	}
	words := rubric.Words(code, q, a, in)
	if a.Foreign {
		words = func(string) rubric.Verdict { return rubric.Verdict{} } // they say nothing in another language
	}
	answer, judged := newSaid(code, a.Text), map[string]rubric.Judged{}
	for i, c := range q.Rubric {
		judged[c.Key] = criteria[i].judged(c, answer, words, in)
	}
	return rubric.Apply(code, q, a, in, judged), nil
}
