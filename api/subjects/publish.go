package subjects

import (
	"context"
	"net/http"

	"visavis.dev/api/golive"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerPublish(s *route.Service, read, write route.Operation) {
	check := read
	check.ID, check.Method, check.Path, check.Items = "checkSubject", http.MethodGet, "/subjects/{id}/go-live", ""
	check.Summary = "Whether the draft of a subject can be published, and what it lacks"
	route.Handle(s, check, a.check)

	publish := write
	publish.ID, publish.Method, publish.Path = "publishSubject", http.MethodPost, "/subjects/{id}/publish"
	publish.AndScope = scope.PortalsPublish
	publish.Errors = append(publish.Errors, problem.GoLiveRefused, problem.VersionConflict)
	publish.Summary = "Publish the draft of a subject"
	publish.Description = "People see it at once where the portal is published. If-Match takes the version of the draft. What fails the check of " +
		"GET /subjects/{id}/go-live is 422 go_live_refused; on 2026-07-08 it is 200 with the draft unchanged and publishRefused."
	route.Handle(s, publish, a.publish)
}

func (a *API) check(ctx context.Context, c *route.Call, p *Path) (golive.GoLive, error) {
	wanted, err := p.subject()
	if err != nil {
		return golive.GoLive{}, err
	}
	s, v, err := subject.GetContent(ctx, a.Tenants, c.Org(), wanted, 0)
	if err != nil {
		return golive.GoLive{}, asProblem(err)
	}
	of, err := portal.Get(ctx, a.Tenants, c.Org(), s.Portal)
	if err != nil {
		return golive.GoLive{}, err
	}
	return golive.Show(subject.Check(s, v.Content, of.Definition.Languages, c.Now())), nil
}

// PublishInput is the request to publish a subject.
type PublishInput struct {
	Path
	route.Edition
	Body *SubjectPublication
}

// SubjectPublication is what to say of it.
type SubjectPublication struct {
	ChangeNote route.OptNull[string] `json:"changeNote,omitzero" maxLength:"500" doc:"What is new, for your own people; null for nothing."`
}

func (in *PublishInput) note() *string {
	if in.Body == nil {
		return nil
	}
	return in.Body.ChangeNote.Value
}

func (a *API) publish(ctx context.Context, c *route.Call, in *PublishInput) (Subject, error) {
	wanted, err := in.subject()
	if err != nil {
		return Subject{}, err
	}
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Subject, error) {
		p, s, err := lock(ctx, tx, wanted)
		if err != nil {
			return Subject{}, asProblem(err)
		}
		if err := in.Check(s.DraftVersion, nil); err != nil {
			return Subject{}, err
		}
		draft, err := subject.FindVersion(ctx, tx, s.ID, s.DraftVersion)
		if err != nil {
			return Subject{}, err
		}
		report := subject.Check(s, draft.Content, p.Definition.Languages, c.Now())
		switch {
		case report.Ready():
			if err := subject.PublishAlone(ctx, tx, p, &s, c.Actor(), in.note()); err != nil {
				return Subject{}, err
			}
			shown, err := subject.Summarize(ctx, tx, wanted)
			return show(shown), err
		case !c.Contract.Before(contract.V20261001):
			return Subject{}, report.Refusal("The subject cannot be published as it is: details.problems lists what to change.")
		}
		shown, err := subject.Summarize(ctx, tx, wanted)
		refused := show(shown)
		refused.PublishRefused = &golive.PublishRefusal{Problems: report.Problems}
		return refused, err
	})
	return versioned(c, now, err)
}
