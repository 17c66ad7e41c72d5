package doors

import (
	"context"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
)

// sso is what a plan must include for its door to be opened.
const sso = "sso"

func (a *API) registerSSO(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "setSSODoor", Method: http.MethodPut, Path: "/portals/{id}/doors/sso", Group: group, Scope: scope.PortalsWrite, Class: "write", Since: since,
		Errors:  []problem.Code{problem.Gone, problem.NotFound, problem.Conflict, problem.UpgradeRequired},
		Summary: "Open or close the door for those whom your identity provider signs in",
		Description: "Register the door's url with /sso/callback after it as the redirect URI with the provider, and make a connection of kind identity. " +
			"People are known by the provider's name for them, else by the claim that is your externalId, else by an e-mail address that it says is verified. " +
			"Whoever has no place on the portal does not come in: nobody is added.",
	}, a.setSSO)
}

// SSOInput is the request to open or close the door of an identity provider.
type SSOInput struct {
	Path
	Body SSOChange
}

// SSOChange is how the door is to be.
type SSOChange struct {
	Open         bool    `json:"open" doc:"Whether people can come in by single sign-on."`
	ConnectionID string  `json:"connectionId,omitempty" maxLength:"80" doc:"A connection of kind identity; needed to open."`
	Message      *string `json:"message,omitempty" maxLength:"500" doc:"What they read at the door."`
}

func (a *API) setSSO(ctx context.Context, c *route.Call, in *SSOInput) (Door, error) {
	found, err := a.find(ctx, c, &in.Path)
	if err != nil {
		return Door{}, err
	}
	change := door.Change{Open: in.Body.Open, Requires: []string{}, Message: in.Body.Message}
	if change.Open {
		if !c.Principal.Terms.Has(sso) {
			return Door{}, a.Plans.FeatureMissing(c.Principal.Terms, sso)
		}
		if change.Connection, err = a.identityProvider(ctx, c, in.Body.ConnectionID); err != nil {
			return Door{}, err
		}
	}
	return a.change(ctx, c, found.ID, door.SSO, change)
}

// identityProvider finds the connection that a door is to let people in by.
func (a *API) identityProvider(ctx context.Context, c *route.Call, name string) (id.Connection, error) {
	if name == "" {
		return id.Connection{}, problem.Invalid("body.connectionId", "The door opens with a connection of kind identity.")
	}
	wanted, err := id.ParseConnection(name)
	if err != nil {
		return wanted, problem.Missing("connection").WithParam("body.connectionId")
	}
	found, err := connection.Get(ctx, a.Tenants, c.Org(), wanted)
	switch {
	case err != nil:
		return wanted, route.At(err, "body.connectionId")
	case found.Kind != connection.Identity:
		return wanted, problem.Invalid("body.connectionId", "The connection is of kind %s; the door needs one of kind identity.", found.Kind)
	case found.State == connection.Disabled:
		return wanted, problem.Conflicting("connection_disabled", "The connection is switched off.").WithParam("body.connectionId")
	}
	return wanted, nil
}
