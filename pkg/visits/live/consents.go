package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// consentAgain is how soon what could not be written of the user's consent is tried again.
const consentAgain = 2 * time.Second

// mostChanges bounds how often a user changes their mind, each time being rows, events and
// files: after that they may refuse once more, and no more agree.
const mostChanges = 5

// consents are what the user says of being recorded.
type consents struct {
	// agreed says that they agree, and refused that they do not.
	agreed, refused atomic.Bool
	// ready is what waits for their answer where nothing may be said before it. It is the
	// room's goroutine's.
	ready *conversation.ClientMessage
	// owed says that a refusal is not carried out yet: it is tried until it is. It is the
	// room's goroutine's.
	owed bool
	// changes counts how often they changed their mind, and resuming says that it is not known yet
	// whether the process before recorded. Both are the room's goroutine's.
	changes  int
	resuming bool
	// quiet says that nobody is to be understood for now, nor recorded.
	quiet atomic.Bool
	// private are the turns of which nothing is kept, whoever agreed, by id.Turn. Each is one
	// that the API ordered.
	private sync.Map
}

// keeps says whether a turn may be kept.
func (c *consents) keeps(turn id.Turn) bool {
	_, private := c.private.Load(turn)
	return !private
}

// asksToRecord says whether the user is asked.
func (r *room) asksToRecord() bool { return r.session.Brief.Record != "" && r.server.Files != nil }

// waitsForConsent says that nothing may be said before the user agreed.
func (r *room) waitsForConsent() bool {
	return r.asksToRecord() && r.session.Brief.Record == session.MustAgree && !r.consents.agreed.Load()
}

// tellPresence tells the conversation whether its client is here and may say something.
func (r *room) tellPresence() {
	r.mu.Lock()
	here := r.client != nil
	r.mu.Unlock()
	r.talk.Present(here && !r.waitsForConsent())
}

// recording is what session-ready tells of it: nil where nobody is asked.
func (r *room) recording(p peer) any {
	if !r.asksToRecord() || !p.plays() {
		return nil
	}
	state := recordingAsked
	switch {
	case r.tape.Load() != nil:
		state = recordingOn
	case r.consents.refused.Load():
		state = recordingOff
	}
	return map[string]any{"state": state, "required": r.session.Brief.Record == session.MustAgree}
}

// tellRecording tells everybody how the recording stands.
func (r *room) tellRecording(state string) {
	r.tell(r.server.message(conversation.Recording, map[string]any{"state": state}))
}

// recordingAnswered takes the user's answer.
func (r *room) recordingAnswered(agreed bool) {
	switch {
	case r.over:
	case !r.asksToRecord():
		r.complain("recording_not_asked", "This conversation is not recorded.")
	case agreed:
		r.agree()
	default:
		r.disagree()
	}
}

func (r *room) agree() {
	if r.tape.Load() != nil {
		return
	}
	if r.consents.changes >= mostChanges {
		r.complain("recording_settled", "You changed your mind too often; this conversation is not recorded.")
		return
	}
	r.consents.changes++
	// What they refused goes first: nothing is added to it.
	if r.consents.owed && !r.refuse() {
		r.complain("recording_unavailable", "This conversation cannot be recorded right now.")
		return
	}
	if r.over {
		return
	}
	var by id.Consent
	err := r.writeConsent(func(ctx context.Context, tx *tenant.Tx) (err error) {
		by, err = session.Record(ctx, tx, r.session.ID, r.session.Epoch, r.server.now())
		return err
	})
	switch {
	case errors.Is(err, session.ErrLost):
		r.taken()
		return
	case err != nil:
		r.server.Log.Warn("a session is not recorded", "session", r.session.ID.String(), "error", err)
		r.complain("recording_unavailable", "This conversation cannot be recorded right now.")
		r.tellRecording(recordingOff)
	default:
		r.consents.refused.Store(false)
		r.consents.resuming = false
		r.beginRecording(by)
		r.tellRecording(recordingOn)
	}
	// They did what was asked of them.
	r.consents.agreed.Store(true)
	r.tellPresence()
	if ready := r.consents.ready; ready != nil {
		r.consents.ready = nil
		r.take(*ready)
	}
}

func (r *room) disagree() {
	c := &r.consents
	if c.refused.Load() {
		return // it is carried out, or tried
	}
	r.endRecording()
	c.agreed.Store(false)
	c.refused.Store(true)
	r.tellPresence()
	c.owed, c.resuming = true, false
	c.changes++
	if !r.refuse() {
		r.complain("recording_not_deleted", "What was recorded is not deleted yet; that is tried again.")
	}
}

// refuse carries out what the user refused; false where that is tried again.
func (r *room) refuse() bool {
	if err := r.writeConsent(r.unrecord); err != nil {
		r.server.Log.Error("failed to delete a recording", "session", r.session.ID.String(), "error", err)
		r.time.consentAt = r.server.now().Add(consentAgain)
		return false
	}
	r.consents.owed, r.time.consentAt = false, time.Time{}
	r.tellRecording(recordingOff)
	if r.session.Brief.Record == session.MustAgree {
		r.end(session.ConsentWithdrawn, r.server.now())
	}
	return true
}

// catchUp tries again what is owed.
func (r *room) catchUp() {
	r.time.consentAt = time.Time{}
	switch {
	case r.consents.owed:
		r.refuse()
	case r.consents.resuming:
		r.goOnRecording()
	}
}

// unrecord deletes what the user refused, in whatever transaction.
func (r *room) unrecord(ctx context.Context, tx *tenant.Tx) error {
	return session.Unrecord(ctx, tx, r.session.ID, r.server.now())
}

// withRefusal is a transaction that ends the session's stay here: a refusal that is still owed is
// a part of it, so that what was refused is not finished as if it were agreed to.
func (r *room) withRefusal(fn func(context.Context, *tenant.Tx) error) func(context.Context, *tenant.Tx) error {
	if !r.consents.owed {
		return fn
	}
	return func(ctx context.Context, tx *tenant.Tx) error {
		if err := r.unrecord(ctx, tx); err != nil {
			return err
		}
		return fn(ctx, tx)
	}
}

// refuseAtLast tries what is owed once more, when the room is over.
func (r *room) refuseAtLast() {
	if !r.consents.owed {
		return
	}
	r.server.group.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastWithin)
		defer cancel()
		for {
			err := r.retry(ctx, r.unrecord)
			if err == nil {
				return
			}
			select {
			case <-time.After(consentAgain):
			case <-ctx.Done():
				r.server.Log.Error("a recording that was refused is not deleted", "session", r.session.ID.String(), "error", err)
				return
			}
		}
	})
}

func (r *room) writeConsent(fn func(context.Context, *tenant.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), keepWithin)
	defer cancel()
	return r.retry(ctx, fn)
}

// resumeRecording goes on with what another process recorded.
func (r *room) resumeRecording(ctx context.Context) {
	r.consents.quiet.Store(r.session.Brief.Deaf)
	if !r.resumed || !r.asksToRecord() {
		return
	}
	if err := r.tryResume(ctx); err != nil {
		r.consents.resuming = true
		r.time.consentAt = r.server.now().Add(consentAgain)
	}
}

// goOnRecording tries again what failed when the room was made.
func (r *room) goOnRecording() {
	ctx, cancel := context.WithTimeout(context.Background(), keepWithin)
	defer cancel()
	if err := r.tryResume(ctx); err != nil {
		r.time.consentAt = r.server.now().Add(consentAgain)
		return
	}
	r.consents.resuming = false
	if r.tape.Load() == nil {
		return
	}
	r.tellRecording(recordingOn)
	if ready := r.consents.ready; ready != nil {
		r.consents.ready = nil
		r.take(*ready)
	}
}

// tryResume records on, if the process before did.
func (r *room) tryResume(ctx context.Context) error {
	var (
		by id.Consent
		on bool
	)
	err := r.retry(ctx, func(ctx context.Context, tx *tenant.Tx) (err error) {
		if may, err := r.session.MayBeRecorded(ctx, tx, r.server.now()); err != nil || !may {
			return err
		}
		by, on, err = recording.Resume(ctx, tx, r.session.ID, r.session.Epoch)
		return err
	})
	if err != nil {
		r.server.Log.WarnContext(ctx, "a recording does not go on", "session", r.session.ID.String(), "error", err)
		return err
	}
	if on {
		r.consents.agreed.Store(true)
		r.tellPresence()
		r.beginRecording(by)
	}
	return nil
}
