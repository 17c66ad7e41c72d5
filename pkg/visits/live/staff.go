package live

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// colleague is a team member in a room. The peer is nil while their connection is lost, until
// gone sends them out.
type colleague struct {
	session.Colleague
	peer peer
	gone clock.Timer
	// switches bounds how often they switch their mode, which everybody is told.
	switches *rate.Limiter
}

func newColleague(c session.Colleague) *colleague {
	return &colleague{Colleague: c, switches: rate.NewLimiter(rate.Every(2*time.Second), 5)}
}

func (c *colleague) send(f frame) {
	if c.peer != nil {
		c.peer.send(f)
	}
}

// inConversation is the team member as the conversation knows them.
func (c *colleague) inConversation() conversation.Staff {
	return conversation.Staff{ID: c.ID, Name: c.Name, Mode: conversation.StaffMode(c.Mode), OnlyListens: c.Most == session.Listen}
}

// findColleagues finds the team members who were in when the process before died: who had taken
// over has still. They are sent out if they do not come back.
func (r *room) findColleagues(ctx context.Context) error {
	if !r.resumed {
		return nil
	}
	found, err := session.Present(ctx, r.server.Tenants, r.org, r.session.ID)
	for _, c := range found {
		r.staff[c.ID] = newColleague(c)
	}
	return err
}

// colleagues are the team members who are in, for a conversation that goes on.
func (r *room) colleagues() (in []conversation.Staff) {
	for _, c := range r.staff {
		in = append(in, c.inConversation())
	}
	return in
}

// awaitColleagues gives those who are in and have no connection the time to come back.
func (r *room) awaitColleagues() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.staff {
		if c.peer == nil && c.gone == nil {
			r.awaitColleague(c)
		}
	}
}

// awaitColleague sends a team member out who does not come back in time. The lock is held.
func (r *room) awaitColleague(c *colleague) {
	var timer clock.Timer
	timer = r.server.Clock.AfterFunc(session.ResumeWithin, func() {
		go r.do(func() {
			r.mu.Lock()
			late := c.gone == timer
			r.mu.Unlock()
			if late {
				r.sendOut(context.Background(), c)
			}
		})
	})
	c.gone = timer
}

// staffCame lets a team member in. One whose connection was lost is in still.
func (r *room) staffCame(ctx context.Context, staff id.Staff, p peer) bool {
	var (
		found session.Colleague
		token session.Token
	)
	_, resumes := p.(*socket) // who is in a media server's room comes back by its token
	err := r.retry(ctx, func(ctx context.Context, tx *tenant.Tx) (err error) {
		if found, err = session.Join(ctx, tx, r.session.ID, r.session.Epoch, staff, r.server.now()); err == nil && resumes {
			token, err = session.RenewStaff(ctx, tx, r.session.ID, r.session.Epoch, staff, r.server.now())
		}
		return err
	})
	var ready frame
	if err == nil {
		ready, err = r.staffReady(ctx, found, token, p)
	}
	switch {
	case err == nil:
	case errors.Is(err, session.ErrLost):
		r.taken()
		return false
	case errors.Is(err, session.ErrAttended):
		return false // the page says who is there
	default:
		r.server.Log.WarnContext(ctx, "failed to let a team member in", "session", r.session.ID.String(), "error", err)
		r.noteLeft(ctx, staff, r.server.now())
		return false
	}
	p.send(ready)
	r.mu.Lock()
	c, in := r.staff[staff]
	if !in {
		c = newColleague(found)
		r.staff[staff] = c
	}
	before := c.peer
	c.peer = p
	if c.gone != nil {
		c.gone.Stop()
		c.gone = nil
	}
	r.mu.Unlock()
	if before != nil {
		before.close(closeSuperseded, "superseded")
	}
	if !in {
		r.talk.StaffJoined(c.inConversation())
	}
	return true
}

// mostStaffTurns is how many of the last turns a team member is shown.
const mostStaffTurns = 100

// staffReady is the first message to a team member: what they came into, who is there, what was
// said so far with what it rests on, and the token by which they come back, if there is one.
func (r *room) staffReady(ctx context.Context, c session.Colleague, token session.Token, p peer) (frame, error) {
	said, err := session.Turns(ctx, r.server.Tenants, r.org, r.session.ID, max(0, r.talk.Snapshot().Turns-mostStaffTurns), mostStaffTurns)
	if err != nil {
		return frame{}, err
	}
	type turn struct {
		ID          id.Turn          `json:"id"`
		Index       int64            `json:"index"`
		Speaker     session.Speaker  `json:"speaker"`
		Name        string           `json:"name"`
		Host        string           `json:"host,omitempty"`
		Text        string           `json:"text"`
		Sources     []session.Source `json:"sources"`
		Interrupted bool             `json:"interrupted"`
	}
	turns := make([]turn, len(said))
	for i, t := range said {
		turns[i] = turn{t.ID, t.Index, t.Speaker, t.Name, t.Host, t.Heard(), t.Sources, t.Interrupted}
		if turns[i].Sources == nil {
			turns[i].Sources = []session.Source{}
		}
	}
	type other struct {
		Staff id.Staff `json:"staffId"`
		Name  string   `json:"name"`
		Mode  string   `json:"mode"`
	}
	others := []other{}
	r.mu.Lock()
	mode, visitor := c.Mode, r.client != nil
	for _, o := range r.staff {
		if o.ID == c.ID {
			mode = o.Mode // it may not be written yet
		} else {
			others = append(others, other{o.ID, o.Name, o.Mode})
		}
	}
	r.mu.Unlock()
	data := map[string]any{
		"staffId": c.ID, "name": c.Name, "mode": mode, "modes": c.Modes(), "staff": others, "state": r.talk.Snapshot().State, "visitor": visitor,
		"answerTime": r.talk.Snapshot().AnswerTime(r.server.now()),
	}
	if token != "" {
		data["resumeToken"] = token
	}
	for {
		data["turns"] = turns
		f := r.server.message("session-ready", r.readyData(data))
		if len(f.data) <= p.most() || len(turns) == 0 {
			return f, nil
		}
		turns = turns[1:]
	}
}

// staffLeft comes when a team member's peer is gone. One that said goodbye has left; any other may
// come back.
func (r *room) staffLeft(ctx context.Context, staff id.Staff, p peer, code websocket.StatusCode) {
	r.mu.Lock()
	c := r.staff[staff]
	current := c != nil && c.peer == p
	if current {
		c.peer = nil
	}
	lost := current && code != websocket.StatusNormalClosure && !r.over
	if lost {
		r.awaitColleague(c)
	}
	r.mu.Unlock()
	if current && !lost {
		r.sendOut(ctx, c)
	}
}

// sendOut ends a team member's presence.
func (r *room) sendOut(ctx context.Context, c *colleague) {
	r.mu.Lock()
	in := r.staff[c.ID] == c
	if in {
		delete(r.staff, c.ID)
	}
	r.mu.Unlock()
	if !in || r.over {
		return
	}
	r.talk.StaffLeft(c.ID)
	r.noteLeft(ctx, c.ID, r.server.now())
}

// noteLeft writes that a team member who is not in left at a time, if the database has them in. While they stand there as
// present nobody else is called, so that a database that is away is asked again.
func (r *room) noteLeft(ctx context.Context, staff id.Staff, at time.Time) {
	r.mu.Lock()
	_, in := r.staff[staff]
	r.mu.Unlock()
	if in || r.over {
		return // they came back; who is present at the end is sent out with it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), staffWriteWithin)
	defer cancel()
	err := r.retry(ctx, func(ctx context.Context, tx *tenant.Tx) error {
		return session.Leave(ctx, tx, r.session.ID, r.session.Epoch, staff, at)
	})
	if tenant.Unavailable(err) || errors.Is(err, context.DeadlineExceeded) {
		r.server.Clock.AfterFunc(staffWriteAgain, func() {
			go r.do(func() { r.noteLeft(context.Background(), staff, at) })
		})
	}
	r.noted(ctx, err, "failed to note that a team member left")
}

// staffWriteWithin is how long the database may be away when a team member leaves, or switches
// their mode.
const staffWriteWithin = 5 * time.Second

// staffWriteAgain is after what a database that was away is told again that a team member left.
const staffWriteAgain = 10 * time.Second

// noted judges what came of noting something that the room can do without.
func (r *room) noted(ctx context.Context, err error, failed string) {
	if errors.Is(err, session.ErrLost) {
		r.taken()
	} else if err != nil {
		r.server.Log.WarnContext(ctx, failed, "session", r.session.ID.String(), "error", err)
	}
}

// hearStaff takes what a team member sends: words, their mode, or the end of the session. Those
// who were invited to listen alone do nothing of it.
func (r *room) hearStaff(staff id.Staff, data []byte) {
	if mode, ok := readMode(data); ok {
		r.do(func() { r.switchMode(staff, mode) })
		return
	}
	m, err := conversation.Decode(data)
	r.mu.Lock()
	c := r.staff[staff]
	var mode, most string
	if c != nil {
		mode, most = c.Mode, c.Most
	}
	r.mu.Unlock()
	switch {
	case c == nil: // they are on their way out
	case err != nil:
		code := "invalid_message"
		if wrong, ok := errors.AsType[*conversation.BadMessageError](err); ok {
			code = wrong.Code
		}
		r.refuseStaff(staff, code, err.Error())
	case m.Type == conversation.Ping:
		r.tellColleague(staff, r.server.message("pong", nil))
	case m.Type == conversation.UserText && mode == session.Listen:
		r.refuseStaff(staff, "only_listens", "Who only listens says nothing.")
	case m.Type == conversation.UserText:
		if !r.talk.StaffSaid(staff, m.Text) {
			r.refuseStaff(staff, "too_many_messages", "messages came faster than they could be handled; some were dropped")
		}
	case m.Type == conversation.EndSession && most == session.Listen:
		r.refuseStaff(staff, "only_listens", "Who only listens ends nothing.")
	case m.Type == conversation.EndSession:
		r.do(func() { r.end(session.EndedByStaff, r.server.now()) })
	}
}

// readMode reads a team member's wish to be in another mode; false for another message.
func readMode(data []byte) (string, bool) {
	var m struct {
		Type string `json:"type"`
		Data struct {
			Mode string `json:"mode"`
		} `json:"data"`
	}
	err := json.Unmarshal(data, &m)
	return m.Data.Mode, err == nil && m.Type == "staff-mode"
}

// switchMode puts a team member into another mode, of those they were invited for. The avatar is
// silent before anything is written.
func (r *room) switchMode(staff id.Staff, mode string) {
	r.mu.Lock()
	c := r.staff[staff]
	allowed := c != nil && slices.Contains(c.Modes(), mode)
	same := allowed && c.Mode == mode
	often := allowed && !same && !c.switches.AllowN(r.server.now(), 1)
	if allowed && !often {
		c.Mode = mode
	}
	r.mu.Unlock()
	switch {
	case !allowed:
		r.refuseStaff(staff, "mode_not_allowed", "The mode is not one of those that the team member was invited for.")
		return
	case often:
		r.refuseStaff(staff, "too_many_messages", "The mode is not switched that often.")
		return
	case same:
		return
	}
	r.talk.StaffJoined(c.inConversation())
	ctx, cancel := context.WithTimeout(context.Background(), staffWriteWithin)
	defer cancel()
	err := r.retry(ctx, func(ctx context.Context, tx *tenant.Tx) error {
		return session.SwitchMode(ctx, tx, r.session.ID, r.session.Epoch, staff, mode)
	})
	r.noted(ctx, err, "failed to note a team member's mode")
}

func (r *room) refuseStaff(staff id.Staff, code, message string) {
	r.tellColleague(staff, r.server.message("error", map[string]any{"code": code, "message": message, "fatal": false}))
}

func (r *room) tellColleague(staff id.Staff, f frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.staff[staff]; c != nil {
		c.send(f)
	}
}

// tellStaff tells team members alone.
func (r *room) tellStaff(f frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.staff {
		c.send(f)
	}
}
