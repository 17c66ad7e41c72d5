package tape_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/tape"
)

// tone are samples at a rate.
func tone(rate int, lasts time.Duration) []int16 {
	out := make([]int16, int(lasts)*rate/int(time.Second))
	for i := range out {
		out[i] = int16(8000 * math.Sin(float64(i)*2*math.Pi*330/float64(rate)))
	}
	return out
}

// kept are the pieces of a recording.
type kept struct {
	mu     sync.Mutex
	pieces []tape.Piece
}

func (k *kept) keep(p tape.Piece) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pieces = append(k.pieces, p)
}

// loud are the levels of each packet of all pieces, 20 ms each, through what pieces are
// written as.
func (k *kept) loud(t *testing.T) []float64 {
	t.Helper()
	decoder, err := sound.NewOpusDecoder(24000)
	require.NoError(t, err)
	var levels []float64
	for _, p := range k.pieces {
		var read tape.Piece
		require.NoError(t, read.Unmarshal(p.Marshal()))
		for _, packet := range read.Packets {
			samples, err := decoder.Decode(packet)
			require.NoError(t, err)
			sum := 0.0
			for _, s := range samples {
				sum += float64(s) * float64(s)
			}
			levels = append(levels, math.Sqrt(sum/float64(len(samples))))
		}
	}
	return levels
}

// heard says whether something is heard between two times.
func heard(levels []float64, from, to time.Duration) (least, most float64) {
	least = math.Inf(1)
	for _, level := range levels[from/(20*time.Millisecond) : to/(20*time.Millisecond)] {
		least, most = min(least, level), max(most, level)
	}
	return least, most
}

func record(t *testing.T, k *kept) *tape.Recorder {
	t.Helper()
	r, err := tape.New(tape.Options{Zero: time.Now(), Keep: k.keep, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return r
}

// What is interrupted ends where it was cut, and what the user says is beside it.
func TestRecordsWhatIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		r := record(t, k)
		zero, turn := time.Now(), id.NewTurn()
		time.Sleep(time.Second) //nolint:forbidigo // of the bubble's clock
		// Two seconds come at once, of which one is heard.
		for at := time.Duration(0); at < 2*time.Second; at += 100 * time.Millisecond {
			r.Plays(turn, at, zero.Add(time.Second+at), tone(speaker.SampleRate, 100*time.Millisecond))
		}
		time.Sleep(time.Second) //nolint:forbidigo // of the bubble's clock
		r.Stops(turn, time.Now())
		time.Sleep(2 * time.Second) //nolint:forbidigo // of the bubble's clock
		for range 50 {              // the user speaks for a second
			r.Hear(tone(tape.UserRate, 20*time.Millisecond))
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // of the bubble's clock
		}
		r.Message("gesture", json.RawMessage(`{"name":"nod"}`))
		time.Sleep(7 * time.Second) //nolint:forbidigo // of the bubble's clock
		r.Close()
		r.Close()
		r.Hear(tone(tape.UserRate, 20*time.Millisecond)) // is not heard any more
		r.Message("gesture", json.RawMessage(`{}`))

		require.Len(t, k.pieces, 3, "twelve seconds")
		for i, p := range k.pieces {
			require.Equal(t, time.Duration(i)*5*time.Second, p.At)
		}
		levels := k.loud(t)
		require.InDelta(t, 12*50, len(levels), 1)
		_, most := heard(levels, 0, 900*time.Millisecond)
		require.Less(t, most, 50.0)
		least, _ := heard(levels, 1200*time.Millisecond, 1900*time.Millisecond)
		require.Greater(t, least, 2000.0)
		_, most = heard(levels, 2200*time.Millisecond, 3900*time.Millisecond)
		require.Less(t, most, 50.0, "the rest was not heard")
		least, _ = heard(levels, 4200*time.Millisecond, 4900*time.Millisecond)
		require.Greater(t, least, 2000.0, "the user")
		_, most = heard(levels, 5300*time.Millisecond, 11900*time.Millisecond)
		require.Less(t, most, 50.0)

		track := bytes.Split(bytes.TrimSpace(append(k.pieces[0].Track, k.pieces[1].Track...)), []byte("\n"))
		require.Len(t, track, 3)
		require.JSONEq(t, `{"t":1000,"type":"plays","data":{"turnId":"`+turn.String()+`","from":0}}`, string(track[0]))
		require.JSONEq(t, `{"t":2000,"type":"stops","data":{"turnId":"`+turn.String()+`"}}`, string(track[1]))
		require.JSONEq(t, `{"t":5000,"type":"gesture","data":{"name":"nod"}}`, string(track[2]))
	})
}

// A user who sends more than time passes, and messages without end, fill no memory.
func TestIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		r := record(t, k)
		for range 1000 {
			r.Hear(tone(tape.UserRate, time.Second))
			r.Message("user-transcription", json.RawMessage(`{"text":"`+string(bytes.Repeat([]byte("a"), 1000))+`"}`))
			r.Plays(id.NewTurn(), 0, time.Now().Add(time.Hour), tone(speaker.SampleRate, time.Second))
			r.Plays(id.NewTurn(), 0, time.Now().Add(-time.Hour), tone(speaker.SampleRate, time.Second))
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // of the bubble's clock
		r.Close()
		levels := k.loud(t)
		require.Len(t, levels, 500)
		_, most := heard(levels, 6*time.Second, 9*time.Second)
		require.Less(t, most, 50.0)
		for _, p := range k.pieces {
			require.LessOrEqual(t, len(p.Marshal()), 64<<10)
		}
	})
}

// A process whose clock is behind that of the one before records from the start on.
func TestBeginsBeforeItsZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		r, err := tape.New(tape.Options{Zero: time.Now().Add(time.Second), Keep: k.keep, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		r.Hear(tone(tape.UserRate, 20*time.Millisecond))
		r.Plays(id.NewTurn(), 0, time.Now(), tone(speaker.SampleRate, 20*time.Millisecond))
		time.Sleep(3 * time.Second) //nolint:forbidigo // of the bubble's clock
		r.Close()
		require.Len(t, k.loud(t), 100)
	})
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 'a', 0, 2, 1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		var p tape.Piece
		if p.Unmarshal(data) == nil {
			require.Equal(t, data, p.Marshal())
		}
	})
}
