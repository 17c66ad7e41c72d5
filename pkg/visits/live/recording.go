package live

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/speech/listening"
	"visavis.dev/pkg/speech/tape"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

const (
	// waitingPieces bounds the pieces that wait for a slow file store; what is more is lost.
	waitingPieces = 4
	// pieceWithin is how long the store may take for one, and lastWithin for all that wait
	// once nothing is recorded any more.
	pieceWithin = 15 * time.Second
	lastWithin  = 10 * time.Second
	// pieceType is the content type of a piece's file.
	pieceType = "application/octet-stream"
)

// The states of a recording, as clients are told of them.
const (
	recordingAsked      = "asked"
	recordingOn         = "on"
	recordingOff        = "off"
	recordingIncomplete = "incomplete"
)

// recorder records a room. A nil one records nothing.
type recorder struct {
	*tape.Recorder
	frames
	room   *room
	by     id.Consent
	pieces chan tape.Piece
	// lost is done once people were told that something could not be kept.
	lost sync.Once
	stop context.CancelFunc
}

// beginRecording records from now on.
func (r *room) beginRecording(by id.Consent) {
	k := &recorder{
		room: r, by: by, pieces: make(chan tape.Piece, waitingPieces),
		frames: newFrames(r.server.now),
	}
	var err error
	k.Recorder, err = tape.New(tape.Options{
		Zero: *r.session.StartedAt, Keep: k.keep, Clock: r.server.Clock, Log: r.server.Log.With("session", r.session.ID.String()),
	})
	if err != nil {
		r.server.Log.Error("failed to begin a recording", "session", r.session.ID.String(), "error", err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	r.tape.Store(k)
	r.server.group.Go(func() {
		defer stop()
		k.write(ctx)
	})
}

// endRecording records no more. What was recorded is kept soon, or lost.
func (r *room) endRecording() {
	if k := r.tape.Swap(nil); k != nil {
		k.Close()
		close(k.pieces)
		time.AfterFunc(lastWithin, k.stop)
	}
}

// keep queues a piece.
func (k *recorder) keep(p tape.Piece) {
	select {
	case k.pieces <- p:
	default:
		k.lose()
	}
}

// lose says that a part of the recording is missing.
func (k *recorder) lose() {
	k.lost.Do(func() { go k.room.do(func() { k.room.tellRecording(recordingIncomplete) }) })
}

// write keeps the pieces, until there are no more or the session is not recorded any more.
func (k *recorder) write(ctx context.Context) {
	for p := range k.pieces {
		switch err := k.writePiece(ctx, p); {
		case errors.Is(err, recording.ErrStopped):
			go k.room.do(k.stopped)
			for range k.pieces { // until the recorder is closed
				continue
			}
			return
		case err != nil:
			k.room.server.Log.Warn("a piece of a recording is lost", "session", k.room.session.ID.String(), "error", err)
			k.lose()
		}
	}
}

// stopped comes when what was recorded has been deleted, or no more is to be.
func (k *recorder) stopped() {
	if k.room.tape.Load() == k {
		k.room.endRecording()
		k.room.tellRecording(recordingOff)
	}
}

func (k *recorder) writePiece(ctx context.Context, p tape.Piece) error {
	ctx, cancel := context.WithTimeout(ctx, pieceWithin)
	defer cancel()
	r, data := k.room, p.Marshal()
	f, err := r.server.Files.Put(ctx, r.org, pieceType, data)
	if err != nil {
		return err
	}
	err = r.server.Tenants.InTx(ctx, r.org, func(ctx context.Context, tx *tenant.Tx) error {
		may, err := r.session.MayBeRecorded(ctx, tx, r.server.now())
		if err != nil {
			return err
		}
		if !may {
			return recording.ErrStopped
		}
		return recording.Add(ctx, tx, r.server.Files, recording.Added{
			Session: r.session.ID, Consent: k.by, Epoch: r.session.Epoch, AtMs: p.At.Milliseconds(), DurationMs: p.Lasts().Milliseconds(),
			Bytes: int64(len(data)), File: f,
		})
	})
	if errors.Is(err, recording.ErrStopped) {
		if err := r.server.Tenants.InTx(ctx, r.org, func(ctx context.Context, tx *tenant.Tx) error {
			return file.Drop(ctx, tx, f)
		}); err != nil {
			r.server.Log.WarnContext(ctx, "a file waits to be swept", "error", err)
		}
	}
	return err
}

// frame takes a frame of the user's sound where nothing else hears them.
func (k *recorder) frame(data []byte) error {
	if k == nil {
		return nil
	}
	if len(data) < frameHeader || data[0] != userPCM && data[0] != userOpus {
		return errFrame
	}
	k.room.heard.Store(true)
	if len(data) == frameHeader || k.room.consents.quiet.Load() {
		return nil
	}
	samples, err := k.samples(data[0], data[frameHeader:])
	k.hear(samples)
	return err
}

// hear takes what the user says.
func (k *recorder) hear(samples []int16) {
	if k != nil && len(samples) > 0 {
		k.Hear(samples)
	}
}

// tracked are the messages that tell what the face did and what was said.
var tracked = map[string]bool{
	"visemes": true, "words": true, "gesture": true, "bot-text": true, "interrupted": true, "user-transcription": true, "staff-text": true,
}

// message takes what people are sent.
func (k *recorder) message(f frame) {
	if k == nil || !tracked[f.kind] {
		return
	}
	data, err := json.Marshal(f.content)
	if err != nil {
		return
	}
	var of struct {
		Turn id.Turn `json:"turnId"`
	}
	if json.Unmarshal(data, &of) == nil && k.room.consents.keeps(of.Turn) {
		k.Message(f.kind, data)
	}
}

// heard passes on what the client of a room plays; it implements playout.Heard.
type heard struct{ room *room }

// Plays implements playout.Heard.
func (h heard) Plays(turn id.Turn, from time.Duration, at time.Time, samples []int16) {
	if k := h.room.tape.Load(); k != nil && h.room.consents.keeps(turn) {
		k.Plays(turn, from, at, samples)
	}
}

// Stops implements playout.Heard.
func (h heard) Stops(turn id.Turn, at time.Time) {
	if k := h.room.tape.Load(); k != nil {
		k.Stops(turn, at)
	}
}

var _ = [1]struct{}{}[tape.UserRate-listening.SampleRate] // what is heard is what is recorded
