package live

import (
	"sync"
	"time"

	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/provider/livekit"
	lkroom "visavis.dev/pkg/provider/livekit/room"
)

// outlet is the persona's track of sound in a media server's room.
type outlet struct {
	mu    sync.Mutex
	track track
}

// newOutlet makes it of a track that is published in a room that was joined. A server knows of a track once something came of
// it, and it is to be there before the first word.
func (s *Server) newOutlet(sender *soundtrack.Sender, joined *lkroom.Room) *outlet {
	o := &outlet{track: s.newTrack(sender, func(f frame) { _ = joined.Send(livekit.Visitor, f.data) })}
	_ = o.track.hush() // a room that is lost is noticed elsewhere
	return o
}

// play sends a frame of the track.
func (o *outlet) play(f frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.track.play(f)
}

// follow takes what the visitor is told.
func (o *outlet) follow(f frame) {
	if f.kind != "interrupted" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.track.fallSilent()
}

// isSilent says that nothing is being said on the track.
func (o *outlet) isSilent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.track.stream == 0
}

// A client may send nothing while its user says nothing, as with Opus' discontinuous transmission, or muted; what listens
// goes by the silence that it hears. It is heard silenceEvery after the last packet, and as often again as silenceTimes.
const (
	silenceEvery = 80 * time.Millisecond
	silenceTimes = 20
)

// gaps fills the gaps in a visitor's sound.
type gaps struct {
	hear func(frame []byte)

	mu     sync.Mutex
	timer  *time.Timer
	filled int
}

// came notes that something was heard.
func (g *gaps) came() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.filled = 0
	if g.timer == nil {
		g.timer = time.AfterFunc(silenceEvery, g.fill)
		return
	}
	g.timer.Reset(silenceEvery)
}

func (g *gaps) fill() {
	g.mu.Lock()
	g.filled++
	if g.filled < silenceTimes {
		g.timer.Reset(silenceEvery)
	}
	g.mu.Unlock()
	g.hear(stillness)
}

func (g *gaps) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.filled = silenceTimes
	if g.timer != nil {
		g.timer.Stop()
	}
}

// stillness is a frame of a client's sound that has none, as long as silenceEvery.
var stillness = append([]byte{userPCM, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 2*16*silenceEvery/time.Millisecond)...)
