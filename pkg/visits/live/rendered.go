package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	lkroom "visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/conversation"
)

// Rendering is how a service renders the face of a session as a video. The zero value is that none does.
type Rendering struct {
	Connection id.Connection
	// Start has who renders come into a room of a media server: it joins at server with the token.
	Start func(ctx context.Context, server, token string) error
}

const (
	// lookAtFace is how often it is seen to.
	lookAtFace = 100 * time.Millisecond
	// findFaceWithin bounds finding out who renders, and whether it is there still.
	findFaceWithin = 3 * time.Second
	// showWithin is how long who renders may take from being called to its first picture.
	showWithin = 30 * time.Second
	// reportEvery is how often the conversation is told how far a turn was heard.
	reportEvery = 250 * time.Millisecond
	// faceStarts is how often it is called for one session, and startAgain the first pause after it was lost; it doubles.
	faceStarts = 3
	startAgain = 5 * time.Second
)

// faceState is how a face is shown.
type faceState int

const (
	// drawn: by the client. The sound is the persona's track.
	drawn faceState = iota
	// coming: who renders was called.
	coming
	// waits: it is there, and takes over with the next turn.
	waits
	// shown: it shows the face, and speaks.
	shown
)

// face is the persona's face in a media server's room. It is drawn by the client, with our sound, unless a service renders it: then who
// renders is a participant that is sent the sound, and publishes video and sound of its own. Where that is slow, silent or
// gone, the drawn face and our sound take over, from the moment that was heard.
//
// The session's goroutine owns it, but for what is behind the lock.
type face struct {
	session *liveKitSession
	by      Rendering
	starts  int
	again   time.Time
	// kept says that it was there when the room was lost, and is not called anew if it is there still.
	kept bool
	// done are what became of calls, to be seen to by the session's goroutine.
	done chan func()
	// reported is when the conversation was told of the turn last.
	reported time.Time
	// ear hears who renders, by one decoder however often it comes, and no faster than somebody speaks.
	ear frames

	mu     sync.Mutex
	state  faceState
	since  time.Time
	joined *lkroom.Room
	// there says that who renders is in the room, and shows that it publishes a picture.
	there, shows bool
	// next is the turn that was announced, of a stream.
	next   id.Turn
	number uint16
	stream *lkroom.Stream
	turns  renderedTurns
}

func newFace(v *liveKitSession) *face {
	return &face{session: v, done: make(chan func(), 8), ear: newFrames(v.server.now)}
}

func (f *face) isShown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state == shown
}

// find finds what renders the face, once a conversation begins.
func (f *face) find(ctx context.Context) {
	v := f.session
	if v.server.Rendering == nil || v.session.Channel != string(conversation.Video) {
		return
	}
	finding, cancel := context.WithTimeout(ctx, findFaceWithin)
	defer cancel()
	by, err := v.server.Rendering(finding, v.claim.Org, v.session)
	if err != nil {
		v.log(ctx, "failed to open the connection that renders the face, which is drawn", err)
		return
	}
	f.by = by
}

// enter notes that the room was joined, anew or again.
func (f *face) enter(joined *lkroom.Room) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = f.kept || f.state != drawn
	f.joined, f.there, f.shows = joined, false, false
	f.become(drawn)
}

// become changes the state; the lock is held.
func (f *face) become(s faceState) {
	f.state, f.since = s, f.session.server.now()
	if s != shown {
		f.turns, f.stream = renderedTurns{}, nil
	}
}

// handle takes what who renders does in the room.
func (f *face) handle(e lkroom.Event) {
	f.mu.Lock()
	switch e.Kind {
	case lkroom.Came:
		f.there = true
	case lkroom.Shows:
		f.there, f.shows = true, true
	case lkroom.Hides:
		f.shows = false
	case lkroom.Left:
		f.there, f.shows = false, false
	case lkroom.Asked:
		switch e.Method {
		case livekit.PlaybackStarted:
			f.turns.begun(f.session.server.now())
		case livekit.PlaybackFinished:
			f.mu.Unlock()
			f.finished(e.Payload)
			return
		}
	case lkroom.Said:
	}
	lost := !f.shows && (f.state == shown || f.state == waits)
	f.mu.Unlock()
	if lost {
		f.lose("leave", &upstream.Error{Code: upstream.Unavailable, Err: errors.New("who renders the face left")})
	}
}

// tick sees to the face.
func (f *face) tick(ctx context.Context) {
	now, r := f.session.server.now(), f.session.room
	if f.by.Start == nil || r == nil {
		return
	}
	f.mu.Lock()
	state, since, there, shows := f.state, f.since, f.there, f.shows
	f.mu.Unlock()
	switch state {
	case drawn:
		f.want(ctx, now, there, shows)
	case coming:
		switch {
		case shows:
			f.report("show", since, nil)
			f.mu.Lock()
			f.become(waits)
			f.mu.Unlock()
		case now.Sub(since) > showWithin:
			f.lose("show", &upstream.Error{Code: upstream.Timeout, Err: errors.New("who renders the face shows nothing")})
		}
	case waits:
		if f.session.outlet.isSilent() {
			f.show()
		}
	case shown:
		f.watch(now)
	}
}

// want sees to a face that is drawn, and that who renders it is there to be used, or not at all.
func (f *face) want(ctx context.Context, now time.Time, there, shows bool) {
	switch f.due(now, there, shows) {
	case useFace:
		if f.isWanted() {
			f.expect()
		}
	case callFace:
		if f.isWanted() {
			f.call(ctx, now, shows)
		}
	case dismissFace: // it costs as long as it stays
		f.again = now.Add(showWithin)
		f.sendOut()
	case awaitFace:
	}
}

// faceAction is what is done about a face that is drawn.
type faceAction int

const (
	awaitFace faceAction = iota
	useFace
	callFace
	dismissFace
)

// due is what is to be done about a face that is drawn, where who renders is there, and shows a picture.
func (f *face) due(now time.Time, there, shows bool) faceAction {
	switch {
	case f.kept && shows: // our connection was lost, and not it
		return useFace
	case f.kept && now.Sub(f.since) < findFaceWithin: // who is there is told one after another
		return awaitFace
	case now.Before(f.again):
		return awaitFace
	case f.starts < faceStarts:
		return callFace
	case there: // it was given up
		return dismissFace
	}
	return awaitFace
}

// isWanted says whether there is somebody to see it, who hears what it says: a mouth that says nothing is not worth its price.
func (f *face) isWanted() bool {
	v := f.session
	visitor := v.participants[livekit.Visitor]
	return visitor != nil && visitor.room != nil && v.room.voice != nil && v.room.voice.Audible()
}

// call calls who renders, unless it is there already, as where another process called it.
func (f *face) call(ctx context.Context, now time.Time, shows bool) {
	v := f.session
	f.starts++ // also for who is there, and may have been lost without having left
	f.expect()
	if shows {
		return
	}
	f.again = now.Add(startAgain << f.starts)
	token, err := v.media.MediaKey().AvatarToken(v.media.MediaRoom(v.session.ID), now, showWithin)
	if err != nil {
		v.log(ctx, "failed to make a token for who renders the face", err)
		return
	}
	calling, by, server, starts := context.WithoutCancel(ctx), f.by, v.media.MediaURL(), f.starts
	go func() {
		ctx, cancel := context.WithTimeout(calling, showWithin)
		defer cancel()
		err := by.Start(ctx, server, token)
		f.do(func() {
			f.report("start", now, err)
			if err != nil && f.starts == starts && f.isComing() {
				v.log(calling, "failed to have the face rendered, it is drawn", err)
				f.gone(err)
			}
		})
	}()
}

// expect waits for its picture.
func (f *face) expect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = false
	f.become(coming)
}

func (f *face) isComing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state == coming
}

// do has the session's goroutine do something; nothing, once the room is left.
func (f *face) do(fn func()) {
	select {
	case f.done <- fn:
	case <-time.After(time.Second):
	}
}

// show has who renders speak from now on.
func (f *face) show() {
	f.mu.Lock()
	f.become(shown)
	f.mu.Unlock()
	f.session.room.relisten()
	f.tell(true, "")
}

// tell tells the client whose face it is to show.
func (f *face) tell(on bool, reason upstream.Code) {
	r := f.session.room
	data := map[string]any{"on": on, "participant": livekit.Avatar}
	if reason != "" {
		data["reason"] = reason
	}
	r.tellClient(r.server.message("bot-video", data))
}

// lose notes that who renders is of no use: it is sent out of the room, so that nothing of it is heard later, and the drawn face goes on
// where it was heard last.
func (f *face) lose(step string, why error) {
	v := f.session
	f.report(step, v.server.now(), why)
	v.log(context.Background(), "lost who renders the face, which is drawn", why)
	f.gone(why)
	f.sendOut()
}

// sendOut sends who renders out of the room.
func (f *face) sendOut() {
	v := f.session
	media, room := v.media, v.media.MediaRoom(v.session.ID)
	v.server.group.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), media.Timeout())
		defer cancel()
		if err := media.WithMedia(v.server.Egress, func(s livekit.Server) error {
			return s.Remove(ctx, room, livekit.Avatar, v.server.now())
		}); err != nil {
			v.log(ctx, "failed to send who renders the face out of a LiveKit room", err)
		}
	})
}

// gone has the face be drawn from now on.
func (f *face) gone(why error) {
	f.mu.Lock()
	state, turn, heard := f.state, id.Turn{}, time.Duration(0)
	if t := f.turns.current(); t != nil && !t.told {
		turn, heard = t.id, t.heardTo(f.turns.audible)
	}
	f.become(drawn)
	f.mu.Unlock()
	f.again = f.session.server.now().Add(startAgain << f.starts)
	r := f.session.room
	if r == nil {
		return
	}
	if state == shown && r.voice != nil {
		r.resound(turn, heard)
	}
	f.tell(false, upstream.CodeOf(why))
}

func (f *face) report(name string, began time.Time, err error) {
	if err == nil || upstream.CodeOf(err) != "" {
		v := f.session
		v.server.MediaOutcome(v.claim.Org, f.by.Connection, connection.OutcomeOf(name, began, v.server.now(), err))
	}
}

// played tells the conversation, and the client, how far a turn was heard.
func (f *face) played(turn id.Turn, at time.Duration, on bool) {
	r := f.session.room
	if r == nil || turn.IsZero() {
		return
	}
	r.tellClient(r.server.message("bot-playback", map[string]any{"turnId": turn, "playedMs": at.Milliseconds(), "playing": on}))
	r.played(turn, at)
}

// watch sees to the turn that who renders says.
func (f *face) watch(now time.Time) {
	f.mu.Lock()
	t, at, fate := f.turns.look(now)
	f.mu.Unlock()
	switch {
	case fate == stalled:
		f.lose("play", &upstream.Error{Code: upstream.Timeout, Err: errors.New("who renders the face is silent")})
	case fate == ended:
		f.played(t.id, at, false)
	case fate == playing && now.Sub(f.reported) >= reportEvery:
		f.reported = now
		f.played(t.id, at, true)
	}
}

// isRendered says whether a service plays what is said.
func (r *room) isRendered() bool {
	r.mu.Lock()
	g, ok := r.client.(*participant)
	r.mu.Unlock()
	return ok && g.session.face.isShown()
}

// video is what session-ready tells of a face that is rendered: nil where none is.
func (r *room) video(p peer) any {
	g, ok := p.(*participant)
	if !ok || !g.staff.IsZero() {
		return nil
	}
	return map[string]any{"participant": livekit.Avatar, "on": g.session.face.isShown()}
}

// played takes who renders' word for how much of a turn was heard, in the place of the client's.
func (r *room) played(turn id.Turn, at time.Duration) {
	if r.voice != nil {
		r.voice.Played(turn, at)
	}
	r.talk.Receive(conversation.ClientMessage{Type: conversation.Playback, Turn: turn, PlayedMs: at.Milliseconds()})
}
