package rehearsal

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

// ofGap completes a test that is made for a gap: its language, and, where nothing is
// expected, an answer from the packs, by the document that was suggested where one was. The
// gap must be the persona's. The question must be its maker's own: a visitor's words are
// erased with them, and those of tests, and of what comes of them, are not. The error can be
// an errdefs.Invalid.
func (t *Test) ofGap(ctx context.Context, tx *tenant.Tx) error {
	if t.Gap.IsZero() {
		return nil
	}
	g, err := knowledge.LockGap(ctx, tx, t.Gap)
	if errdefs.IsNotFound(err, knowledge.GapNoun) || err == nil && g.Persona != t.Persona {
		return &errdefs.Invalid{Field: "gapId", Message: "is not a gap of this persona"}
	}
	if err != nil {
		return err
	}
	own := search.NewPhrase(t.Question)
	if slices.ContainsFunc(g.Samples, func(asked string) bool { return slices.Equal(search.NewPhrase(asked), own) }) {
		return &errdefs.Invalid{Field: "question", Message: "has a visitor's words, which are erased with them; put the question in your own"}
	}
	if t.Language == nil && g.Language != "" {
		t.Language = &g.Language
	}
	if t.Expect.empty() {
		t.Expect.Grounded = new(true)
		if !g.SuggestedDocument.IsZero() {
			t.Expect.DocumentIDs = []id.Document{g.SuggestedDocument}
		}
	}
	return nil
}

// answered says of the gap of a test that it is, once the test has passed with an answer
// that rests on the packs.
func (t *Test) answered(ctx context.Context, tx *tenant.Tx, result Result, at time.Time) error {
	if t.Gap.IsZero() || !result.Passed || result.Grounded == nil || !*result.Grounded {
		return nil
	}
	return knowledge.AnswerGap(ctx, tx, t.Gap, at)
}
