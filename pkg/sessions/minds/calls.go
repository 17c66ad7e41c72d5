package minds

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
)

// Calls lets the calls of a name through to a connection while its breaker does, and follows
// how well they work. A nil breaker lets everything through.
func (m *Minds) Calls(org id.Org, which id.Connection, breaker *model.Breaker, name string) upstream.Calls {
	return func() (func(error, time.Duration), bool) {
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
			now := m.options.Clock.Now()
			m.Reporter.Report(org, which, connection.OutcomeOf(name, now.Add(-took), now, err))
		}, true
	}
}
