// Package setup declares the operations that plan portals and fill them (spec,
// Setup).
package setup

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Plans   *plan.Catalogue
	Egress  *egress.Guard
	Gallery *template.Gallery
	Library *avatar.Library
}

// feature is what a plan must include for portals to be planned.
const feature = "portals"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	one := route.Operation{Group: "Setup", Since: contract.V20261001, Class: "write", Scope: scope.PortalsWrite, Items: contract.SetupPlanItem}

	create := one
	create.ID, create.Method, create.Path, create.Class = "createSetupPlan", http.MethodPost, "/setup/plans", "heavy"
	create.Status, create.Idempotent = http.StatusAccepted, true
	create.Summary = "Have a portal planned from a website, documents or a few lines"
	create.Description = "The plan is worked out by a job; it can be looked at, changed and applied when its state is ready. " +
		"With a connected model the model writes it; without one it is put together from the sources' own words."
	create.Feature = feature
	route.Handle(s, create, a.create)

	list := one
	list.ID, list.Method, list.Path, list.Class, list.Scope = "listSetupPlans", http.MethodGet, "/setup/plans", "read", scope.PortalsRead
	list.Summary = "The organization's plans, newest first"
	route.List(s, list, a.list)

	get := list
	get.ID, get.Path, get.Summary = "getSetupPlan", "/setup/plans/{id}", "One plan; its ETag is its version"
	route.Handle(s, get, a.get)

	update := one
	update.ID, update.Method, update.Path = "updateSetupPlan", http.MethodPatch, "/setup/plans/{id}"
	update.Errors, update.Summary = []problem.Code{problem.Conflict, problem.VersionConflict}, "Change what a plan proposes"
	update.Description = "Objects are merged member by member, lists replaced."
	route.Handle(s, update, a.update)

	apply := one
	apply.ID, apply.Method, apply.Path, apply.Class = "applySetupPlan", http.MethodPost, "/setup/plans/{id}/apply", "heavy"
	apply.Status, apply.Idempotent, apply.Items = http.StatusAccepted, true, contract.JobItem
	apply.Errors, apply.Summary = []problem.Code{problem.Conflict, problem.VersionConflict}, "Make a plan true: a portal with its subjects, as drafts"
	apply.Description = "Who speaks is a persona there is, or one that is made of a face and a voice; what is left out is chosen from the library. " +
		"All of it is made at once or, where the job fails, nothing: the plan is ready again then."
	apply.Feature = feature
	route.Handle(s, apply, a.apply)

	discard := one
	discard.ID, discard.Method, discard.Path, discard.Items = "deleteSetupPlan", http.MethodDelete, "/setup/plans/{id}", ""
	discard.Errors, discard.Summary = []problem.Code{problem.Conflict}, "Put a plan away; a portal that it was made into stays"
	route.Handle(s, discard, a.discard)

	a.registerChecklist(s)
	a.registerFill(s)
}

// CreateInput is the request for a plan.
type CreateInput struct{ Body PlanInput }

// PlanInput is what to plan from.
type PlanInput struct {
	URL         *string  `json:"url,omitempty" maxLength:"2048" doc:"A public https address; it and what it links to is read."`
	Brief       *string  `json:"brief,omitempty" minLength:"1" maxLength:"8000" doc:"What the portal is for, in plain words."`
	DocumentIDs []string `json:"documentIds,omitempty" maxItems:"20" doc:"Documents of knowledge packs that were read."`
	TemplateKey *string  `json:"templateKey,omitempty" maxLength:"40" doc:"What to build it from; the one that fits best unless given."`
	Audience    string   `json:"audience,omitempty" enum:"visitors,learners,customers,candidates,mixed" doc:"mixed unless given."`
	Languages   []string `json:"languages,omitempty" maxItems:"20" doc:"By code or name; the language of the sources unless given."`
	Goals       []string `json:"goals,omitempty" maxItems:"10" doc:"What people should be able to do or to know."`
}

// read checks what can be checked without the database.
func (a *API) read(c *route.Call, b PlanInput) (setup.Input, error) {
	in := setup.Input{URL: b.URL, Brief: b.Brief, TemplateKey: b.TemplateKey, Audience: b.Audience, Languages: b.Languages, Goals: b.Goals}
	var err error
	if in.DocumentIDs, err = documents(b.DocumentIDs, "body.documentIds"); err != nil {
		return in, err
	}
	if err := a.checkURL(b.URL, "body.url"); err != nil {
		return in, err
	}
	if err := a.included(c, b.TemplateKey); err != nil {
		return in, err
	}
	in, err = in.Normalize(a.Gallery.Templates())
	return in, asProblem(err, "")
}

// included refuses a template that the caller's plan does not include; nil and one
// that there is not are the settling's to judge.
func (a *API) included(c *route.Call, key *string) error {
	if key == nil {
		return nil
	}
	t, ok := a.Gallery.Find(*key)
	if ok && t.PlanFeature != nil && !c.Principal.Terms.Has(*t.PlanFeature) {
		return a.Plans.FeatureMissing(c.Principal.Terms, *t.PlanFeature)
	}
	return nil
}

func (a *API) create(ctx context.Context, c *route.Call, in *CreateInput) (PortalPlan, error) {
	input, err := a.read(c, in.Body)
	if err != nil {
		return PortalPlan{}, err
	}
	made, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PortalPlan, error) {
		made, err := setup.Begin(ctx, tx, input, c.Actor())
		return show(made), err
	})
	return versioned(c, made, err)
}

// Path names a plan.
type Path struct {
	ID string `path:"id" doc:"The plan's id, with or without plan_."`
}

func (p Path) plan() (id.SetupPlan, error) { return route.Lookup(id.ParseSetupPlan, p.ID, "plan") }

// Query pages the plans.
type Query struct{ route.Paging }

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[PortalPlan], error) {
	return route.Listed(c, q.Paging, func(after id.SetupPlan, limit int) ([]setup.Plan, error) {
		return setup.List(ctx, a.Tenants, c.Org(), after, limit)
	}, func(p setup.Plan) id.SetupPlan { return p.ID }, show)
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (PortalPlan, error) {
	wanted, err := p.plan()
	if err != nil {
		return PortalPlan{}, err
	}
	found, err := setup.Get(ctx, a.Tenants, c.Org(), wanted)
	return versioned(c, show(found), asProblem(err, ""))
}

// UpdateInput is the request for a change of a proposal.
type UpdateInput struct {
	Path
	route.Edition
	Body PlanChange
}

// PlanChange is what to change of a plan.
type PlanChange struct {
	BaseVersion route.Opt[int64]           `json:"baseVersion,omitzero" minimum:"1" doc:"The version to change, as If-Match says it."`
	Proposal    route.Part[setup.Proposal] `json:"proposal,omitzero" doc:"What to change of the proposal; objects are merged, lists replaced."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (PortalPlan, error) {
	wanted, err := in.plan()
	if err != nil {
		return PortalPlan{}, err
	}
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PortalPlan, error) {
		p, err := setup.Lock(ctx, tx, wanted)
		if err != nil {
			return PortalPlan{}, asProblem(err, "")
		}
		if err := in.Check(p.Edition, in.Body.BaseVersion.Ptr()); err != nil {
			return PortalPlan{}, err
		}
		to, err := a.merged(c, p)
		if err != nil {
			return PortalPlan{}, err
		}
		p, err = setup.Change(ctx, tx, a.Gallery.Templates(), p, to, c.Actor())
		return show(p), asProblem(err, "body.proposal.")
	})
	return versioned(c, now, err)
}

// merged is a plan's proposal with what the request changes of it.
func (a *API) merged(c *route.Call, p setup.Plan) (setup.Proposal, error) {
	if p.Proposal == nil {
		return setup.Proposal{}, setup.NotReady()
	}
	changed := struct {
		Proposal setup.Proposal `json:"proposal"`
	}{*p.Proposal}
	if err := patch.Merge(&changed, c.Body()); err != nil {
		return setup.Proposal{}, asProblem(err, "")
	}
	for i, s := range changed.Proposal.Knowledge {
		if err := a.checkURL(s.URL, fmt.Sprintf("body.proposal.knowledge[%d].url", i)); err != nil {
			return setup.Proposal{}, err
		}
	}
	return changed.Proposal, a.included(c, &changed.Proposal.TemplateKey)
}

func (a *API) discard(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	wanted, err := p.plan()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		found, err := setup.Lock(ctx, tx, wanted)
		if err == nil {
			err = setup.Discard(ctx, tx, found, c.Actor())
		}
		return route.Deleted{Deleted: true, ID: wanted.String()}, asProblem(err, "")
	})
}

// versioned gives the answer its ETag.
func versioned(c *route.Call, p PortalPlan, err error) (PortalPlan, error) {
	if err == nil {
		c.SetVersion(p.Version)
	}
	return p, err
}

// asProblem says what errors of packages setup and patch, and of who is to speak,
// are to a caller. Fields that setup names are below at,
// where that is not the body.
func asProblem(err error, at string) error {
	var field *errdefs.Invalid
	switch {
	case errdefs.IsAbsent(err, persona.Noun):
		return problem.Invalid("body.personaId", "personaId is not a persona of this organization.")
	case errdefs.IsAbsent(err, avatar.Noun):
		return problem.Invalid("body.avatarId", "avatarId is not an avatar of this organization; GET /avatars lists them.")
	case errdefs.IsAbsent(err, voice.Noun):
		return problem.Invalid("body.voiceId", "voiceId is not a voice of this organization; GET /voices lists them.")
	case at != "" && errors.As(err, &field):
		return problem.Invalid(at+field.Field, "%s %s.", field.Field, field.Message)
	}
	return err
}
