package live

import (
	"context"
	"time"

	"github.com/coder/websocket"

	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// end ends the session and closes the room.
func (r *room) end(reason session.Reason, at time.Time) {
	if r.over {
		return
	}
	r.hush()
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	s := r.close(ctx, session.Ending{Reason: reason, At: at, By: r.session.Owner.UUID})
	if s == nil {
		r.leaveAll(r.server.message("error", map[string]any{"code": elsewhere.name, "message": elsewhere.message, "fatal": true}), closeElsewhere)
		return
	}
	r.sayEnd(reason)
}

// hush has the conversation close what is open and waits for that.
func (r *room) hush() {
	r.talk.Finish("")
	select {
	case <-r.talked:
	case <-time.After(hushWithin):
		r.stop()
	}
}

// hushWithin is how long a conversation may take to close its last turn. The
// end of the session closes it otherwise.
const hushWithin = 3 * time.Second

// endWithin is how long the database may be away at an end. A session whose end
// cannot be written is ended by a sweep, at the time this process was last seen.
const endWithin = 8 * time.Second

// close writes the end down; nil when it could not be.
func (r *room) close(ctx context.Context, e session.Ending) *session.Session {
	var ended session.Session
	err := r.retry(ctx, r.withRefusal(func(ctx context.Context, tx *tenant.Tx) (err error) {
		ended, err = session.EndOwn(ctx, tx, r.session.ID, r.session.Epoch, e)
		return err
	}))
	if err != nil {
		r.server.Log.WarnContext(ctx, "an end is left to the sweep", "session", r.session.ID.String(), "error", err)
		return nil
	}
	r.consents.owed = false
	return &ended
}

// sayEnd tells everybody that the session is over, and why.
func (r *room) sayEnd(reason session.Reason) {
	code := closeEnded
	switch reason {
	case session.Left, session.EndedByUser:
		code = websocket.StatusNormalClosure
	case session.Idle:
		code = closeIdle
	}
	r.leaveAll(r.server.message("session-ended", map[string]any{"endReason": reason, "ratingAllowed": true}), code)
}

// lost closes a room whose session is another's.
func (r *room) lost() {
	r.leaveAll(r.server.message("error", map[string]any{"code": elsewhere.name, "message": elsewhere.message, "fatal": true}), closeElsewhere)
}

// taken closes a room that cannot write for its session any more: another process has it,
// or it was ended, of which the news may still be on its way.
func (r *room) taken() {
	if r.over {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	found, err := session.Get(ctx, r.server.Tenants, r.org, r.session.ID)
	if err != nil || !found.State.Over() || found.EndReason == nil {
		r.lost()
		return
	}
	r.sayEnd(*found.EndReason)
}

// release gives the session back, since this process ends.
func (r *room) release() {
	r.do(func() {
		if r.over {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), endWithin)
		defer cancel()
		r.stop() // nothing is said any more
		select { // but what was said, and in which time, is noted
		case <-r.talked:
		case <-time.After(hushWithin):
		}
		r.giveBack(ctx)
		r.lost()
	})
	<-r.ended
}

func (r *room) giveBack(ctx context.Context) {
	err := r.retry(ctx, r.withRefusal(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Release(ctx, tx, r.session.ID, r.session.Epoch, r.server.now())
	}))
	if err != nil {
		r.server.Log.WarnContext(ctx, "a session waits for its lease to end", "session", r.session.ID.String(), "error", err)
		return
	}
	r.consents.owed = false
}

// leaveAll sends the last message and closes every socket and the room.
func (r *room) leaveAll(last frame, code websocket.StatusCode) {
	if r.over {
		return
	}
	r.over, r.last = true, code
	r.stop()
	r.tell(last)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		r.client.close(code, "")
	}
	for _, c := range r.staff {
		if c.peer != nil {
			c.peer.close(code, "")
		}
	}
}
