package letter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/store/tenant"
)

// Writer does the jobs of kind mail_send: it reads who a letter is for and what it
// says, and hands it to the mail server. A crash in between sends it again, with the
// same Message-ID.
type Writer struct {
	Tenants *tenant.Tenants
	Vault   *vault.Vault
	// Sender is nil where no mail is sent any more: letters that wait are dropped.
	Sender mail.Sender
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
	Clock     clock.PassiveClock
	Log       *slog.Logger
}

// Work is what the jobs do.
func (w *Writer) Work() job.Work { return job.Work{Prepare: w.prepare} }

// How long it is tried to send a letter: somebody who waits for a link has given up
// when the link would have ended.
const (
	signInTries = signInFor
	otherTries  = 24 * time.Hour
)

// The pauses between tries.
const (
	firstPause   = 10 * time.Second
	longestPause = 30 * time.Minute
)

// tries is a job's progress.
type tries struct {
	Failed int `json:"failed"`
}

// errNobody says that a letter has nobody to go to any more.
var errNobody = errors.New("there is nobody to write to")

func (w *Writer) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	if w.Sender == nil {
		return done, nil
	}
	var l letter
	var before tries
	if err := errors.Join(json.Unmarshal(j.Input, &l), json.Unmarshal(j.Progress, &before)); err != nil {
		return nil, err
	}
	log := w.Log.With("job", j.ID.String(), "letter", string(l.Kind))
	m, err := w.write(ctx, j, l)
	if errors.Is(err, errNobody) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	err = w.Sender.Send(ctx, m)
	if refused, ok := errors.AsType[*mail.Refusal](err); ok {
		log.WarnContext(ctx, "a letter is refused", "error", refused)
		return done, nil
	}
	if err != nil {
		log.WarnContext(ctx, "a letter waits", "failed", before.Failed+1, "error", err)
		return again(l, before), nil
	}
	return sent(l), nil
}

// write reads a letter as it is to be sent now. The error is errNobody where nobody
// is to have it.
func (w *Writer) write(ctx context.Context, j job.Job, l letter) (mail.Message, error) {
	var secret string
	if l.Sealed != nil {
		opened, err := w.Vault.Open(place(j.Org, j.ID), l.Sealed)
		if err != nil {
			return mail.Message{}, err
		}
		secret = string(opened)
	}
	var to addressed
	err := w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		to, err = address(ctx, tx, l, secret, w.Clock.Now().UTC().Truncate(time.Microsecond))
		return err
	})
	if err != nil {
		return mail.Message{}, err
	}
	return to.message(j.ID, w.PortalURL)
}

// sent is the step after a letter was sent.
func sent(l letter) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if l.Kind == ofCase {
			if err := caselink.MarkSent(ctx, tx, l.Case, now); err != nil {
				return 0, err
			}
		}
		return done(ctx, tx, j, now)
	}
}

// done is the step of a letter that is not to be sent again.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// again is the step of a letter that the server could not take: it is tried after a
// pause that doubles.
func again(l letter, before tries) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		longest := otherTries
		if l.Kind == signIn {
			longest = signInTries
		}
		pause := longestPause
		if before.Failed < 10 {
			pause = min(firstPause<<before.Failed, longestPause)
		}
		if now.Add(pause).Sub(j.CreatedAt) > longest {
			j.State, j.ErrorCode = job.Failed, "mail_server"
			return 0, nil
		}
		var err error
		j.Progress, err = json.Marshal(tries{before.Failed + 1})
		return pause, err
	}
}
