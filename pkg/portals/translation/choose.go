package translation

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// ErrNoModel says that the organization has no connected model to translate with.
var ErrNoModel = errors.New("no model is connected")

// Choice is the model to translate with.
type Choice struct {
	Connection id.Connection
	// Name replaces the connection's own; empty for that.
	Name string
}

// Choose finds the model to translate a subject with: that of its own persona or
// of the portal's, or else any connected one that works. The error can be
// ErrNoModel.
func Choose(ctx context.Context, t *tenant.Tenants, org id.Org, s subject.Subject) (Choice, error) {
	speaker := s.Definition.PersonaID
	if speaker == nil {
		p, err := portal.Get(ctx, t, org, s.Portal)
		if err != nil {
			return Choice{}, err
		}
		speaker = &p.Persona
	}
	p, err := persona.Get(ctx, t, org, *speaker)
	if err != nil && !errdefs.IsAbsent(err, persona.Noun) {
		return Choice{}, err
	}
	if wanted := p.Definition.Model; err == nil && wanted.ConnectionID != nil {
		c, err := connection.Get(ctx, t, org, *wanted.ConnectionID)
		if err == nil && c.State != connection.Disabled {
			return choice(c, wanted.Name), nil
		}
		if err != nil && !errdefs.IsAbsent(err, connection.Noun) {
			return Choice{}, err
		}
	}
	found, err := connection.List(ctx, t, org, connection.Filter{Kind: connection.Model, State: connection.Active}, id.Connection{}, 1)
	if err == nil && len(found) == 0 {
		err = ErrNoModel
	}
	if err != nil {
		return Choice{}, err
	}
	return choice(found[0], nil), nil
}

func choice(c connection.Connection, name *string) Choice {
	chosen := Choice{Connection: c.ID}
	if name != nil {
		chosen.Name = *name
	}
	return chosen
}
