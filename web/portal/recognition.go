package portal

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/visits/live"
)

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
	breaker, clock := m.Breaker(&opened), b.Options.Clock
	recognizer, pause, late := opened.Recognizer(b.Egress, clock, func() (func(error, time.Duration), bool) {
		call, ok := breaker.Allow()
		if !ok {
			return nil, false
		}
		return func(err error, took time.Duration) {
			if errors.Is(err, context.Canceled) {
				call.Abandon()
				return
			}
			call.Report(err)
			now := clock.Now()
			m.Reporter.Report(org, opened.ID, connection.OutcomeOf("transcription", now.Add(-took), now, err))
		}, true
	})
	return live.Recognition{Recognizer: recognizer, Pause: pause, Late: late}, nil
}
