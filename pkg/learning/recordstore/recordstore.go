// Package recordstore tells learning record stores (xAPI) what people learned: results while they are
// released, assignments while they are completed, and certificates until they are revoked. What is there no
// more is voided, and so is what changed, before it is told anew. No words of a conversation go there, and no
// names.
package recordstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/provider/xapi"
	"visavis.dev/pkg/store/tenant"
)

// Teller does the jobs that tell record stores. It is safe for concurrent use.
type Teller struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
	// Rests are the stores that are left alone for a while.
	Rests *dispatch.Rests
}

// Background is what workers do for record stores.
func (t *Teller) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.StatementSend: {Prepare: t.tell, GiveUp: giveUp}}}
}

// Why something is not told, besides the codes of package upstream: this program failed, or the connection is
// switched off.
const (
	failed   = "internal_error"
	disabled = "disabled"
)

// progress counts how often a store could not be told an edition, in a row.
type progress struct {
	Edition int64 `json:"edition,omitempty"`
	Waits   int   `json:"waits,omitempty"`
	// Missed is until when a statement can still arrive that was to be voided and was not there; zero for none.
	Missed time.Time `json:"missed,omitzero"`
}

// tell tells a store of an object as it is now. A statement's id is noted before it is sent, so that
// one which may be there is known after a crash, and is told again by the same id, or voided.
func (t *Teller) tell(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		k statement.Key
		p progress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &k), json.Unmarshal(j.Progress, &p)); err != nil {
		return nil, err
	}
	r, err := statement.Get(ctx, t.Tenants, j.Org, k)
	switch {
	case errdefs.IsNotFound(err, statement.Noun):
		return done, nil // the connection is gone
	case err != nil:
		return nil, err
	case r.Edition == r.Told:
		return settled(&r, r.Stands, r.Store), nil
	}
	if p.Edition != r.Edition {
		p = progress{Edition: r.Edition}
	}
	opened, err := t.Opener.Open(ctx, j.Org, r.Connection)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return gone(k), nil
	case errors.Is(err, connection.ErrDisabled):
		return stopped(&r, &opened, disabled), nil // until it is switched on
	case err != nil:
		return nil, err
	}
	st, err := t.statement(ctx, &opened, &r)
	if err != nil {
		return nil, err
	}
	store, said := opened.Config.BaseURL(opened.Provider), ""
	if st != nil {
		if said, err = digest(st); err != nil {
			return nil, err
		}
		if r.Sending == 0 && r.Stands && r.Store == store && r.Said == said {
			return same(&r), nil
		}
	}
	if left := p.Missed.Sub(t.Clock.Now()); left > 0 { // also where the connection was mended meanwhile
		return dispatch.Later(&opened, p, left), nil
	}
	if rest := t.Rests.Left(&opened, t.Clock.Now()); rest > 0 {
		return dispatch.Later(&opened, p, rest), nil
	}
	switch {
	case st != nil && r.Sending == 0:
		return claimed(k, said), nil
	case st != nil && r.Said != "" && r.Said != said:
		return claimed(k, ""), nil // which of both is there in the end, nobody knows
	}
	return t.step(&opened, &r, p, st != nil, t.send(ctx, &opened, &r, st, !p.Missed.IsZero()))
}

// digest is the SHA-256 of what a statement says, in hexadecimal digits.
func digest(st *xapi.Statement) (string, error) {
	said, err := json.Marshal(st)
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:]), err
}

// errMissed says that a statement which may have been sent cannot be voided: it is not there yet, or never was.
var errMissed = errors.New("there may come a statement that is to be voided")

// send voids what stands, or may, and tells the statement, nil for none. Statements of a store that the
// connection had before stay there.
func (t *Teller) send(ctx context.Context, o *connection.Opened, r *statement.Record, st *xapi.Statement, missed bool) error {
	if r.Stands && r.Store == o.Config.BaseURL(o.Provider) {
		err := t.void(ctx, o, r, r.Told)
		absent := errors.Is(err, xapi.ErrNoTarget) // what is not there counts for nothing
		if err != nil && !absent && (st == nil || !final(err)) {
			return err
		}
	}
	switch {
	case st != nil:
		st.ID = r.Statement(o.Org, r.Sending)
		return t.put(ctx, o, *st)
	case r.Sending > 0: // it may be there, and may not be any more, or not yet
		err := t.void(ctx, o, r, r.Sending)
		switch {
		case !final(err):
			return err
		case !missed:
			return errMissed
		case r.Object.Person.IsZero() && !errors.Is(err, xapi.ErrNoTarget):
			return err
		}
	}
	return nil
}

// void voids the statement of an edition, in the name of this system.
func (t *Teller) void(ctx context.Context, o *connection.Opened, r *statement.Record, edition int64) error {
	by := xapi.AsAccount(o.Config.Text("homePage"), "visavis")
	return t.put(ctx, o, xapi.Voiding(r.Void(o.Org, edition), r.Statement(o.Org, edition), by))
}

// put stores one statement, and reports how that went, unless it says nothing of the store.
func (t *Teller) put(ctx context.Context, o *connection.Opened, st xapi.Statement) error {
	began := t.Clock.Now()
	err := o.WithSecret(func(secret string) error { return o.RecordStore(t.Egress, secret).Tell(ctx, st) })
	t.Rests.After(o, began, t.Clock.Now(), err)
	if !final(err) {
		t.Report.Report(o.Org, o.ID, connection.OutcomeOf("statement", began, t.Clock.Now(), err))
	}
	return err
}

// final says whether a failure is of the statement, and not of the store or the moment.
func final(err error) bool {
	switch upstream.StatusOf(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return errors.Is(err, xapi.ErrNoTarget)
}

const (
	// longestWait bounds the wait between two tries, and triedFor how long it is tried.
	longestWait = time.Hour
	triedFor    = 8 * 7 * 24 * time.Hour
	// lingers is for how long a statement can still arrive whose sending was cut off.
	lingers = 5 * time.Minute
)

// step is what follows from how the telling went.
func (t *Teller) step(o *connection.Opened, r *statement.Record, p progress, stands bool, err error) (job.Step, error) {
	switch {
	case err == nil:
		return settled(r, stands, o.Config.BaseURL(o.Provider)), nil
	case errors.Is(err, errMissed):
		p.Missed = t.Clock.Now().Add(lingers)
		return dispatch.Later(o, p, lingers), nil
	}
	why, ok := errors.AsType[*upstream.Error](err)
	switch {
	case !ok:
		return nil, err
	case final(err) && r.Object.Person.IsZero(): // of who is erased, nothing is left to stand
		return dispatch.Later(o, p, longestWait), nil
	case r.Object.Person.IsZero():
	case final(err), t.Clock.Since(r.ChangedAt) >= triedFor:
		return stopped(r, o, string(why.Code)), nil
	}
	wait := time.Second
	switch why.Code {
	case upstream.Refused, upstream.Rejected, upstream.AddressRefused, upstream.Malformed: // until people mend it
		wait = time.Minute
	case upstream.RateLimited, upstream.Timeout, upstream.Unavailable, upstream.Truncated:
	}
	wait = max(why.RetryAfter, min(wait<<min(p.Waits, 12), longestWait))
	p.Waits++
	return dispatch.Later(o, p, wait), nil
}

// done is the step of a job with nothing left to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// claimed is the step that notes that a statement is about to be sent, and what it says.
func claimed(k statement.Key, said string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, _ *job.Job, _ time.Time) (time.Duration, error) {
		return 0, statement.Claim(ctx, tx, k, said)
	}
}

// settled is the step that notes what was told, and ends the job unless there is more.
func settled(r *statement.Record, stands bool, store string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		last, err := statement.Settle(ctx, tx, *r, stands, store)
		if err == nil && last {
			j.State = job.Succeeded
		}
		return 0, err
	}
}

// same is the step that ends where what changed is not told.
func same(r *statement.Record) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		last, err := statement.Same(ctx, tx, *r)
		if err == nil && last {
			j.State = job.Succeeded
		}
		return 0, err
	}
}

// stopped is the step that notes why there is nothing to be told, unless there is more by now, or the
// connection is another than it was: what is stopped is taken up when it changes.
func stopped(r *statement.Record, o *connection.Opened, why string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		stands, err := connection.Hold(ctx, tx, o.ID, o.SettledAt)
		if err != nil || !stands {
			return dispatch.AMoment, err
		}
		last, err := statement.Stop(ctx, tx, *r, why)
		if err == nil && last {
			j.State, j.ErrorCode = job.Failed, why
		}
		return 0, err
	}
}

// gone is the step that lets go what a connection was told that is deleted.
func gone(k statement.Key) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if err := statement.Forget(ctx, tx, k); err != nil {
			return 0, err
		}
		return done(ctx, tx, j, now)
	}
}

// giveUp leaves something untold after many faults of the program.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	var k statement.Key
	if err := json.Unmarshal(j.Input, &k); err != nil || k.ID == uuid.Nil {
		return err
	}
	return statement.Abandon(ctx, tx, k, j.ID, failed, now)
}

// pseudonym is an account's name that says nothing of whose it is: the same for a person at one
// connection, and another at any other.
func pseudonym(o *connection.Opened, who uuid.UUID) string {
	return uuid.NewSHA1(uuid.UUID(o.ID), who[:]).String()
}
