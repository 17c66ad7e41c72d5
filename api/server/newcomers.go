package server

import (
	"context"
	"errors"

	"visavis.dev/pkg/event"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/person"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/signin"
	"visavis.dev/pkg/tenant"
)

// addNewcomer finds or adds somebody who comes to a portal, with a place there
// (signin.Gate). What it refuses is a problem that names the member at fault.
func (s *Server) addNewcomer(ctx context.Context, tx *tenant.Tx, n signin.Newcomer) (who id.Person, place id.Membership, told []event.Draft, err error) {
	_, terms, err := s.organization(ctx, tx.Org)
	if err != nil {
		return who, place, nil, err
	}
	// Portals are locked before people.
	if err := person.Hold(ctx, tx, n.Portal); err != nil {
		return who, place, nil, err
	}
	wanted := person.Wanted{Name: n.Name, Email: n.Email, ExternalID: n.ExternalID, Terms: terms, At: n.At}
	if n.Language != "" {
		wanted.Language = &n.Language
	}
	found, _, err := person.FindOrAdd(ctx, tx, wanted)
	if err != nil {
		return who, place, nil, s.notAdded(err, terms)
	}
	author := person.Author{By: n.By, At: n.At}
	m, joined, err := person.Join(ctx, tx, found, person.Place{Portal: n.Portal, Unit: n.Unit, Role: n.Role, Find: true}, author)
	switch {
	case errors.Is(err, person.ErrNoUnit):
		return who, place, nil, problem.Missing("unit of the portal").WithParam("body.unitId")
	case err != nil:
		return who, place, nil, err
	case joined:
		told = []event.Draft{m.Added(author)}
	}
	return found.ID, m.ID, told, nil
}

// notAdded says why somebody is not added.
func (s *Server) notAdded(err error, terms plan.Terms) error {
	if field, ok := errors.AsType[*person.FieldError](err); ok {
		return problem.Invalid("body."+field.Field, "%s %s.", field.Field, field.Message)
	}
	switch {
	case errors.Is(err, person.ErrFull):
		return s.Plans.LimitReached(terms, plan.Members)
	case errors.Is(err, person.ErrEmailTaken):
		return problem.Conflicting("email_taken", "Somebody else has this e-mail address.").WithParam("body.email")
	case errors.Is(err, person.ErrExternalIDTaken):
		return problem.Conflicting("external_id_taken", "The externalId and the person do not belong together.").WithParam("body.externalId")
	}
	return err
}
