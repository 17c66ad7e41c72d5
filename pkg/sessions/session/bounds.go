package session

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Place is where the session is held, from which its settings follow.
func (s Session) Place() setting.Place {
	return setting.Place{Portal: s.Portal, Membership: s.Membership, Person: s.Person}
}

// under is the session, which begins, as the settings of its place have it. One
// that says nothing of silence gets what is set.
func (s Session) under(set setting.Values) Session {
	s.MaxDurationS = set.AtMost(setting.MaxDurationS, s.MaxDurationS)
	if s.IdleTimeoutS == 0 {
		s.IdleTimeoutS, _ = set.Number(setting.IdleTimeoutS)
	}
	if s.Kind == Screening {
		s.Brief.RetainDays = nil // until when a candidate is kept says their role
	} else if days, bound := set.Number(setting.RetentionDays); bound {
		if s.Brief.RetainDays != nil {
			days = min(days, *s.Brief.RetainDays)
		}
		s.Brief.RetainDays = &days
	}
	zero := set.On(setting.ZeroRetention) || s.beganWithoutWords()
	switch {
	case s.Withheld != nil:
	case zero:
		s.Withheld = new(ZeroRetention)
	case s.Place() != setting.Place{} && set.On(setting.YoungLearners):
		s.Withheld = new(LearnerConversation)
	}
	if zero || s.Collected == nil {
		s.Collected = map[string]string{}
	}
	return s
}

// lockBound is Lock, and the terms as the organization bounds them, in one trip.
func lockBound(ctx context.Context, tx *tenant.Tx, which id.Session, t plan.Terms) (Session, plan.Terms, error) {
	var (
		b   pgx.Batch
		set setting.Values
	)
	setting.QueueAt(tx, &b, setting.Place{}, &set)
	s, err := lockIn(ctx, tx, which, &b)
	return s, set.Bound(t), err
}
