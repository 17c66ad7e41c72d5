// Package gradebook tells learning platforms how people did: by the links that they came by
// (package resourcelink), once their results are released and nobody else's.
package gradebook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/personas/connection"
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
	// Sign signs a token of an organization's by a key of the set that it shows.
	Sign  func(ctx context.Context, org id.Org, claims jwt.Claims) (string, error)
	Clock clock.PassiveClock
}

// Teller does the jobs that tell learning platforms. It is safe for concurrent use.
type Teller struct {
	Options
	// tokens are the access tokens that platforms gave.
	tokens *lru.Cache[tokenOf, lti.Token]
}

// tokenOf names the token of a connection as it was settled last.
type tokenOf struct {
	org     id.Org
	of      id.Connection
	settled time.Time
}

// mostTokens bounds the tokens that are remembered.
const mostTokens = 1000

// New makes a teller.
func New(o Options) *Teller {
	tokens, err := lru.New[tokenOf, lti.Token](mostTokens)
	if err != nil {
		panic(err) // the size is good
	}
	return &Teller{o, tokens}
}

// Background is what workers do for learning platforms.
func (t *Teller) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.GradeSend: {Prepare: t.grade}}}
}

// progress counts how often a platform asked for patience in a row.
type progress struct {
	Waits int `json:"waits,omitempty"`
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
		return done, nil // who came by it was erased
	case err != nil:
		return nil, err
	case l.Edition == l.Told:
		return done, nil
	}
	best, err := result.Counts(ctx, t.Tenants, j.Org, l.Person, l.Subject)
	if err != nil {
		return nil, err
	}
	opened, err := t.Opener.Open(ctx, j.Org, l.Connection)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		return nil, &job.Refusal{Code: "no_connection"}
	}
	if err != nil {
		return nil, err
	}
	err = t.send(ctx, &opened, &l, best)
	if upstream.StatusOf(err) == http.StatusConflict {
		err = nil // the platform has one of this moment: what was said before was heard
	}
	wait, err := patience(err, p.Waits)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return later(p, wait), nil
	}
	return told(l), nil
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
	key := tokenOf{o.Org, o.ID, o.SettledAt}
	var err error
	for range 2 {
		var token lti.Token
		if token, err = t.token(ctx, o, client, key); err != nil {
			break
		}
		err = score(l, r).Send(ctx, client, token, l.LineItem)
		if !errors.Is(err, upstream.ErrRefused) {
			break
		}
		t.tokens.Remove(key)
	}
	if !errors.Is(err, upstream.ErrRejected) { // a line item that is gone says nothing of the platform
		t.Report.Report(o.Org, o.ID, connection.OutcomeOf("score", began, t.Clock.Now(), err))
	}
	return err
}

// longestAnswer is in bytes.
const longestAnswer = 256 << 10

func (t *Teller) token(ctx context.Context, o *connection.Opened, client *http.Client, key tokenOf) (lti.Token, error) {
	now := t.Clock.Now()
	if token, ok := t.tokens.Get(key); ok && token.Usable(now) {
		return token, nil
	}
	p := o.Platform()
	assertion, err := t.Sign(ctx, o.Org, p.Assertion(now))
	if err != nil {
		return lti.Token{}, err
	}
	token, err := p.Redeem(ctx, client, assertion, lti.ScoreScope, now)
	if err == nil {
		t.tokens.Add(key, token)
	}
	return token, err
}

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
		if !last { // whatever changed has a job of its own, which may have been made before this one
			return 0, nil
		}
		return done(ctx, tx, j, now)
	}
}

// later is the step of a job that waits for a platform.
func later(p progress, wait time.Duration) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (_ time.Duration, err error) {
		j.Progress, err = json.Marshal(progress{p.Waits + 1})
		return wait, err
	}
}

const (
	again = time.Second
	// maxWaits is how often in a row a platform may be away before a job is given up, more than
	// two days, and maxWait bounds a wait that it did not ask for.
	maxWaits = 300
	maxWait  = 10 * time.Minute
	// maxRefusals is how often it may not take what the tool shows.
	maxRefusals = 12
)

// patience is how long a platform is left alone, where it asked for that or is away: zero where
// nothing failed. What a further attempt changes nothing of is a job.Refusal.
func patience(err error, waits int) (time.Duration, error) {
	failed, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return 0, err
	}
	most := maxWaits
	switch failed.Code {
	case upstream.RateLimited, upstream.Timeout, upstream.Unavailable, upstream.Truncated:
	case upstream.Refused, upstream.Malformed: // as while it is being set up
		most = maxRefusals
	default:
		most = 0
	}
	if waits >= most {
		return 0, &job.Refusal{Code: string(failed.Code)}
	}
	return max(failed.RetryAfter, min(again<<min(waits, 10), maxWait)), nil
}
