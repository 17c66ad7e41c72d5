package live

import (
	"context"
	"errors"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// staffCame lets a team member in.
func (r *room) staffCame(ctx context.Context, staff id.Staff, p peer) bool {
	var colleague session.Colleague
	err := r.retry(ctx, func(ctx context.Context, tx *tenant.Tx) (err error) {
		colleague, err = session.Join(ctx, tx, r.session.ID, r.session.Epoch, staff, r.server.now())
		return err
	})
	if errors.Is(err, session.ErrLost) {
		r.taken()
	}
	if err != nil {
		r.server.Log.WarnContext(ctx, "a team member waits", "session", r.session.ID.String(), "error", err)
		return false
	}
	p.send(r.server.message("session-ready", r.readyData(map[string]any{"staffId": staff, "mode": colleague.Mode})))
	r.mu.Lock()
	before := r.staff[staff]
	r.staff[staff] = p
	r.mu.Unlock()
	if before != nil {
		before.close(closeSuperseded, "superseded")
		return true
	}
	r.talk.StaffJoined(conversation.Staff{ID: colleague.ID, Name: colleague.Name, Mode: conversation.StaffMode(colleague.Mode)})
	return true
}

// staffLeft comes when a team member's peer is gone.
func (r *room) staffLeft(ctx context.Context, staff id.Staff, p peer) {
	r.mu.Lock()
	current := r.staff[staff] == p
	if current {
		delete(r.staff, staff)
	}
	r.mu.Unlock()
	if !current || r.over {
		return
	}
	r.talk.StaffLeft(staff)
	err := r.retry(context.WithoutCancel(ctx), func(ctx context.Context, tx *tenant.Tx) error {
		return session.Leave(ctx, tx, r.session.ID, r.session.Epoch, staff, r.server.now())
	})
	if errors.Is(err, session.ErrLost) {
		r.taken()
	} else if err != nil {
		r.server.Log.WarnContext(ctx, "a team member's leaving is noted at the end", "session", r.session.ID.String(), "error", err)
	}
}

// hearStaff takes what a team member sends: words, or the end of the session.
func (r *room) hearStaff(staff id.Staff, data []byte) {
	m, err := conversation.Decode(data)
	switch {
	case err != nil:
		r.mu.Lock()
		if p := r.staff[staff]; p != nil {
			p.send(r.server.message("error", map[string]any{"code": "invalid_message", "message": err.Error(), "fatal": false}))
		}
		r.mu.Unlock()
	case m.Type == conversation.UserText:
		r.talk.StaffSaid(staff, m.Text)
	case m.Type == conversation.EndSession:
		r.do(func() { r.end(session.EndedByStaff, r.server.now()) })
	}
}
