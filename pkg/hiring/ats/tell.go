package ats

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Teller does the jobs that tell systems where candidates stand.
type Teller struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// triedFor is for how long a system is told: as long as Greenhouse asks for a status.
const triedFor = 8 * 7 * 24 * time.Hour

// Background is what workers do for systems. They are told for long also where the key is refused or the
// connection is gone, since people have to give another one.
func (t *Teller) Background() job.Background {
	d := dispatch.New(t.Opener, t.Clock, dispatch.Patience{Away: triedFor, Unready: triedFor, Longest: time.Hour})
	return job.Background{Works: map[job.Kind]job.Work{job.ATSTell: d.Work(t.next)}}
}

// next tells where somebody stands now. Standings in between that could not be told are left out. A
// crash after it tells the same again, which the system knows by its moment.
func (t *Teller) next(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	var in candidate.Telling
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	a, err := candidate.ReadApplication(ctx, t.Tenants, j.Org, in.Application)
	switch {
	case errdefs.IsNotFound(err, candidate.ApplicationNoun):
		return nil, nil // the candidate was erased
	case err != nil:
		return nil, err
	case a.Dispatched >= a.Edition:
		return nil, nil
	}
	to, err := t.recipient(ctx, j.Org, &a)
	return &dispatch.Message{
		To:   to,
		Tell: func(ctx context.Context, to *connection.Opened) error { return t.tell(ctx, to, &a) },
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time, o dispatch.Outcome) (time.Duration, error) {
			if o.Wait > 0 {
				return 0, nil
			}
			now, err := candidate.FindApplication(ctx, tx, a.ID)
			if errdefs.IsNotFound(err, candidate.ApplicationNoun) {
				j.State = job.Succeeded
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			if now.Edition == a.Edition { // else another standing came meanwhile
				j.State = job.Succeeded
			}
			return 0, now.Dispatch(ctx, tx, a.Edition, o.Acknowledged())
		},
	}, err
}

// recipient is the connection that somebody was sent by, or the one in its place.
func (t *Teller) recipient(ctx context.Context, org id.Org, a *candidate.Application) (id.Connection, error) {
	_, err := t.Opener.Open(ctx, org, a.Connection)
	if !errdefs.IsAbsent(err, connection.Noun) {
		return a.Connection, nil // whatever is wrong with it, the dispatcher finds out
	}
	to := a.Connection
	return to, t.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		heir, err := connection.Heir(ctx, tx, a.Connection, a.Address)
		if errdefs.IsAbsent(err, connection.Noun) {
			return nil
		}
		to = heir.ID
		return err
	}, tenant.Idempotent(true))
}

// tell makes the call. Ashby is told of every standing, and Greenhouse where to ask.
func (t *Teller) tell(ctx context.Context, to *connection.Opened, a *candidate.Application) error {
	if to.Provider == connection.Greenhouse && !to.Calls(a.Callback()) {
		return &upstream.Error{Code: upstream.Rejected} // the connection goes elsewhere since
	}
	began := t.Clock.Now()
	err := to.WithSecret(func(secret string) error {
		if to.Provider == connection.Greenhouse {
			return to.Greenhouse(t.Egress, secret).Complete(ctx, a.Callback())
		}
		return to.Ashby(t.Egress, secret).Tell(ctx, AshbyUpdate(*a), fmt.Sprintf("%s-%d", UUID(a.ID), a.Edition))
	})
	t.Report.Report(to.Org, to.ID, connection.OutcomeOf("ats.update", began, t.Clock.Now(), err))
	return err
}
