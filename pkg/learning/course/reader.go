package course

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/platformtoken"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Options are what a Reader works with.
type Options struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Sign    platformtoken.Sign
	// Terms are what an organization may have: those who are added count.
	Terms func(ctx context.Context, org id.Org) (plan.Terms, error)
	Clock clock.PassiveClock
}

// Reader does the jobs that read courses. It is safe for concurrent use.
type Reader struct {
	Options
	tokens *platformtoken.Tokens
}

// NewReader makes a reader.
func NewReader(o Options) *Reader {
	return &Reader{o, platformtoken.New(o.Sign, o.Clock, lti.MembersScope)}
}

// progress is how far a reading got: which one it is, which page is next, and how much was read.
type progress struct {
	Reading int64  `json:"reading,omitempty"`
	Next    string `json:"next,omitempty"`
	Pages   int    `json:"pages,omitempty"`
	Members int    `json:"members,omitempty"`
	Added   int    `json:"added,omitempty"`
	Left    int    `json:"left,omitempty"`
	// Trouble is what of the list was left out.
	Trouble string `json:"trouble,omitempty"`
	// Whole says that the last page was read, and Counted that it was looked how many it left out.
	Whole   bool `json:"whole,omitempty"`
	Counted bool `json:"counted,omitempty"`
}

// pageWithin bounds the reading of a page, whatever the connection's calls may take.
const pageWithin = 20 * time.Second

// read reads the next page of a course that is due, each in a step of its own: a long list, or one that is slow, has
// others come between. A reading that breaks off begins anew, and has only added.
func (r *Reader) read(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		in order
		at progress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &in), json.Unmarshal(j.Progress, &at)); err != nil {
		return nil, err
	}
	c, err := Get(ctx, r.Tenants, j.Org, in.Course)
	switch {
	case errdefs.IsNotFound(err, Noun):
		return done, nil // its connection is gone
	case err != nil:
		return nil, err
	case c.Job != j.ID:
		return done, nil // another one reads it
	}
	opened, err := r.Opener.Open(ctx, j.Org, c.Connection)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return stopped(&c, nil, Disabled), nil
	case errors.Is(err, connection.ErrDisabled):
		return stopped(&c, &opened, Disabled), nil // until it is switched on
	case err != nil:
		return nil, err
	case !c.isOf(&opened):
		return stopped(&c, &opened, PlatformChanged), nil // which is never asked for another's list
	}
	now := r.Clock.Now().UTC().Truncate(time.Microsecond)
	if at.Whole {
		return r.leaving(&c, &opened, at), nil
	}
	if at.Reading == 0 && !c.isDue(&opened, now) {
		return wait(&c), nil
	}
	return r.readPage(ctx, &c, &opened, at, now)
}

// isOf says whether a connection is the platform's still that the course is of, and opens the same portal.
func (c *Course) isOf(o *connection.Opened) bool {
	p := o.Platform()
	on, ok := o.Config.Portal()
	return ok && on == c.Portal && c.Origin.Issuer == p.Issuer && c.Origin.ClientID == p.ClientID && slices.Contains(p.Deployments, c.Origin.Deployment)
}

// isDue says whether a reading is to begin. One that failed also is once its connection is another than it was, or
// works again.
func (c *Course) isDue(o *connection.Opened, now time.Time) bool {
	if !now.Before(c.DueAt) {
		return true
	}
	return c.Failures > 0 && c.BegunAt != nil && o.SettledAt.After(*c.BegunAt)
}

// readPage reads a page and gives its members their places.
func (r *Reader) readPage(ctx context.Context, c *Course, o *connection.Opened, at progress, now time.Time) (job.Step, error) {
	if at.Next == "" {
		first, err := lti.MembersPage(c.Address)
		if err != nil {
			return r.failed(c, o, now, err)
		}
		at.Next = first
	}
	if at.Reading == 0 {
		switch err := r.open(ctx, o); {
		case closed(err):
			return stopped(c, o, PortalClosed), nil
		case err != nil:
			return nil, err
		}
	}
	var page lti.Members
	client := o.Kind.Guard(r.Egress).ClientWithin(min(o.Timeout(), pageWithin), lti.MaxMembersPage)
	err := r.tokens.With(ctx, o, client, func(token lti.Token) (err error) {
		page, err = lti.ReadMembers(ctx, client, token, at.Next)
		return err
	})
	if err == nil && page.Course != "" && page.Course != c.Context {
		err = &upstream.Error{Code: upstream.Malformed, Err: errors.New("the list is of another course")}
	}
	r.report(o, now, err)
	if err != nil {
		return r.failed(c, o, now, err)
	}
	at.Pages, at.Members = at.Pages+1, at.Members+len(page.All)
	if at.Members > MaxMembers || at.Pages >= MaxPages && page.Next != "" {
		return broken(c, o, now, TooLarge, 0), nil
	}
	switch err := r.enroll(ctx, c, o, &at, page.All, now); {
	case errors.Is(err, errOvertaken):
		return again(c), nil
	case closed(err):
		return stopped(c, o, PortalClosed), nil
	case err != nil:
		return nil, err
	}
	at.Next, at.Whole = page.Next, page.Next == ""
	return proceed(c, at), nil
}

// open answers errClosed, or an error of the portal, where nobody comes to it from courses: then nothing is asked for.
func (r *Reader) open(ctx context.Context, o *connection.Opened) error {
	return r.Tenants.InTx(ctx, o.Org, func(ctx context.Context, tx *tenant.Tx) error {
		on, _ := o.Config.Portal()
		if err := person.Hold(ctx, tx, on); err != nil {
			return err
		}
		e := enrolling{opened: o}
		_, err := e.mayAdd(ctx, tx, on)
		return err
	})
}

// report notes a call with the connection. What the list of one course alone answers says nothing of the platform.
func (r *Reader) report(o *connection.Opened, began time.Time, err error) {
	var grant *platformtoken.GrantError
	e, ok := errors.AsType[*upstream.Error](err)
	if err != nil && (!ok || !errors.As(err, &grant) && e.Status != 0 && e.Code != upstream.RateLimited || e.Code == upstream.Malformed || e.Code == upstream.AddressRefused) {
		return
	}
	r.Report.Report(o.Org, o.ID, connection.OutcomeOf("members", began, r.Clock.Now(), err))
}

// failed is the step of a reading that broke off by the platform.
func (r *Reader) failed(c *Course, o *connection.Opened, began time.Time, err error) (job.Step, error) {
	e, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return nil, err
	}
	return broken(c, o, began, string(e.Code), e.RetryAfter), nil
}

const (
	firstPause    = time.Minute
	mostDoublings = 11
)

// pause is how long a course is left alone after readings in a row that broke off: each has its own.
func pause(failures int64, asked time.Duration) time.Duration {
	return max(min(firstPause<<min(failures-1, mostDoublings), Every), asked)
}

// broken is the step of a reading that breaks off. The next begins with the first page. What was confirmed was of this
// one: a list that can be read weeks later may be another.
func broken(c *Course, o *connection.Opened, began time.Time, why string, asked time.Duration) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		stands, err := connection.Hold(ctx, tx, o.ID, o.SettledAt)
		if err != nil {
			return 0, err
		}
		held, err := lock(ctx, tx, c.ID)
		if err != nil {
			return 0, absent(j, err)
		}
		if err := held.logAdded(tx, j, now); err != nil {
			return 0, err
		}
		j.Progress = json.RawMessage("{}")
		held.Failures++
		wait := pause(held.Failures, asked)
		if why == TooLarge {
			wait = Every
		}
		if !stands { // what another connection said says nothing of this one
			wait = min(wait, firstPause)
		}
		last := held.TaughtAt
		if held.ReadAt != nil && held.ReadAt.After(last) {
			last = *held.ReadAt
		}
		if now.Sub(last) > abandonedAfter {
			j.State, j.ErrorCode = job.Failed, why
		}
		_, err = tx.Exec(ctx, `
			UPDATE course SET failures = $3, trouble = $4, due_at = $5, begun_at = $6, confirmed = false, job_id = CASE WHEN $7 THEN NULL ELSE job_id END
			WHERE org_id = $1 AND id = $2`, tx.Org, c.ID, held.Failures, why, now.Add(wait), began, j.State.Ended())
		return wait, err
	}
}

// stopped is the step of a course that is not read any more until its connection changes or somebody who teaches it
// comes.
func stopped(c *Course, o *connection.Opened, why string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if o != nil {
			stands, err := connection.Hold(ctx, tx, o.ID, o.SettledAt)
			if err != nil || !stands {
				return aMoment, err
			}
		}
		held, err := lock(ctx, tx, c.ID)
		if err != nil {
			return 0, absent(j, err)
		}
		if err := held.logAdded(tx, j, now); err != nil {
			return 0, err
		}
		j.State, j.ErrorCode = job.Failed, why
		_, err = tx.Exec(ctx, `UPDATE course SET trouble = $3, confirmed = false, job_id = NULL WHERE org_id = $1 AND id = $2`, tx.Org, c.ID, why)
		return 0, err
	}
}

// logAdded logs whom a reading added that breaks off.
func (c *Course) logAdded(tx *tenant.Tx, j *job.Job, now time.Time) error {
	var at progress
	if err := json.Unmarshal(j.Progress, &at); err != nil || at.Added+at.Left == 0 {
		return err
	}
	c.log(tx, person.Author{By: c.Connection.String(), At: now}, at, c.Kept)
	return nil
}

// log logs what a reading changed.
func (c *Course) log(tx *tenant.Tx, by person.Author, at progress, kept int64) {
	by.Log(tx, "course.read", "connection", c.Connection, map[string]any{
		"courseId": c.ID, "unitId": c.Unit, "added": at.Added, "left": at.Left, "kept": kept,
	})
}

// aMoment is longer than an opened connection is believed.
const aMoment = 2 * time.Second

// absent ends the job of a course that is gone.
func absent(j *job.Job, err error) error {
	if errdefs.IsNotFound(err, Noun) {
		j.State, err = job.Succeeded, nil
	}
	return err
}

// wait is the step of a course that is not due.
func wait(c *Course) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		found, err := lock(ctx, tx, c.ID)
		if err != nil {
			return 0, absent(j, err)
		}
		return max(found.DueAt.Sub(now), 0), nil
	}
}

// again is the step of a reading that another one overtook.
func again(c *Course) job.Step {
	return func(_ context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		err := c.logAdded(tx, j, now)
		j.Progress = json.RawMessage("{}")
		return aMoment, err
	}
}

// proceed is the step that notes how far a reading got.
func proceed(c *Course, at progress) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if _, err := lock(ctx, tx, c.ID); err != nil {
			return 0, absent(j, err)
		}
		var err error
		j.Progress, err = json.Marshal(at)
		return 0, err
	}
}

// done is the step of a job with nothing left to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}
