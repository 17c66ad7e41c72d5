package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/store/tenant"
)

// room is a session that this process runs. One goroutine owns what is not
// behind the lock.
type room struct {
	server  *Server
	org     id.Org
	session session.Session
	name    string
	talk    *conversation.Conversation
	// resume lets the first client come back; later ones get others. resumed says that
	// the conversation began in another process.
	resume  session.Token
	resumed bool

	todo  chan func()
	ended chan struct{}
	stop  context.CancelFunc
	timer clock.Timer
	time  times
	over  bool
	// talked is closed when the conversation has ended. why is the reason it
	// asked for, or was given; nil when it lost the session.
	talked chan struct{}
	why    atomic.Pointer[session.Reason]
	// ordered are the commands that were handed on and are not carried out.
	ordered map[id.Turn]bool

	// heard says that the client has sent something.
	heard atomic.Bool

	// deaf is done once the client was told that its sound is not understood.
	deaf sync.Once

	// said is what speaks, and voice says the conversation aloud; nil where nothing does.
	said  Voice
	voice *voice
	// hostVoices are those of a duo's hosts, by their seats; empty where one alone speaks.
	hostVoices map[string]playout.Voice
	// tape records the session while its user agrees; nil otherwise.
	tape     atomic.Pointer[recorder]
	consents consents
	// hearing understands what the client says; nil where nothing does. pressed says that
	// they hold a button for it, polyglot that they may speak one of several languages.
	hearing           *hearing
	pressed, polyglot bool

	// listening is held while it is settled how sound comes to the client. It is taken before
	// mu, and never by who holds a lock of the player's or of a connection's.
	listening sync.Mutex

	mu     sync.Mutex
	client peer
	// welcome is what the client was told when it came.
	welcome map[string]any
	// plays are the formats that the client plays, once it is ready.
	plays []string
	staff map[id.Staff]*colleague
	// last is the code that everybody was sent away with. It is read once the room ended.
	last websocket.StatusCode
}

// furnish makes a room for a session that this process has just taken over.
func (s *Server) furnish(ctx context.Context, org id.Org, a session.Attached) (*room, *refusal) {
	r := &room{
		server: s, org: org, session: a.Session, resume: a.Resume, resumed: !a.Began, todo: make(chan func(), 64),
		ended: make(chan struct{}), talked: make(chan struct{}),
		ordered: map[id.Turn]bool{}, staff: map[id.Staff]*colleague{},
	}
	r.time = newTimes(a, s.now())
	err := r.findColleagues(ctx)
	var config conversation.Config
	if err == nil {
		config, err = r.config(ctx)
	}
	if err != nil {
		reason := session.EngineError
		if errors.Is(err, conversation.ErrNoModel) {
			reason = session.UpstreamError
		}
		s.Log.ErrorContext(ctx, "a conversation cannot be held", "session", a.Session.ID.String(), "reason", string(reason), "error", err)
		r.close(ctx, session.Ending{Reason: reason, At: s.now(), By: a.Session.Owner.UUID})
		return nil, &refusal{websocket.StatusInternalError, string(reason), "The conversation cannot be held."}
	}
	r.talk = conversation.New(config)
	if !s.enter(r) {
		r.giveBack(ctx)
		return nil, &elsewhere
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	go func() {
		defer close(r.talked)
		r.talk.Run(running)
	}()
	r.resumeRecording(ctx)
	r.awaitColleagues()
	go r.run()
	return r, nil
}

// do has the room's goroutine do something; nothing, once the room is closed.
func (r *room) do(fn func()) {
	select {
	case r.todo <- fn:
	case <-r.ended:
	}
}

// ask is do, but that a room which is busy is not waited for: what is asked of it again
// and again is not done this time.
func (r *room) ask(fn func()) {
	select {
	case r.todo <- fn:
	case <-r.ended:
	default:
	}
}

// run owns the room until it is over.
func (r *room) run() {
	defer r.server.leave(r)
	defer close(r.ended)
	defer r.stop()
	defer r.refuseAtLast()
	defer r.endRecording()
	if r.voice != nil {
		defer r.voice.Close()
	}
	if r.hearing != nil {
		defer r.hearing.close()
	}
	r.timer = r.server.Clock.NewTimer(0)
	defer r.timer.Stop()
	for !r.over {
		select {
		case fn := <-r.todo:
			fn()
		case <-r.timer.C():
			r.keepTime()
		case <-r.talked:
			r.talkEnded()
		}
		r.timer.Reset(r.time.wait(r.server.now()))
	}
}

// talkEnded comes when the conversation stopped by itself: it asked for its end,
// or it lost the session.
func (r *room) talkEnded() {
	if reason := r.why.Load(); reason != nil {
		r.end(*reason, r.server.now())
		return
	}
	r.taken()
}

// serve lets a caller in and reads what it sends until its socket ends. It is
// false when the room was closed meanwhile.
func (r *room) serve(ctx context.Context, c *caller) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newSocket(c.socket)
	hear := r.hear
	if c.Staff.IsZero() {
		if p.direct = r.newDirect(p); p.direct != nil {
			defer p.direct.close()
			hear = p.direct.hear
		}
	}
	if !r.admit(ctx, c.Staff, p) {
		return false
	}
	go p.write(ctx)
	if c.Staff.IsZero() {
		// Whatever ends the reading, the room learns that they are gone.
		code := websocket.StatusCode(-1)
		defer func() { r.do(func() { r.clientLeft(p, code) }) }()
		code = p.read(ctx, hear, r.hearSound)
	} else {
		code := websocket.StatusCode(-1)
		defer func() { r.do(func() { r.staffLeft(ctx, c.Staff, p, code) }) }()
		code = p.read(ctx, func(data []byte) { r.hearStaff(c.Staff, data) }, func([]byte) {})
	}
	return true
}

// admit takes somebody in: a team member, or the client where that is zero. It is false
// when the room was closed meanwhile.
func (r *room) admit(ctx context.Context, staff id.Staff, p peer) bool {
	in := make(chan bool, 1)
	r.do(func() { in <- r.enter(ctx, staff, p) })
	select {
	case ok := <-in:
		return ok
	case <-r.ended:
		return false
	}
}

func (r *room) enter(ctx context.Context, staff id.Staff, p peer) bool {
	if r.over {
		return false
	}
	if !staff.IsZero() {
		return r.staffCame(ctx, staff, p)
	}
	return r.clientCame(ctx, p)
}

// clientCame makes a peer the client's. Another that was before it is superseded.
func (r *room) clientCame(ctx context.Context, p peer) bool {
	ready, welcome, err := r.ready(ctx, p)
	if errors.Is(err, session.ErrLost) {
		r.taken()
		return false
	}
	if err != nil {
		r.server.Log.WarnContext(ctx, "a client waits", "session", r.session.ID.String(), "error", err)
		return false
	}
	p.send(ready)
	r.mu.Lock()
	before := r.client
	r.client, r.welcome, r.plays = p, welcome, nil
	r.mu.Unlock()
	r.unheard()
	if before != nil {
		before.close(closeSuperseded, "superseded")
		r.talk.Present(false) // it may have been gone for a while
	}
	r.time.clientCame()
	r.tellPresence()
	r.tellStaff(r.server.message("notice", map[string]any{"kind": "visitor_here"}))
	if r.resumed && !r.waitsForConsent() {
		// It was ready before the process that held the conversation died.
		r.talk.Receive(conversation.ClientMessage{Type: conversation.ClientReady})
	}
	return true
}

// clientLeft comes when a client's peer is gone. One that said goodbye has left;
// any other may come back.
func (r *room) clientLeft(p peer, code websocket.StatusCode) {
	r.mu.Lock()
	current := r.client == p
	if current {
		r.client = nil
	}
	r.mu.Unlock()
	if !current || r.over {
		return
	}
	if code == websocket.StatusNormalClosure {
		r.end(session.Left, r.server.now())
		return
	}
	r.unheard()
	r.tellPresence()
	if r.hearing != nil {
		r.hearing.release()
	}
	r.time.clientLost(r.server.now())
	r.tellStaff(r.server.message("notice", map[string]any{"kind": "visitor_away"}))
}

// tell sends a message to everybody in the room.
func (r *room) tell(f frame) { r.tellTo(f, true) }

// send sends a message of the conversation's. What the client is to do is no staff's.
func (r *room) send(m conversation.Message) {
	_, call := m.Data.(conversation.FunctionCall)
	r.tellTo(encode(m), !call)
}

func (r *room) tellTo(f frame, staff bool) {
	r.tape.Load().message(f)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		r.client.send(f)
	}
	if !staff {
		return
	}
	for _, c := range r.staff {
		c.send(f)
	}
}

// hear takes what the client sends.
func (r *room) hear(data []byte) {
	m, err := conversation.Decode(data)
	if err != nil {
		r.talk.Refuse(err)
		return
	}
	r.heard.Store(true)
	if m.Type == conversation.Recording {
		r.do(func() { r.recordingAnswered(m.Agreed) })
		return
	}
	if m.Type == conversation.Pause {
		r.do(func() { r.pause(m.On) })
		return
	}
	if r.waitsForConsent() {
		r.hold(m)
		return
	}
	r.take(m)
}

// pause has a candidate's interview wait, or go on. The time that it may take runs on; the silence ends nothing. A process that
// takes it over goes on by itself, until the client says otherwise.
func (r *room) pause(on bool) {
	if r.session.Kind != session.Screening {
		r.talk.Refuse(&conversation.BadMessageError{Code: "not_allowed", Message: "only a candidate's interview can be paused"})
		return
	}
	if on && r.talk.Snapshot().Time.Limited() {
		r.talk.Refuse(&conversation.BadMessageError{Code: "not_allowed", Message: "a question that has a time to answer does not wait; the interview can be paused after it"})
		return
	}
	r.time.paused = on
	r.talk.Steer(conversation.Steer{Paused: &on})
	r.tell(r.server.message("pause", map[string]any{"on": on, "endsInS": wholeSeconds(r.time.longest.Sub(r.server.now()))}))
}

// hold takes what the client sends before its user agreed to what the session needs.
func (r *room) hold(m conversation.ClientMessage) {
	switch m.Type {
	case conversation.ClientReady:
		r.do(func() {
			if !r.waitsForConsent() {
				r.take(m)
				return
			}
			r.consents.ready = &m
		})
	case conversation.Ping, conversation.EndSession:
		r.talk.Receive(m)
	default:
		r.complain("recording_required", "This conversation goes on once you agree that it is recorded.")
	}
}

// take takes a message for the conversation.
func (r *room) take(m conversation.ClientMessage) {
	if r.hearing != nil && r.hearing.press(m) {
		return
	}
	switch {
	case r.voice == nil:
	case m.Type == conversation.ClientReady:
		r.listens(m.Audio)
	case m.Type == conversation.Playback:
		if r.isRendered() {
			return // who renders knows
		}
		r.voice.Played(m.Turn, time.Duration(m.PlayedMs)*time.Millisecond)
	}
	r.talk.Receive(m)
}

// retry runs a transaction again while the database is away.
func (r *room) retry(ctx context.Context, fn func(context.Context, *tenant.Tx) error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := r.server.Tenants.InTx(ctx, r.org, fn, tenant.Idempotent(true))
		if err == nil || !tenant.Unavailable(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}
