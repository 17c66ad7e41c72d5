package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"visavis.dev/hack/freeport"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/visits/live/livetest"
)

const (
	// speakFor is how long each number of conversations speaks.
	speakFor = 40 * time.Second
	// thinks is how long somebody is silent at most before the next question: the avatars speak
	// most of the time.
	thinks = time.Second
	// firstSoundWithin bounds a question, so that a run that goes wrong ends.
	firstSoundWithin = time.Minute
)

// speakers are how many conversations speak at a time.
var speakers = []int{1, 20, 100}

// buildSpeech has what is started from now on speak aloud, until it is removed.
func (f *fixture) buildSpeech() (remove func() error, err error) {
	build := exec.Command("go", "build", "-trimpath", "-o", f.speech(), "./cmd/visavis-speech")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return func() error { return os.Remove(f.speech()) }, nil
}

// speech is where the program that speaks is looked for.
func (f *fixture) speech() string { return filepath.Join(f.folder, espeak.Program) }

// speaking measures conversations whose avatars speak aloud: how soon an answer is heard, what a
// second of it costs, and what goes over the wire for it.
func speaking(ctx context.Context, f *fixture) (err error) {
	remove, err := f.buildSpeech()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }() // what other measures start says nothing aloud
	direct, err := freeport.Address()
	if err != nil {
		return err
	}
	h, err := f.startHosting(ctx, "Speaking", nil, "--rtc-addr", direct)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	said := &saying{}
	costs := map[int]float64{}
	for _, n := range speakers {
		if costs[n], err = speakTogether(ctx, h.api, h.persona, h.portal, n, said); err != nil {
			return fmt.Errorf("%d conversations: %w", n, err)
		}
	}
	least, err := said.bare(ctx, f.speech())
	if err != nil {
		return err
	}
	for _, n := range speakers {
		report(fmt.Sprintf("Speech/cpu-%d", n), n, figure{costs[n] * 1000, "cpu-ms/spoken-s"}, figure{least * 1000, "floor-cpu-ms/spoken-s"},
			figure{costs[n] / least, "ratio"})
	}
	return wires(ctx, h.api, h.persona)
}

// saying is what the avatars said, for the floor.
type saying struct {
	mu    sync.Mutex
	texts []string
}

// mostSaid are as many texts as the floor says.
const mostSaid = 200

func (s *saying) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" && len(s.texts) < mostSaid {
		s.texts = append(s.texts, text)
	}
}

// talker is a client of a conversation that hears how much is said to it.
type talker struct {
	c *livetest.Client
	// format is that of the sound.
	format string
	said   *saying
	// spoken is how much sound came, and sounds how many bytes it had with the heads of its frames.
	spoken time.Duration
	sounds int
}

// speak connects to a session of its own and waits until it was greeted. by makes the connections;
// nil for the usual.
func speak(ctx context.Context, a livetest.API, persona, format string, said *saying, more map[string]any) (*talker, error) {
	fields := map[string]any{"channel": "voice"}
	maps.Copy(fields, more)
	ticket, err := a.Mint(ctx, persona, fields)
	if err != nil {
		return nil, err
	}
	c, err := a.Dial(ctx, ticket)
	if err != nil {
		return nil, err
	}
	t := &talker{c: c, format: format, said: said}
	if more != nil { // over WebRTC, where that is offered before the greeting
		return t, nil
	}
	return t, t.begin(ctx)
}

// begin has the conversation begin, and waits until it was greeted.
func (t *talker) begin(ctx context.Context) error {
	if err := t.c.Send(ctx, "client-ready", map[string]any{"audio": []string{t.format}}); err != nil {
		return err
	}
	return t.listening(ctx)
}

// headBytes are before the sound of a frame.
const headBytes = 8

// take counts a message.
func (t *talker) take(m livetest.Message) {
	if len(m.Sound) == 0 {
		if m.Type == "bot-text" {
			var d struct{ Text string }
			if json.Unmarshal(m.Data, &d) == nil && t.said != nil {
				t.said.add(d.Text)
			}
		}
		return
	}
	t.sounds += len(m.Sound)
	samples := len(m.Sound) - headBytes
	switch {
	case samples <= 0:
	case t.format == "opus":
		t.spoken += sound.OpusMs * time.Millisecond
	default:
		t.spoken += time.Duration(samples/2) * time.Second / speaker.SampleRate
	}
}

// until reads messages up to one that is wanted.
func (t *talker) until(ctx context.Context, wanted func(livetest.Message) bool) (livetest.Message, error) {
	return t.c.Until(ctx, func(m livetest.Message) bool {
		t.take(m)
		return wanted(m)
	})
}

func (t *talker) listening(ctx context.Context) error {
	_, err := t.until(ctx, func(m livetest.Message) bool {
		var d struct{ State string }
		return m.Type == "state" && json.Unmarshal(m.Data, &d) == nil && d.State == "listening"
	})
	return err
}

// ask asks a question, and answers how soon the first sound of its answer came. It waits until that
// was said.
func (t *talker) ask(ctx context.Context, question string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, firstSoundWithin)
	defer cancel()
	began := time.Now()
	if err := t.c.Say(ctx, question); err != nil {
		return 0, err
	}
	var stream uint16
	if _, err := t.until(ctx, func(m livetest.Message) bool {
		var d struct{ Stream uint16 }
		found := m.Type == "bot-audio" && json.Unmarshal(m.Data, &d) == nil
		stream = d.Stream
		return found
	}); err != nil {
		return 0, err
	}
	first, err := t.until(ctx, func(m livetest.Message) bool {
		return len(m.Sound) > headBytes && uint16(m.Sound[2])<<8|uint16(m.Sound[3]) == stream
	})
	if err != nil {
		return 0, err
	}
	return first.At.Sub(began), t.listening(ctx)
}

// talkers are conversations that speak at the same time.
type talkers []*talker

// beginTalkers begins so many conversations.
func beginTalkers(ctx context.Context, a livetest.API, persona string, n int, said *saying) (talkers, error) {
	all := make(talkers, n)
	err := inParallelBy(n, n, func(i int) (err error) {
		all[i], err = speak(ctx, a, persona, "opus", said, nil)
		return err
	})
	if err != nil {
		all.leave()
	}
	return all, err
}

func (all talkers) leave() {
	for _, t := range all {
		if t != nil {
			t.c.Leave()
		}
	}
}

// talk asks each one question after another for a while, and answers how soon the answers were heard.
func (all talkers) talk(ctx context.Context, span time.Duration) (took []time.Duration, err error) {
	var (
		mu    sync.Mutex
		began = time.Now()
	)
	err = inParallelBy(len(all), len(all), func(i int) error {
		for q := i; time.Since(began) < span; q++ {
			<-time.After(time.Duration(rand.Int64N(int64(thinks))))
			d, err := all[i].ask(ctx, asked[q%len(asked)])
			if err != nil {
				return fmt.Errorf("conversation %d: %w", i, err)
			}
			mu.Lock()
			took = append(took, d)
			mu.Unlock()
		}
		return nil
	})
	return took, err
}

// speakTogether holds so many conversations at a time, and answers what a second of speech costs of
// CPU time, in seconds: of the portal's process with those that speak for it.
func speakTogether(ctx context.Context, a livetest.API, persona string, portal *process, n int, said *saying) (float64, error) {
	all, err := beginTalkers(ctx, a, persona, n, said)
	if err != nil {
		return 0, err
	}
	defer all.leave()
	before, err := familyCPU(portal.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	for _, t := range all {
		t.spoken = 0
	}
	began := time.Now()
	took, err := all.talk(ctx, speakFor)
	if err != nil {
		return 0, err
	}
	lasted := time.Since(began)
	after, err := familyCPU(portal.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	var spoken time.Duration
	for _, t := range all {
		spoken += t.spoken
	}
	report(fmt.Sprintf("Speech/first-sound-%d", n), len(took), ms(atPercent(took, 50), "p50"), ms(atPercent(took, 95), "p95"),
		figure{spoken.Seconds() / lasted.Seconds(), "speaking-at-once"}, figure{(after - before) / lasted.Seconds(), "cpus"})
	return (after - before) / spoken.Seconds(), nil
}

// speakRole makes this binary the floor of speech: the program that speaks, and an encoder of Opus.
const speakRole = "speak"

// bare says what was said with nothing around it, and answers what a second of that costs, in
// seconds of CPU time.
func (s *saying) bare(ctx context.Context, program string) (float64, error) {
	texts, err := json.Marshal(s.texts)
	if err != nil {
		return 0, err
	}
	file := filepath.Join(filepath.Dir(program), "said.json")
	if err := os.WriteFile(file, texts, 0o600); err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, speakRole, program, file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	var seconds float64
	if _, err := fmt.Sscan(string(out), &seconds); err != nil {
		return 0, err
	}
	if seconds == 0 {
		return 0, errors.New("nothing was said")
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / seconds, nil
}

// speakBare says the texts of a file and prints how many seconds that were.
func speakBare(program, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var texts []string
	if err := json.Unmarshal(text, &texts); err != nil {
		return err
	}
	pool, err := espeak.Open(espeak.Options{Program: program, Processes: 1})
	if err != nil {
		return err
	}
	encoder, err := sound.NewOpus(speaker.SampleRate)
	if err != nil {
		return err
	}
	const packet = speaker.SampleRate * sound.OpusMs / 1000
	var samples []int16
	spoken := 0
	for _, text := range texts {
		if err := pool.Speak(context.Background(), speaker.Request{Text: text, Language: "en", Gender: "female"}, func(c speaker.Chunk) error {
			samples = append(samples, c.Samples...)
			return nil
		}); err != nil {
			return err
		}
		for len(samples) >= packet {
			if _, err := encoder.Encode(samples[:packet]); err != nil {
				return err
			}
			samples, spoken = samples[packet:], spoken+packet
		}
	}
	pool.Close()
	fmt.Println(float64(spoken) / speaker.SampleRate)
	return nil
}

// wires measures what goes to a client for a minute of speech, over each way.
func wires(ctx context.Context, a livetest.API, persona string) error {
	for _, format := range []string{"pcm", "opus"} {
		var received atomic.Int64
		transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return counted{c, &received}, err
		}}
		counting := a
		counting.Client = &http.Client{Transport: transport}
		t, err := speak(ctx, counting, persona, format, nil, nil)
		if err != nil {
			return err
		}
		before := received.Load()
		t.spoken, t.sounds = 0, 0
		for i := range asked {
			if _, err := t.ask(ctx, asked[i]); err != nil {
				return err
			}
		}
		minutes := t.spoken.Minutes()
		report("Speech/wire-"+format, len(asked), figure{float64(received.Load()-before) / minutes, "B/spoken-min"},
			figure{float64(t.sounds) / minutes, "sound-B/spoken-min"})
		t.c.Leave()
		transport.CloseIdleConnections()
	}
	return directWire(ctx, a, persona)
}

// counted is a connection that counts what it receives.
type counted struct {
	net.Conn
	received *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

// hear asks a question and waits until its answer was said over a track.
func (t *talker) hear(ctx context.Context, question string) error {
	ctx, cancel := context.WithTimeout(ctx, firstSoundWithin)
	defer cancel()
	if err := t.c.Say(ctx, question); err != nil {
		return err
	}
	if _, err := t.c.UntilType(ctx, "bot-audio"); err != nil {
		return err
	}
	return t.listening(ctx)
}

// tagBytes end a packet of SRTP.
const tagBytes = 10

// directWire counts the packets of sound of a conversation over WebRTC, as RTP with the tag of SRTP
// and without the headers of UDP and IP.
func directWire(ctx context.Context, a livetest.API, persona string) error {
	t, err := speak(ctx, a, persona, "opus", nil, map[string]any{"transport": "webrtc"})
	if err != nil {
		return err
	}
	defer t.c.Leave()
	if _, err := t.c.UntilType(ctx, "session-ready"); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, firstSoundWithin)
	defer cancel()
	d, err := t.c.Go(within)
	if err != nil {
		return fmt.Errorf("webrtc: %w", err)
	}
	defer d.Part()
	var bytes, packets atomic.Int64
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case p := <-d.Sounds():
				bytes.Add(int64(p.MarshalSize() + tagBytes))
				packets.Add(1)
			case <-over:
				return
			}
		}
	}()
	if err := t.begin(ctx); err != nil {
		return err
	}
	bytes.Store(0)
	packets.Store(0)
	for i := range asked {
		if err := t.hear(ctx, asked[i]); err != nil {
			return err
		}
	}
	minutes := (time.Duration(packets.Load()) * sound.OpusMs * time.Millisecond).Minutes()
	report("Speech/wire-webrtc", len(asked), figure{float64(bytes.Load()) / minutes, "sound-B/spoken-min"})
	return nil
}
