// Package gradebook tells learning platforms how people did: by the links that they came by
// (package resourcelink), once their results are released and nobody else's.
package gradebook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/platformtoken"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Options are what a Teller works with.
type Options struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Sign    platformtoken.Sign
	Clock   clock.PassiveClock
}

// Teller does the jobs that tell learning platforms. It is safe for concurrent use.
type Teller struct {
	Options
	tokens *platformtoken.Tokens
	rests  *dispatch.Rests
}

// New makes a teller.
func New(o Options) *Teller {
	return &Teller{o, platformtoken.New(o.Sign, o.Clock, lti.ScoreScope), dispatch.NewRests()}
}

// Background is what workers do for learning platforms.
func (t *Teller) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.GradeSend: {Prepare: t.grade, GiveUp: giveUp}}}
}

// Why something is not told, besides the codes of package upstream.
const (
	// Disabled says that the connection is switched off.
	Disabled = "disabled"
	// PlatformChanged says that the connection is another platform's by now than the one that the
	// link is of.
	PlatformChanged = "platform_changed"
	// Failed says that this program failed.
	Failed = "internal_error"
)

// progress is how long a platform was waited for in a row, of one edition.
type progress struct {
	Edition int64           `json:"edition,omitempty"`
	Waited  dispatch.Waited `json:"waited,omitzero"`
}

// grade tells the platform of a link how its person stands with its subject.
func (t *Teller) grade(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		k resourcelink.Key
		p progress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &k), json.Unmarshal(j.Progress, &p)); err != nil {
		return nil, err
	}
	l, err := resourcelink.Get(ctx, t.Tenants, j.Org, k)
	switch {
	case errdefs.IsNotFound(err, resourcelink.Noun):
		return done, nil // who came by it was erased, or the connection is gone
	case err != nil:
		return nil, err
	case l.Edition == l.Told:
		return told(l), nil
	}
	if p.Edition != l.Edition {
		p = progress{Edition: l.Edition}
	}
	opened, err := t.Opener.Open(ctx, j.Org, l.Connection)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return gone(k), nil
	case errors.Is(err, connection.ErrDisabled):
		return stopped(l, &opened, Disabled), nil // until it is switched on
	case err != nil:
		return nil, err
	case !isOf(l.Origin, opened.Platform()):
		return stopped(l, &opened, PlatformChanged), nil // whose token is never shown there
	}
	if rest := t.rests.Left(&opened, t.Clock.Now()); rest > 0 {
		return dispatch.Later(&opened, p, rest), nil
	}
	best, err := result.Counts(ctx, t.Tenants, j.Org, l.Person, l.Subject)
	if err != nil {
		return nil, err
	}
	err = t.send(ctx, &opened, &l, best)
	if upstream.StatusOf(err) == http.StatusConflict {
		err = nil // the platform has one of this moment: what was said before was heard
	}
	failed, ok := errors.AsType[*upstream.Error](err)
	switch {
	case err == nil:
		return told(l), nil
	case !ok:
		return nil, err
	}
	var o dispatch.Outcome
	if o, p.Waited = patience.After(failed, p.Waited, t.Clock.Now()); !o.Abandoned() {
		return dispatch.Later(&opened, p, o.Wait), nil
	}
	return stopped(l, &opened, o.Code), nil
}

// isOf says whether a connection is the platform's still that a link is of.
func isOf(o resourcelink.Origin, p lti.Platform) bool {
	return o.Issuer == p.Issuer && o.ClientID == p.ClientID && slices.Contains(p.Deployments, o.Deployment)
}

// giveUp leaves a grade untold after many faults of the program.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) error {
	var k resourcelink.Key
	if err := json.Unmarshal(j.Input, &k); err != nil || k.Person.IsZero() {
		return err
	}
	return resourcelink.Abandon(ctx, tx, k, j.ID, Failed)
}

// score is what the gradebook is to have.
func score(l *resourcelink.Link, r *result.Result) lti.Score {
	s := lti.Score{User: l.User, Activity: lti.Initialized, Grading: lti.NotReady, Timestamp: l.ChangedAt}
	if r != nil {
		s.Given, s.Maximum, s.Activity, s.Grading = r.Percent, new(float64(lti.ScoreMaximum)), lti.Completed, lti.FullyGraded
	}
	return s
}

// send gives the score. A token that is not taken any more is replaced once.
func (t *Teller) send(ctx context.Context, o *connection.Opened, l *resourcelink.Link, r *result.Result) error {
	began := t.Clock.Now()
	client := o.Kind.Guard(t.Egress).ClientWithin(o.Timeout(), longestAnswer)
	err := t.tokens.With(ctx, o, client, func(token lti.Token) error { return score(l, r).Send(ctx, client, token, l.LineItem) })
	t.rests.After(o, began, t.Clock.Now(), err)
	if !errors.Is(err, upstream.ErrRejected) { // a line item that is gone says nothing of the platform
		t.Report.Report(o.Org, o.ID, connection.OutcomeOf("score", began, t.Clock.Now(), err))
	}
	return err
}

// longestAnswer is in bytes.
const longestAnswer = 256 << 10

// done is the step of a job with nothing left to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// told is the step that notes what was told, unless there is more to tell by now.
func told(l resourcelink.Link) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		last, err := resourcelink.Tell(ctx, tx, l)
		if err != nil {
			return 0, err
		}
		if !last { // what changed meanwhile is this job's too
			return 0, nil
		}
		return done(ctx, tx, j, now)
	}
}

// stopped is the step that notes why there is nothing to be told, unless there is more to tell by now, or
// the connection is another than it was: what is stopped is taken up when it changes.
func stopped(l resourcelink.Link, o *connection.Opened, why string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		stands, err := connection.Hold(ctx, tx, o.ID, o.SettledAt)
		if err != nil || !stands {
			return dispatch.AMoment, err
		}
		last, err := resourcelink.Stop(ctx, tx, l, why)
		if err == nil && last {
			j.State, j.ErrorCode = job.Failed, why
		}
		return 0, err
	}
}

// gone is the step that forgets a link whose connection is deleted.
func gone(k resourcelink.Key) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if err := resourcelink.ForgetOne(ctx, tx, k); err != nil {
			return 0, err
		}
		return done(ctx, tx, j, now)
	}
}

// patience is that with platforms, as while one is being set up or upgraded.
var patience = dispatch.Patience{Away: triedFor, Unready: triedFor, Longest: time.Hour}

const triedFor = 8 * 7 * 24 * time.Hour
