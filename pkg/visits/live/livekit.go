package live

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"

	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	lkroom "visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/session"
)

// liveKitSession is the room of a media server in which a session takes place. This process is in
// it as the persona: it waits there for the visitor, holds the conversation with them, and
// stays until that is over. One goroutine owns it.
type liveKitSession struct {
	server  *Server
	claim   session.Claim
	session session.Session
	// media is the server, and stay the room while this process is in it; nil before.
	media  connection.Opened
	joined *lkroom.Room
	outlet *outlet
	// face is the persona's, which is drawn or rendered.
	face *face
	// heard is the conversation that hears the visitor's microphone, and gaps fills its gaps.
	heard atomic.Pointer[room]
	gaps  gaps
	// participants are those who are there, by identity.
	participants map[string]*participant
	// room holds the conversation, once the visitor has come.
	room *room
	// tried is how often in a row the room could not be joined.
	tried int
}

const (
	// lookForRooms is how often a process looks for rooms that want for the persona.
	lookForRooms = 500 * time.Millisecond
	// roomsAtOnce bounds those that it takes with one look.
	roomsAtOnce = 16
	// keepRoom is how often a claim on a room is renewed.
	keepRoom = session.RoomLease / 4
	// renewClaimWithin bounds one renewal, so that there is time for another one.
	renewClaimWithin = 2 * keepRoom
	// joinWithin is how long a media server may take to let the persona in. A claim
	// outlasts that and the longest pause.
	joinWithin = 5 * time.Second
	// rejoinAfter is the first pause before a room is joined again; it doubles up to
	// rejoinAtMost, until a stay has lasted longer than that.
	rejoinAfter  = 250 * time.Millisecond
	rejoinAtMost = 4 * time.Second
	// flushWithin is how long a media server may take for what is said last, and
	// listenWithin how long it has to hand it on before the room is closed.
	flushWithin  = 2 * time.Second
	listenWithin = 500 * time.Millisecond
)

// takeRooms takes rooms of a shard that want for the persona. Each has a goroutine until
// its session is over or another process's, or the process ends.
func (s *Server) takeRooms(looking, running context.Context, shard string) error {
	claims, err := session.ClaimRooms(looking, s.Tenants, shard, s.now(), roomsAtOnce)
	for _, claim := range claims {
		v := &liveKitSession{server: s, claim: claim, participants: map[string]*participant{}}
		v.face, v.gaps.hear = newFace(v), v.hearFrame
		s.group.Go(func() { v.run(running) })
	}
	return err
}

// run is in the room until the session is over, or somebody else's. Where the process ends
// before, the next one may be there at once.
func (v *liveKitSession) run(ctx context.Context) {
	var err error
	if v.session, err = session.Get(ctx, v.server.Tenants, v.claim.Org, v.claim.Session); err != nil {
		v.log(ctx, "failed to read the session of a LiveKit room", err)
		return // the claim ends
	}
	defer v.gaps.stop()
	for v.joinOnce(ctx) && v.waitToRejoin(ctx) {
	}
	if v.joined != nil && v.isOver(ctx) {
		v.closeRoom(ctx)
	}
	v.leave()
	if v.room == nil && ctx.Err() != nil {
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWithin)
		defer cancel()
		if err := v.claim.Drop(dropping, v.server.Tenants, v.server.now()); err != nil && !errors.Is(err, session.ErrLost) {
			v.log(ctx, "failed to drop the claim on a LiveKit room, it lasts to its end", err)
		}
	}
}

// joinOnce joins the room and is in it until it is lost. It is true where it is worth
// joining it again.
func (v *liveKitSession) joinOnce(ctx context.Context) bool {
	v.leave()
	if err := v.join(ctx); err != nil {
		v.log(ctx, "failed to join a LiveKit room", err)
		return true
	}
	began := v.server.Clock.Now()
	again := v.serve(ctx)
	if v.server.Clock.Since(began) > rejoinAtMost {
		v.tried = 0
	}
	for _, g := range v.participants {
		g.leaveConversation()
	}
	clear(v.participants)
	return again
}

// leave leaves the room, if this process is in it.
func (v *liveKitSession) leave() {
	if v.joined != nil {
		v.joined.Close()
	}
}

// serve takes what happens in the room until it is lost, or to be left. It is true where it
// was lost.
func (v *liveKitSession) serve(ctx context.Context) bool {
	keep := v.server.Clock.NewTicker(keepRoom)
	defer keep.Stop()
	look := v.server.Clock.NewTicker(lookAtFace)
	defer look.Stop()
	for {
		select {
		case e := <-v.joined.Events():
			v.handle(ctx, e)
		case fn := <-v.face.done:
			fn()
		case <-look.C():
			v.face.tick(ctx)
		case <-keep.C():
			if !v.renewClaim(ctx) {
				return false
			}
			v.beginConversation(ctx) // where that was to be tried again
		case <-v.joined.Done():
			return true
		case <-v.conversationEnded():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// conversationEnded is closed when the conversation is over here.
func (v *liveKitSession) conversationEnded() <-chan struct{} {
	if v.room == nil {
		return nil
	}
	return v.room.ended
}

// renewClaim renews the claim while the visitor has not come; false where it is lost. While the
// database is away, it is nobody else's either.
func (v *liveKitSession) renewClaim(ctx context.Context) bool {
	if v.room != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, renewClaimWithin)
	defer cancel()
	err := v.claim.Keep(ctx, v.server.Tenants, v.server.now())
	return !errors.Is(err, session.ErrLost)
}

// join joins the room, and notes what came of it among the connection's calls.
func (v *liveKitSession) join(ctx context.Context) error {
	s := v.server
	media, err := s.Media(ctx, v.claim.Org, v.session.Media)
	if err != nil {
		return err
	}
	v.media = media
	ctx, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	began := s.now()
	err = media.WithMedia(s.Egress, func(server livekit.Server) error {
		token, err := server.Key.PersonaToken(media.MediaRoom(v.session.ID), s.now())
		if err != nil {
			return err
		}
		sender, err := soundtrack.NewSender(livekit.Sound, livekit.Persona)
		if err != nil {
			return err
		}
		stay, err := lkroom.Join(ctx, lkroom.Options{
			Guard: s.Egress, URL: server.URL, Token: token, Topic: livekit.Topic, Tracks: []webrtc.TrackLocal{sender.TrackLocalStaticRTP},
			Hears: isHeard, Sound: v.hearSound, Answers: answers,
		})
		if err == nil {
			v.joined, v.outlet = stay, s.newOutlet(sender, stay)
			v.face.enter(stay)
		}
		return err
	})
	v.report("join", began, err)
	return err
}

// isHeard says whose tracks are heard: the visitor's, for what they say, and of who renders the face, for whether it speaks.
func isHeard(identity string) bool { return identity == livekit.Visitor || identity == livekit.Avatar }

// answers says which methods may be called of the persona.
func answers(identity, method string) bool {
	return identity == livekit.Avatar && (method == livekit.PlaybackStarted || method == livekit.PlaybackFinished)
}

// hearSound takes a packet of Opus of a participant's.
func (v *liveKitSession) hearSound(identity string, packet []byte) {
	if identity == livekit.Avatar {
		v.face.hear(packet)
		return
	}
	v.hearFrame(append([]byte{userOpus, 0, 0, 0, 0, 0, 0, 0}, packet...))
	v.gaps.came()
}

// hearFrame takes a frame of the visitor's sound. Where nothing here understands it, it may be for the others in the room.
func (v *liveKitSession) hearFrame(frame []byte) {
	if r := v.heard.Load(); r != nil && r.hearing != nil {
		r.hearSound(frame)
	}
}

func (v *liveKitSession) report(name string, began time.Time, err error) {
	if err == nil || upstream.CodeOf(err) != "" {
		v.server.MediaOutcome(v.claim.Org, v.media.ID, connection.OutcomeOf(name, began, v.server.now(), err))
	}
}

// waitToRejoin waits before the room is joined again; false where it is not to be any more.
func (v *liveKitSession) waitToRejoin(ctx context.Context) bool {
	wait := min(rejoinAfter<<min(v.tried, 10), rejoinAtMost)
	v.tried++
	timer := v.server.Clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C():
		return v.renewClaim(ctx)
	case <-v.conversationEnded():
	case <-ctx.Done():
	}
	return false
}

// isOver says whether the session has ended, rather than gone to another process.
func (v *liveKitSession) isOver(ctx context.Context) bool {
	if v.room != nil {
		return v.room.last != closeElsewhere
	}
	found, err := session.Get(ctx, v.server.Tenants, v.claim.Org, v.claim.Session)
	return err == nil && found.State.Over()
}

// closeRoom closes the room, with everybody in it, once they had time to hear what was said
// last.
func (v *liveKitSession) closeRoom(ctx context.Context) {
	s, media := v.server, v.media
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWithin+media.Timeout())
	defer cancel()
	flushing, done := context.WithTimeout(ctx, flushWithin)
	v.joined.Flush(flushing)
	done()
	if v.room != nil {
		<-s.Clock.After(listenWithin)
	}
	began := s.now()
	err := media.WithMedia(s.Egress, func(server livekit.Server) error {
		return server.Delete(ctx, media.MediaRoom(v.session.ID), s.now())
	})
	v.report("close", began, err)
	if err != nil {
		v.log(ctx, "failed to close a LiveKit room", err)
	}
}

func (v *liveKitSession) log(ctx context.Context, message string, err error) {
	if ctx.Err() == nil {
		v.server.Log.WarnContext(ctx, message, "session", v.claim.Session.String(), "error", err)
	}
}
