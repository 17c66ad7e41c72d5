package mailer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/store/tenant"
)

// Worker does the jobs of the kinds mail_send and hiring_mail: it reads who a mail is for and what it
// says, and hands it to the mail server. A crash in between sends it again, with the
// same Message-ID.
type Worker struct {
	Tenants *tenant.Tenants
	Vault   *vault.Vault
	// Sender is nil where no mail is sent any more: mails that wait are dropped.
	Sender mail.Sender
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
	// Candidates compose the mails to candidates; nil where there are none.
	Candidates Candidates
	// Interviews compose those about interviews with people; nil likewise.
	Interviews Interviews
	// JoinURL is the page by which one of the team joins a session; nil for none.
	JoinURL func(which id.Session, token string) string
	// Answers make the addresses that visitors answer to; nil for the sender's own.
	Answers *Answers
	Clock   clock.PassiveClock
	Log     *slog.Logger
}

// Work is what the jobs do.
func (w *Worker) Work() job.Work { return job.Work{Prepare: w.prepare} }

// How long it is tried to send a mail: somebody who waits for a link has given up
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

// errNobody says that a mail has nobody to go to any more.
var errNobody = errors.New("there is nobody to write to")

func (w *Worker) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	if w.Sender == nil {
		return doneStep, nil
	}
	var l input
	var before tries
	if err := errors.Join(json.Unmarshal(j.Input, &l), json.Unmarshal(j.Progress, &before)); err != nil {
		return nil, err
	}
	switch l.Kind {
	case reply:
		return w.sendReply(ctx, j, l, before)
	case team:
		return w.tellTeam(ctx, j, l, before)
	case signIn, invitation, ofCase, assigned, screening, decided, pageLink, answered, reminded, booking:
	}
	log := w.Log.With("job", j.ID.String(), "mail", string(l.Kind))
	m, stamp, err := w.compose(ctx, j, l)
	if errors.Is(err, errNobody) {
		return doneStep, nil
	}
	if err != nil {
		return nil, err
	}
	err = w.Sender.Send(ctx, m)
	if refused, ok := errors.AsType[*mail.Refusal](err); ok {
		log.WarnContext(ctx, "the mail server refused a mail", "error", refused)
		return doneStep, nil
	}
	if err != nil {
		log.WarnContext(ctx, "failed to send a mail, it is tried again", "failed", before.Failed+1, "error", err)
		return retryStep(l, before), nil
	}
	return w.sentStep(l, stamp), nil
}

// compose reads a mail as it is to be sent now. The error is errNobody where nobody
// is to have it. stamp is for who composes it, once it is sent.
func (w *Worker) compose(ctx context.Context, j job.Job, l input) (m mail.Message, stamp []byte, err error) {
	var secret string
	if l.Sealed != nil {
		opened, err := w.Vault.Open(place(j.Org, j.ID), l.Sealed)
		if err != nil {
			return m, nil, err
		}
		secret = string(opened)
	}
	var to addressed
	err = w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		to, err = resolve(ctx, tx, l, secret, w.Candidates, w.Clock.Now().UTC().Truncate(time.Microsecond))
		return err
	})
	if err != nil {
		return m, nil, err
	}
	m, err = to.message(j.ID, w.PortalURL)
	return m, to.stamp, err
}

// sentStep is the step after a mail was sent.
func (w *Worker) sentStep(l input, stamp []byte) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if err := w.sent(ctx, tx, l, stamp, now); err != nil {
			return 0, err
		}
		return doneStep(ctx, tx, j, now)
	}
}

func (w *Worker) sent(ctx context.Context, tx *tenant.Tx, l input, stamp []byte, now time.Time) error {
	switch l.Kind {
	case ofCase:
		return caselink.MarkSent(ctx, tx, l.Case, now)
	case screening:
		return w.Candidates.InvitationSent(ctx, tx, l.Invite, stamp, now)
	case decided:
		return w.Candidates.DecisionSent(ctx, tx, l.Invite, l.DecidedAt, l.Explained, now)
	case answered:
		var explains *time.Time
		if l.Explained {
			explains = &l.DecidedAt
		}
		return w.Candidates.AnswerSent(ctx, tx, l.Request, explains, now)
	case signIn, invitation, assigned, booking, reply, pageLink, reminded, team:
	}
	return nil
}

// doneStep is the step of a mail that is not to be sent again.
func doneStep(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// retryStep is the step of a mail that the server could not take: it is tried after a
// pause that doubles.
func retryStep(l input, before tries) job.Step {
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
