package sessions

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// EndInput is the request for an end.
type EndInput struct {
	Path
	Body *SessionEnding
}

// SessionEnding says how a session ends.
type SessionEnding struct {
	Reason  string `json:"reason,omitempty" maxLength:"200" doc:"For the activity log."`
	Message string `json:"message,omitempty" maxLength:"500" doc:"Said first."`
}

// end ends a session. One with a last message ends when that was said, or after
// a while in any case.
func (a *API) end(ctx context.Context, c *route.Call, in *EndInput) (Session, error) {
	found, err := a.find(ctx, c, in.Path)
	if err != nil {
		return Session{}, err
	}
	body := SessionEnding{}
	if in.Body != nil {
		body = *in.Body
	}
	finishing := false
	if body.Message != "" && found.State == session.Live {
		if finishing, err = a.finish(ctx, c, found.ID, body); err != nil {
			return Session{}, err
		}
	}
	ended, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (session.Session, error) {
		s, err := session.Lock(ctx, tx, found.ID)
		if err != nil || s.State.Over() {
			return s, asProblem(err)
		}
		who := c.Actor()
		if finishing { // which was logged
			who = who.Unlogged()
		}
		return session.EndFor(ctx, tx, s, body.Reason, who)
	})
	if err != nil {
		return Session{}, err
	}
	return a.shown(ctx, c, ended)
}

const (
	// finishWithin is how long a last message may take to be said.
	finishWithin = 12 * time.Second
	finishLook   = 100 * time.Millisecond
)

// finish has a last message said and waits until the session has ended by it,
// but not for long. It says whether there was anybody to ask for it.
func (a *API) finish(ctx context.Context, c *route.Call, which id.Session, b SessionEnding) (asked bool, err error) {
	until := c.Now().Add(finishWithin)
	err = a.Tenants.InTx(ctx, c.Org(), func(ctx context.Context, tx *tenant.Tx) error {
		s, err := session.Lock(ctx, tx, which)
		if asked = err == nil && s.State == session.Live; !asked {
			return asProblem(err)
		}
		return session.FinishFor(ctx, tx, s, b.Message, b.Reason, c.Actor())
	})
	if err != nil || !asked {
		return false, err
	}
	look := time.NewTicker(finishLook)
	defer look.Stop()
	for c.Now().Before(until) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return true, ctx.Err()
		}
		if s, err := session.Get(ctx, a.Tenants, c.Org(), which); err == nil && s.State.Over() {
			break
		}
	}
	return true, nil
}
