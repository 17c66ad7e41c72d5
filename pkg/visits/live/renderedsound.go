package live

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/livekit"
	lkroom "visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/speaker"
)

// loudEnough is the level of sound, of 1, that is no silence.
const loudEnough = 0.003

// follow takes what the visitor is told of turns. It does not wait.
func (f *face) follow(of frame) {
	switch of.kind {
	case "bot-audio":
		data, _ := of.content.(map[string]any)
		f.mu.Lock()
		f.next, _ = data["turnId"].(id.Turn)
		f.number, _ = data["stream"].(uint16)
		f.mu.Unlock()
	case "interrupted":
		f.clear()
	}
}

// play sends who renders the sound of a turn. It does not wait.
func (f *face) play(of frame) {
	if of.stopped != nil && of.stopped.Load() || len(of.data) < playout.HeaderBytes {
		return
	}
	isLast, number, _ := frameHead(of)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != shown {
		return
	}
	t := f.turns.current()
	if t == nil || t.number != number {
		t = f.begin(number)
	}
	samples := of.data[playout.HeaderBytes:]
	if len(samples) > 0 && f.stream != nil {
		_, _ = f.stream.Write(samples) // a room that is lost is noticed elsewhere
		t.pushed += time.Duration(len(samples)/2) * time.Second / speaker.SampleRate
		if isLoud(fromPCM(samples)) {
			t.loud = t.pushed
		}
	}
	if isLast {
		f.endStream()
		t.whole = true
	}
}

// begin begins the stream of a turn; the lock is held.
func (f *face) begin(number uint16) *rendered {
	f.endStream()
	t := f.turns.add(f.next, number, f.session.server.now())
	f.stream, _ = f.joined.Stream(livekit.Avatar, livekit.AudioTopic, t.id.String(), map[string]string{
		livekit.AudioRate: strconv.Itoa(speaker.SampleRate), livekit.AudioChannels: "1",
	})
	return t
}

func (f *face) endStream() {
	if f.stream != nil {
		_ = f.stream.Close()
		f.stream = nil
	}
}

// clear has who renders be silent at once. One that is not in time is sent away.
func (f *face) clear() {
	f.mu.Lock()
	t := f.turns.current()
	if f.state != shown || t == nil || t.told {
		f.mu.Unlock()
		return
	}
	f.endStream()
	f.turns.cut(f.session.server.now())
	joined, began := f.joined, f.since
	f.mu.Unlock()
	go func() {
		asked := f.session.server.now()
		ctx, cancel := context.WithTimeout(context.Background(), clearWithin)
		defer cancel()
		_, err := joined.Ask(ctx, livekit.Avatar, livekit.ClearBuffer, "")
		switch {
		case errors.Is(err, lkroom.ErrLeft):
			return
		case errors.Is(err, context.DeadlineExceeded):
			err = &upstream.Error{Code: upstream.Timeout, Err: err}
		case err != nil:
			err = &upstream.Error{Code: upstream.Rejected, Err: err}
		}
		f.do(func() {
			f.mu.Lock()
			same := f.state == shown && f.since.Equal(began)
			f.mu.Unlock()
			switch {
			case err == nil:
				f.report("clear", asked, nil)
			case same:
				f.lose("clear", err)
			}
		})
	}()
}

// finished takes who renders' word for how far a turn was heard.
func (f *face) finished(payload []byte) {
	var said struct {
		Position    *float64 `json:"playback_position"`
		Interrupted bool     `json:"interrupted"`
	}
	now := f.session.server.now()
	err := json.Unmarshal(payload, &said)
	if err == nil && (said.Position == nil || math.IsNaN(*said.Position) || *said.Position < 0) {
		err = errors.New("there is no playback_position")
	}
	var position *time.Duration
	if err == nil {
		position = new(time.Duration(min(*said.Position, math.MaxInt32) * float64(time.Second)))
	}
	f.mu.Lock()
	t, heard := f.turns.finished(position, said.Interrupted, now)
	f.mu.Unlock()
	if t == nil {
		return
	}
	if err != nil {
		f.report("playback", now, &upstream.Error{Code: upstream.Malformed, Err: err})
	}
	if !t.told {
		f.played(t.id, heard, false)
	}
}

// hear takes a packet of Opus of who renders.
func (f *face) hear(packet []byte) {
	if !f.isShown() {
		return
	}
	samples, err := f.ear.samples(userOpus, packet)
	if err != nil || !isLoud(samples) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns.loud(f.session.server.now())
}

// isLoud says whether samples are no silence.
func isLoud(samples []int16) bool {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return len(samples) > 0 && math.Sqrt(sum/float64(len(samples)))/math.MaxInt16 >= loudEnough
}
