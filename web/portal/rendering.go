package portal

import (
	"context"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/visits/live"
)

// rendering is what renders the face of a session of an organization: its oldest avatar connection that is not switched off
// and knows the face. Without one, for a face that was deleted or whose consent was withdrawn, and for a duo, of which a service
// shows one face alone, it is nothing.
func (s *Server) rendering(ctx context.Context, org id.Org, of session.Session) (live.Rendering, error) {
	if !of.Duo.IsZero() {
		return live.Rendering{}, nil
	}
	b := s.options.Backend
	face, err := avatar.Get(ctx, b.Tenants, b.Library, org, of.Avatar)
	if errdefs.IsAbsent(err, avatar.Noun) || err == nil && face.Status() != avatar.Ready {
		return live.Rendering{}, nil
	}
	if err != nil {
		return live.Rendering{}, err
	}
	which, name, err := connection.Renders(ctx, b.Tenants, org, connection.Face{
		ID: face.ID.String(), Key: strings.ToLower(face.Name), Gender: face.Gender, Own: face.Kind != avatar.Builtin,
	})
	if errdefs.IsNotFound(err, connection.Noun) {
		return live.Rendering{}, nil
	}
	if err != nil {
		return live.Rendering{}, err
	}
	return live.Rendering{Connection: which, Start: func(ctx context.Context, server, token string) error {
		opened, err := s.options.Minds.Connections.Open(ctx, org, which)
		if errdefs.IsAbsent(err, connection.Noun) {
			return connection.ErrDisabled
		}
		if err != nil {
			return err
		}
		return opened.Render(ctx, b.Egress, name, server, token)
	}}, nil
}
