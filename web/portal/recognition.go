package portal

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/web/page"
)

// Hears implements page.Conversations, by the same connection that conversations are heard with.
func (t talks) Hears(ctx context.Context, site *published.Site) (string, error) {
	_, err := connection.OldestRecognition(ctx, t.options.Backend.Tenants, site.Org)
	switch {
	case errdefs.IsNotFound(err, connection.Noun):
		return page.HearsClient, nil
	case err != nil:
		return "", err
	}
	return page.HearsServer, nil
}

// recognition is what writes down what an organization's visitors say: its oldest
// recognition connection that is not switched off. Without one it is nothing.
func (s *Server) recognition(ctx context.Context, org id.Org) (live.Recognition, error) {
	b, m := s.options.Backend, s.options.Minds
	found, err := connection.OldestRecognition(ctx, b.Tenants, org)
	if errdefs.IsNotFound(err, connection.Noun) {
		return live.Recognition{}, nil
	}
	if err != nil {
		return live.Recognition{}, err
	}
	opened, err := m.Connections.Open(ctx, org, found.ID)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		return live.Recognition{}, nil // meanwhile
	}
	if err != nil {
		return live.Recognition{}, err
	}
	recognizer, pause, late := opened.Recognizer(b.Egress, b.Options.Clock, m.Calls(org, opened.ID, m.Breaker(&opened), "transcription"))
	return live.Recognition{Recognizer: recognizer, Pause: pause, Late: late}, nil
}
