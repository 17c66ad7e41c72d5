package result

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// NewExaminer makes what follows up in a session that has a result: with hints in a practice,
// without any in an assessment.
func NewExaminer(ctx context.Context, t *tenant.Tenants, org id.Org, s session.Session) (*rubric.Examiner, error) {
	r, err := OfSession(ctx, t, org, s.ID)
	if err != nil {
		return nil, err
	}
	_, v, err := subject.GetContent(ctx, t, org, r.Subject, r.RubricVersion)
	if err != nil {
		return nil, err
	}
	e := &rubric.Examiner{
		Language: r.Language, Questions: map[string]subject.Question{}, Hints: r.Kind == session.Practice,
		In: func(w language.Words) string { return w[r.Language] },
	}
	for _, q := range r.questions(v.Content) {
		e.Questions[q.Key] = q
	}
	return e, nil
}
