package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/transcription/transcriptiontest"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/live/livetest"
)

// ears are what a visitor in a room hears, by who says it.
type ears struct {
	mu       sync.Mutex
	decoders map[string]*sound.OpusDecoder
	loud     map[string][]time.Time
}

func newEars() *ears {
	return &ears{decoders: map[string]*sound.OpusDecoder{}, loud: map[string][]time.Time{}}
}

func (e *ears) hear(p livetest.Played) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.decoders[p.Identity] == nil {
		e.decoders[p.Identity], _ = sound.NewOpusDecoder(16000)
	}
	samples, err := e.decoders[p.Identity].Decode(p.Packet)
	if err != nil {
		return
	}
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	if math.Sqrt(sum/float64(max(len(samples), 1))) > 300 {
		e.loud[p.Identity] = append(e.loud[p.Identity], p.At)
	}
}

// heard is when somebody was loud since a time.
func (e *ears) heard(identity string, since time.Time) []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.loud[identity]
	return slices.Clone(all[slices.IndexFunc(append(all, time.Now().Add(time.Hour)), func(t time.Time) bool { return !t.Before(since) }):])
}

// speaksInRooms is a stage with a media server whose processes speak.
func speaksInRooms(t *testing.T) *stage {
	t.Helper()
	s := withMedia(t)
	s.speaker = espeaktest.Open(t, espeak.Options{})
	return s
}

// seen starts a session with a face in a room, and comes in with ears and a microphone.
func (s *stage) seen() (session.Session, *client, *ears) {
	s.t.Helper()
	minted, _ := s.mint(func(w *session.Session) {
		w.Transport, w.Media, w.Channel = session.LiveKit, s.media.opened.ID, "video"
	})
	in, e := s.enters(minted.ID)
	return minted, in, e
}

// enters comes into a session's room with ears and a microphone.
func (s *stage) enters(which id.Session) (*client, *ears) {
	s.t.Helper()
	token, err := s.media.Key.VisitorToken(s.media.opened.MediaRoom(which), s.now(), time.Minute)
	require.NoError(s.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	e := newEars()
	c, err := livetest.JoinAloud(ctx, s.media.Guard(), s.media.URL, token, e.hear)
	require.NoError(s.t, err)
	s.t.Cleanup(c.Drop)
	in := &client{Client: c, t: s.t}
	in.ready()
	return in, e
}

// ready says that the client plays sound, until the persona hears it.
func (c *client) ready() {
	c.t.Helper()
	deadline, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		c.send("client-ready", map[string]any{"audio": []string{"opus"}})
		soon, again := context.WithTimeout(deadline, 300*time.Millisecond)
		m, err := c.UntilType(soon, "session-ready")
		again()
		if errors.Is(err, context.DeadlineExceeded) && deadline.Err() == nil {
			continue
		}
		require.NoError(c.t, err)
		var d struct{ Hears, Video json.RawMessage }
		require.NoError(c.t, json.Unmarshal(m.Data, &d))
		c.hears, c.video = d.Hears, d.Video
		c.send("client-ready", map[string]any{"audio": []string{"opus"}}) // what came before it was heard by nobody
		return
	}
}

// The persona is heard in a room, on its track, and its visitor's microphone is understood, also where that sends nothing
// while nobody speaks.
func TestSoundBothWaysInARoom(t *testing.T) {
	t.Parallel()
	service := transcriptiontest.Serve(t)
	s := speaksInRooms(t)
	s.recognition = byRecordings(service)
	p := s.pod()
	defer p.Stop()
	minted, c, e := s.seen()
	require.Equal(t, `"server"`, string(c.hears))
	c.await("visemes", nil)
	c.await("words", nil)
	require.Eventually(t, func() bool { return len(e.heard(livekit.Persona, time.Time{})) > 15 }, 20*time.Second, 20*time.Millisecond, "the greeting is heard")

	service.Next(transcriptiontest.Answer{Text: question})
	c.microphone(asked(t))
	require.Equal(t, question, c.final())
	began := time.Now()
	c.hear("The museum opens at nine.")
	require.Eventually(t, func() bool { return len(e.heard(livekit.Persona, began)) > 30 }, 20*time.Second, 20*time.Millisecond)

	c.send("interrupt", nil)
	c.await("interrupted", nil)
	time.Sleep(200 * time.Millisecond) //nolint:forbidigo // sound that should not come shows nowhere
	require.Empty(t, e.heard(livekit.Persona, time.Now().Add(-50*time.Millisecond)), "it is silent at once")
	c.send("end", nil)
	c.ended()
	require.Contains(t, s.turns(minted.ID), "user: "+question)
}

// microphone sends sound as a browser does that sends nothing of silence.
func (c *client) microphone(samples []int16) {
	c.t.Helper()
	encoder, err := sound.NewOpus(16000)
	require.NoError(c.t, err)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 0; n+320 <= len(samples); n += 320 {
		<-tick.C
		loudest := int16(0)
		for _, s := range samples[n : n+320] {
			loudest = max(loudest, s)
		}
		packet, err := encoder.Encode(samples[n : n+320])
		require.NoError(c.t, err)
		if loudest > 50 {
			require.NoError(c.t, c.SendSound(context.Background(), packet))
		}
	}
}

// renders is a service that renders, in the rooms of a stage.
type renders struct {
	stage *stage
	// manners are how the next avatars behave, the last of them every further one, and refuses what calls are answered with.
	manners []livetest.Manners
	refuses error
	hangs   bool

	mu      sync.Mutex
	avatars []*livetest.Avatar
	calls   []string
	id      id.Connection
}

func (s *stage) rendering(manners ...livetest.Manners) *renders {
	r := &renders{stage: s, manners: manners, id: id.NewConnection()}
	s.renders = r
	s.t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, a := range r.avatars {
			a.Leave()
		}
	})
	return r
}

// join tells a process of the service.
func (r *renders) join(o *live.Options) {
	o.Rendering = func(context.Context, id.Org, session.Session) (live.Rendering, error) {
		return live.Rendering{Connection: r.id, Start: r.start}, nil
	}
	media := o.MediaOutcome
	o.MediaOutcome = func(org id.Org, which id.Connection, outcome connection.Outcome) {
		if which != r.id {
			media(org, which, outcome)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls = append(r.calls, strings.TrimSpace(outcome.Name+" "+string(outcome.Code)))
	}
}

func (r *renders) start(ctx context.Context, server, token string) error {
	if r.hangs {
		<-ctx.Done()
		return &upstream.Error{Code: upstream.Timeout, Err: ctx.Err()}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuses != nil {
		return r.refuses
	}
	m := r.manners[min(len(r.avatars), len(r.manners)-1)]
	a, err := livetest.Perform(context.Background(), r.stage.media.Guard(), server, token, m)
	if err != nil {
		return err
	}
	r.avatars = append(r.avatars, a)
	return nil
}

func (r *renders) called() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// avatar is the one that came last.
func (r *renders) avatar() *livetest.Avatar {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.avatars[len(r.avatars)-1]
}

// rendered waits until the client is told whose face it is to show.
func (c *client) rendered(on bool) (reason string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var d struct {
		On          bool
		Participant string
		Reason      string
	}
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		return m.Type == "bot-video" && json.Unmarshal(m.Data, &d) == nil && d.On == on
	})
	require.NoError(c.t, err)
	require.Equal(c.t, livekit.Avatar, d.Participant)
	return d.Reason
}

const (
	asks  = "When does the museum open?"
	story = "The lighthouse was built on the rock where two rivers meet, and on a clear evening its lamp is seen from the other side of the bay."
)

// lasts is how long a text is when it is said.
func (s *stage) lasts(text string) time.Duration {
	s.t.Helper()
	samples := 0
	require.NoError(s.t, s.speaker.Speak(context.Background(), speaker.Request{Text: text, Language: "en", Voice: "nora"}, func(c speaker.Chunk) error {
		samples += len(c.Samples)
		return nil
	}))
	return time.Duration(samples) * time.Second / speaker.SampleRate
}

// Who renders comes after the greeting, is sent the sound of each turn, and says how far it was heard; interrupted, it is
// silent at once and the turn has the words that were heard.
func TestAFaceIsRendered(t *testing.T) {
	t.Parallel()
	s := speaksInRooms(t)
	r := s.rendering(livetest.Manners{})
	p := s.pod()
	defer p.Stop()
	minted, c, e := s.seen()
	require.JSONEq(t, `{"participant":"avatar","on":false}`, string(c.video))
	c.rendered(true)
	require.NotEmpty(t, e.heard(livekit.Persona, time.Time{}), "the greeting was ours")

	asked := time.Now()
	c.send("user-text", map[string]string{"text": asks})
	var at struct {
		TurnID   id.Turn
		PlayedMs int64
		Playing  bool
	}
	c.until(func(m livetest.Message) bool {
		return m.Type == "bot-playback" && json.Unmarshal(m.Data, &at) == nil && !at.Playing
	})
	heard := r.avatar().Streams()
	require.Len(t, heard, 1)
	require.True(t, heard[0].Whole)
	require.Equal(t, []string{livekit.AudioTopic, "24000", "1"}, []string{heard[0].Topic, heard[0].Attributes["sample_rate"], heard[0].Attributes["num_channels"]})
	require.InDelta(t, float64(len(heard[0].Samples))/24, float64(at.PlayedMs), 30, "all of it was heard")
	require.Greater(t, len(e.heard(livekit.Avatar, asked)), 30)
	require.Empty(t, e.heard(livekit.Persona, asked), "nobody says it twice")

	c.send("user-text", map[string]string{"text": asks})
	c.until(func(m livetest.Message) bool {
		return m.Type == "bot-playback" && json.Unmarshal(m.Data, &at) == nil && at.Playing && at.PlayedMs > 1000
	})
	c.send("interrupt", nil)
	c.await("interrupted", nil)
	require.Eventually(t, func() bool { return r.avatar().Cleared() == 1 }, 20*time.Second, 10*time.Millisecond)
	time.Sleep(300 * time.Millisecond) //nolint:forbidigo // sound that should not come shows nowhere
	require.Empty(t, e.heard(livekit.Avatar, time.Now().Add(-100*time.Millisecond)), "it is silent")
	require.Eventually(t, func() bool {
		turns := s.turns(minted.ID)
		last := turns[len(turns)-1]
		return strings.HasPrefix(last, "avatar: The museum") && len(last) < len("avatar: The museum opens at nine. It closes at six.")
	}, 20*time.Second, 50*time.Millisecond, "the turn has what was heard: %v", s.turns(minted.ID))

	c.send("end", nil)
	c.ended()
	select {
	case <-r.avatar().Gone():
	case <-time.After(10 * time.Second):
		require.Fail(t, "who renders stays, and costs")
	}
	require.Contains(t, r.called(), "start")
	require.Contains(t, r.called(), "show")
	require.Contains(t, r.called(), "clear")
}

func (c *client) until(fn func(livetest.Message) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	_, err := c.Until(ctx, fn)
	require.NoError(c.t, err)
}

// However who renders fails, the visitor hears all of it.
func TestFacesThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manners livetest.Manners
		// leaves says that it leaves in the middle of a turn.
		leaves bool
		call   string
	}{
		"silent from the start":   {livetest.Manners{Mute: true, Silent: true}, false, "play timeout"},
		"silent in the middle":    {livetest.Manners{Mute: true, MuteAfter: 800 * time.Millisecond}, false, "play timeout"},
		"leaves in the middle":    {livetest.Manners{}, true, "leave unavailable"},
		"deaf to an interruption": {livetest.Manners{Deaf: true}, false, "clear rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := speaksInRooms(t)
			r := s.rendering(test.manners)
			p := s.pod()
			defer p.Stop()
			minted, c, e := s.seen()
			c.rendered(true)
			shown := time.Now()
			s.order(minted.ID, session.Command{Kind: session.SayIt, Text: story, Interruptible: true, Record: true})
			if test.manners.Deaf {
				require.Eventually(t, func() bool { return len(e.heard(livekit.Avatar, time.Time{})) > 10 }, 20*time.Second, 10*time.Millisecond)
				c.send("interrupt", nil)
			}
			if test.leaves {
				require.Eventually(t, func() bool { return len(e.heard(livekit.Avatar, time.Time{})) > 40 }, 20*time.Second, 10*time.Millisecond)
				r.avatar().Leave()
			}
			c.rendered(false)
			lost := time.Now()
			require.Contains(t, r.called(), test.call)
			if test.manners.Deaf {
				require.Eventually(t, func() bool { return len(e.heard(livekit.Avatar, time.Now().Add(-100*time.Millisecond))) == 0 }, 20*time.Second, 20*time.Millisecond, "it was sent away")
				s.order(minted.ID, session.Command{Kind: session.SayIt, Text: story, Interruptible: true, Record: true})
			}
			whole := float64(r.stage.lasts(story)) / float64(20*time.Millisecond)
			require.Eventually(t, func() bool {
				ours := float64(len(e.heard(livekit.Persona, lost)))
				return test.manners.Deaf && ours > 100 || ours+float64(len(e.heard(livekit.Avatar, shown))) > 0.75*whole
			}, 20*time.Second, 50*time.Millisecond, "all of it is heard: %d of theirs, %d of ours, of %f", len(e.heard(livekit.Avatar, shown)), len(e.heard(livekit.Persona, lost)), whole)
			require.Eventually(t, func() bool {
				turns := s.turns(minted.ID)
				return turns[len(turns)-1] == "avatar: "+story
			}, 20*time.Second, 50*time.Millisecond)
		})
	}
}

// Who does not come, or comes and shows nothing, keeps nobody waiting.
func TestFacesThatDoNotCome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		refuses error
		hangs   bool
		manners livetest.Manners
		call    string
	}{
		"refused":     {&upstream.Error{Code: upstream.Refused, Status: 401}, false, livetest.Manners{}, "start refused"},
		"too many":    {&upstream.Error{Code: upstream.RateLimited, Status: 429}, false, livetest.Manners{}, "start rate_limited"},
		"hangs":       {nil, true, livetest.Manners{}, ""},
		"pictureless": {nil, false, livetest.Manners{Pictureless: true}, "start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := speaksInRooms(t)
			r := s.rendering(test.manners)
			r.refuses, r.hangs = test.refuses, test.hangs
			p := s.pod()
			defer p.Stop()
			_, c, e := s.seen()
			require.Eventually(t, func() bool { return len(e.heard(livekit.Persona, time.Time{})) > 15 }, 20*time.Second, 20*time.Millisecond)
			asked := time.Now()
			c.send("user-text", map[string]string{"text": asks})
			c.hear("The museum opens at nine.")
			require.Eventually(t, func() bool { return len(e.heard(livekit.Persona, asked)) > 40 }, 20*time.Second, 20*time.Millisecond)
			if test.call != "" {
				require.Eventually(t, func() bool { return slices.Contains(r.called(), test.call) }, 20*time.Second, 20*time.Millisecond)
			}
			c.send("end", nil)
			c.ended()
		})
	}
}

// What it says wrongly of its playing is no more than its own turn's trouble.
func TestFacesThatLie(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"{", `{"playback_position": -3}`, `{"playback_position": 1e300, "interrupted": false}`, `{"playback_position": null}`} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			s := speaksInRooms(t)
			r := s.rendering(livetest.Manners{Answer: answer})
			p := s.pod()
			defer p.Stop()
			_, c, _ := s.seen()
			c.rendered(true)
			var at struct {
				PlayedMs int64
				Playing  bool
			}
			for range 2 {
				c.send("user-text", map[string]string{"text": asks})
				c.until(func(m livetest.Message) bool {
					return m.Type == "bot-playback" && json.Unmarshal(m.Data, &at) == nil && !at.Playing
				})
				streams := r.avatar().Streams()
				require.InDelta(t, len(streams[len(streams)-1].Samples)/24, at.PlayedMs, 30)
			}
		})
	}
}

// Who renders stays for another process, and for a visitor who comes back, and is not called again.
func TestAFaceOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	s := speaksInRooms(t)
	r := s.rendering(livetest.Manners{})
	one, two := s.pod(), s.pod()
	defer two.Stop()
	minted, c, e := s.seen()
	c.rendered(true)
	if one.Live() == 0 {
		one, two = two, one
	}
	one.Stop()
	c.await("session-ready", nil)
	c.send("client-ready", map[string]any{"audio": []string{"opus"}})
	c.rendered(true)
	asked := time.Now()
	c.send("user-text", map[string]string{"text": asks})
	require.Eventually(t, func() bool { return len(e.heard(livekit.Avatar, asked)) > 30 }, 20*time.Second, 20*time.Millisecond)

	c.Drop()
	again, e := s.enters(minted.ID)
	require.JSONEq(t, `{"participant":"avatar","on":true}`, string(again.video))
	asked = time.Now()
	again.send("user-text", map[string]string{"text": asks})
	require.Eventually(t, func() bool { return len(e.heard(livekit.Avatar, asked)) > 30 }, 20*time.Second, 20*time.Millisecond)
	require.Empty(t, e.heard(livekit.Persona, asked))
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Len(t, r.avatars, 1, "called once")
}

// However often this side has to come back into the room, who renders is there for it, and called once.
func TestAFaceOutlivesConnections(t *testing.T) {
	t.Parallel()
	s := speaksInRooms(t)
	r := s.rendering(livetest.Manners{})
	p := s.pod()
	defer p.Stop()
	minted, c, _ := s.seen()
	c.rendered(true)
	for range 4 {
		require.NoError(t, s.media.API().Remove(t.Context(), s.media.opened.MediaRoom(minted.ID), livekit.Persona, s.now()))
		c.await("session-ready", nil)
		c.send("client-ready", map[string]any{"audio": []string{"opus"}})
		c.rendered(true)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Len(t, r.avatars, 1)
}

// Nobody else's sound is a visitor's, and nobody is the face whom no service was called for.
func TestOthersAreNotTheFace(t *testing.T) {
	t.Parallel()
	s := speaksInRooms(t)
	p := s.pod()
	defer p.Stop()
	minted, c, e := s.seen()
	require.Eventually(t, func() bool { return len(e.heard(livekit.Persona, time.Time{})) > 15 }, 20*time.Second, 20*time.Millisecond)
	token, err := s.media.Key.AvatarToken(s.media.opened.MediaRoom(minted.ID), s.now(), time.Minute)
	require.NoError(t, err)
	a, err := livetest.Perform(t.Context(), s.media.Guard(), s.media.URL, token, livetest.Manners{})
	require.NoError(t, err)
	t.Cleanup(a.Leave)
	time.Sleep(time.Second) //nolint:forbidigo // sound that should not come shows nowhere
	asked := time.Now()
	c.send("user-text", map[string]string{"text": asks})
	require.Eventually(t, func() bool { return len(e.heard(livekit.Persona, asked)) > 30 }, 20*time.Second, 20*time.Millisecond)
	require.Empty(t, a.Streams())
}
