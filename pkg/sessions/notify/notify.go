// Package notify tells organizations' chats and helpdesks what visitors leave: each item once into a chat, and as one
// ticket into a helpdesk, which follows what becomes of it. Which they are told is package notice's.
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/tenant"
)

// Teller does the jobs that tell chats and helpdesks. It is safe for concurrent use.
type Teller struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	// Spoken says which words of conversations may be sent.
	Spoken inbox.Spoken
	Clock  clock.PassiveClock
}

// patience is that with chats and helpdesks: as long as webhooks are tried. What is given up is taken up once the connection
// is mended, and in a chat if it is still to be dealt with.
var patience = dispatch.Patience{Away: 3 * 24 * time.Hour, Unready: 3 * 24 * time.Hour, Longest: 10 * time.Minute}

// Background is what workers do for chats and helpdesks.
func (t *Teller) Background() job.Background {
	d := dispatch.New(t.Opener, t.Clock, patience)
	return job.Background{Works: map[job.Kind]job.Work{job.InboxTell: d.Work(t.next)}}
}

// next tells of an item as it is now. A process that ends after a chat was told, and before that is committed, tells
// it again: no chat can be asked whether it was. A helpdesk is asked before.
func (t *Teller) next(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	var k notice.Key
	if err := json.Unmarshal(j.Input, &k); err != nil {
		return nil, err
	}
	n, err := notice.Get(ctx, t.Tenants, j.Org, k)
	switch {
	case errdefs.IsNotFound(err, notice.Noun):
		return nil, nil // the visitor is forgotten, or the connection is gone
	case err != nil:
		return nil, err
	case n.Told >= n.Edition:
		return nil, nil
	}
	if left := n.NotBefore.Sub(t.Clock.Now()); left > 0 {
		return waits(n, left), nil
	}
	known := n.Known
	return &dispatch.Message{
		To:   n.Connection,
		Pace: func(to *connection.Opened) time.Duration { return to.Pace() },
		Tell: func(ctx context.Context, to *connection.Opened) (err error) {
			known, err = t.tell(ctx, to, n)
			return err
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time, o dispatch.Outcome) (time.Duration, error) {
			var (
				last bool
				err  error
			)
			if !o.Acknowledged() {
				if err := notice.Note(ctx, tx, n, known); err != nil || o.Wait > 0 {
					return 0, err
				}
			}
			if j.State = job.Succeeded; o.Abandoned() {
				j.State, j.ErrorCode = job.Failed, o.Code
				last, err = notice.Stop(ctx, tx, n, o.Code)
			} else {
				last, err = notice.Settle(ctx, tx, n, known)
			}
			if !last {
				j.State, j.ErrorCode = job.Running, ""
			}
			return 0, err
		},
	}, nil
}

// waits is a message that is not told yet.
func waits(n notice.Notice, left time.Duration) *dispatch.Message {
	return &dispatch.Message{
		To:   n.Connection,
		Tell: func(context.Context, *connection.Opened) error { return nil },
		Keep: func(context.Context, *tenant.Tx, *job.Job, time.Time, dispatch.Outcome) (time.Duration, error) {
			return left, nil
		},
	}
}

// tell tells of an item, and answers what is known there since, as far as it got.
func (t *Teller) tell(ctx context.Context, to *connection.Opened, n notice.Notice) (notice.Known, error) {
	i, err := inbox.Get(ctx, t.Tenants, to.Org, n.Item)
	switch {
	case errdefs.IsNotFound(err, inbox.Noun):
		return n.Known, nil
	case err != nil:
		return n.Known, err
	case i.ForgottenAt != nil:
		return n.Known, nil
	}
	d, err := t.details(ctx, to, &i)
	if err != nil {
		return n.Known, err
	}
	if to.Kind == connection.Helpdesk {
		return t.ticket(ctx, to, n, &i, d)
	}
	if !i.State.Active() { // somebody dealt with it before it could be told
		return n.Known, nil
	}
	began := t.Clock.Now()
	err = to.Post(ctx, t.Egress, d.card(to, &i))
	t.note(to, "message", began, err)
	return n.Known, err
}

// note reports how a call went, or all that telling of an item took. What did not come from the service, as the end of
// this process, says nothing of it.
func (t *Teller) note(to *connection.Opened, name string, began time.Time, err error) {
	if err != nil && upstream.CodeOf(err) == "" {
		return
	}
	t.Report.Report(to.Org, to.ID, connection.OutcomeOf(name, began, t.Clock.Now(), err))
}

// refuses says whether an error is of what was told, and not of the service.
func refuses(err error) bool {
	switch upstream.StatusOf(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return errors.Is(err, upstream.ErrRejected)
	}
	return false
}

// absent says whether an error is that something is there no more.
func absent(err error) bool {
	return errors.Is(err, upstream.ErrRejected) && (upstream.StatusOf(err) == http.StatusNotFound || upstream.StatusOf(err) == http.StatusGone)
}
