package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerFill(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "fillPortal", Method: http.MethodPost, Path: "/portals/{id}/fill", Group: "Setup", Since: contract.V20261001, Class: "heavy",
		Scope: scope.PortalsWrite, AndScope: scope.ContentWrite, Feature: feature, Status: http.StatusAccepted, Idempotent: true, Items: contract.JobItem,
		Errors: []problem.Code{problem.Conflict}, Summary: "Have what a portal lacks filled from sources, as drafts",
		Description: "subjects and knowledge are made of the source; texts and questions are written by a connected model, and left out without one. " +
			"Without a model, and nothing asked for that can do without, the answer is 409 conflict, reason no_model. Nobody's words are replaced.",
	}, a.fill)
}

// PortalPath names a portal.
type PortalPath struct {
	ID string `path:"id" doc:"The portal's id, with or without portal_."`
}

// FillInput is the request to fill a portal.
type FillInput struct {
	PortalPath
	Body Filling
}

// Filling is what to fill, and from what.
type Filling struct {
	Sections []setup.Section `json:"sections" minItems:"1" maxItems:"4" enum:"subjects,questions,texts,knowledge" doc:"What to fill of the portal."`
	Source   *FillSource     `json:"source,omitempty" doc:"subjects and knowledge need one."`
}

// FillSource is what a portal is filled from.
type FillSource struct {
	URL         *string  `json:"url,omitempty" maxLength:"2048" doc:"A public https address; it and what it links to is read."`
	DocumentIDs []string `json:"documentIds,omitempty" maxItems:"20" doc:"Documents of knowledge packs that were read."`
	Brief       *string  `json:"brief,omitempty" minLength:"1" maxLength:"8000" doc:"What the portal is for, in plain words, for a model."`
}

// request reads what is asked for.
func (a *API) request(b Filling) (setup.Request, error) {
	r := setup.Request{Sections: b.Sections}
	if b.Source != nil {
		r.Source.URL, r.Source.Brief = b.Source.URL, b.Source.Brief
		var err error
		if r.Source.DocumentIDs, err = documents(b.Source.DocumentIDs, "body.source.documentIds"); err != nil {
			return r, err
		}
		if err := a.checkURL(b.Source.URL, "body.source.url"); err != nil {
			return r, err
		}
	}
	unread := r.Source.URL == nil && len(r.Source.DocumentIDs) == 0
	for i, s := range b.Sections {
		if s.Read() && unread && (s == setup.Knowledge || r.Source.Brief == nil) {
			return r, problem.Invalid("body.source", "sections[%d], %s, needs a source to read.", i, s)
		}
	}
	return r, nil
}

func (a *API) fill(ctx context.Context, c *route.Call, in *FillInput) (jobs.Job, error) {
	wanted, err := route.Lookup(id.ParsePortal, in.ID, "portal")
	if err != nil {
		return jobs.Job{}, err
	}
	r, err := a.request(in.Body)
	if err != nil {
		return jobs.Job{}, err
	}
	if _, err := portal.Get(ctx, a.Tenants, c.Org(), wanted); err != nil {
		return jobs.Job{}, err
	}
	if r.NeedsModel() {
		if _, err := setup.ChooseModel(ctx, a.Tenants, c.Org()); errors.Is(err, setup.ErrNoModel) {
			return jobs.Job{}, problem.Conflicting("no_model", "No model is connected to write with. Connect one with POST /connections, and test it.")
		} else if err != nil {
			return jobs.Job{}, err
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		p, err := portal.Edit(ctx, tx, wanted)
		if err != nil {
			return jobs.Job{}, err
		}
		j, err := setup.Fill(ctx, tx, p, r, c.Actor())
		return jobs.Show(j), err
	})
}

// documents reads the ids of documents.
func documents(sent []string, param string) ([]id.Document, error) {
	read := []id.Document{}
	for i, text := range sent {
		d, err := id.ParseDocument(text)
		if err != nil {
			return nil, problem.Invalid(fmt.Sprintf("%s[%d]", param, i), "documentIds[%d] is not the id of a document.", i)
		}
		read = append(read, d)
	}
	return read, nil
}

// checkURL refuses an address that will not be read.
func (a *API) checkURL(address *string, param string) error {
	if address == nil {
		return nil
	}
	if _, err := a.Egress.CheckURL(*address); err != nil {
		return problem.Invalid(param, "The address cannot be used: %v.", err).WithCause(err)
	}
	return nil
}
