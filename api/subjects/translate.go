package subjects

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/translation"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerTranslate(s *route.Service, o route.Operation) {
	o.ID, o.Method, o.Path, o.Class = "translateSubjectQuestions", http.MethodPost, "/subjects/{id}/translate-questions", "heavy"
	o.Status, o.Idempotent, o.Items = http.StatusAccepted, true, contract.JobItem
	o.Summary = "Have the questions of a subject translated, as a draft"
	o.Description = "The model that is connected to the subject's persona translates, or else any connected one; without one the answer is 409 conflict, " +
		"reason no_model. The job saves what was translated in the newest draft. Texts that somebody wrote or changed meanwhile stay as they are."
	route.Handle(s, o, a.translate)
}

// TranslateInput is the request to translate questions.
type TranslateInput struct {
	Path
	Body Translation
}

// Translation is what to translate.
type Translation struct {
	Languages    []string `json:"languages" minItems:"1" maxItems:"20" doc:"To translate to, by code or name."`
	QuestionKeys []string `json:"questionKeys,omitempty" maxItems:"200" doc:"All questions unless given."`
	Overwrite    bool     `json:"overwrite,omitempty" doc:"Whether to translate what has a translation already."`
}

func (a *API) translate(ctx context.Context, c *route.Call, in *TranslateInput) (jobs.Job, error) {
	wanted, err := in.subject()
	if err != nil {
		return jobs.Job{}, err
	}
	s, err := subject.Get(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return jobs.Job{}, asProblem(err)
	}
	request, err := in.Body.request()
	if err != nil {
		return jobs.Job{}, err
	}
	if _, err := translation.Choose(ctx, a.Tenants, c.Org(), s); errors.Is(err, translation.ErrNoModel) {
		return jobs.Job{}, problem.Conflicting("no_model", "No model is connected to translate with. Connect one with POST /connections, and test it.")
	} else if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) { return a.order(ctx, c, tx, s, request) })
}

// order queues the job.
func (a *API) order(ctx context.Context, c *route.Call, tx *tenant.Tx, found subject.Subject, r translation.Request) (jobs.Job, error) {
	s, err := subject.Lock(ctx, tx, found.ID)
	if err != nil {
		return jobs.Job{}, asProblem(err)
	}
	p, err := portal.Find(ctx, tx, s.Portal)
	if err != nil {
		return jobs.Job{}, err
	}
	draft, err := subject.FindVersion(ctx, tx, s.ID, s.DraftVersion)
	if err != nil {
		return jobs.Job{}, err
	}
	r.Source = p.Definition.DefaultLanguage
	pieces, err := translation.Plan(draft.Content, r)
	if unknown, ok := errors.AsType[*translation.UnknownKeyError](err); ok {
		return jobs.Job{}, problem.Invalid(fmt.Sprintf("body.questionKeys[%d]", unknown.Index), "No question of the draft has this key.")
	}
	if err != nil {
		return jobs.Job{}, err
	}
	j, err := translation.Insert(ctx, tx, s.ID, r.Languages, pieces, c.Actor())
	return jobs.Show(j), err
}

// request reads the languages, each once.
func (t *Translation) request() (translation.Request, error) {
	r := translation.Request{Keys: t.QuestionKeys, Overwrite: t.Overwrite}
	for i, asked := range t.Languages {
		found, ok := language.Lookup(asked)
		if !ok {
			return r, problem.Invalid(fmt.Sprintf("body.languages[%d]", i), "languages[%d] is not a language; GET /languages lists them.", i)
		}
		if !slices.Contains(r.Languages, found.Code) {
			r.Languages = append(r.Languages, found.Code)
		}
	}
	return r, nil
}
