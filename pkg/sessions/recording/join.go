package recording

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4/pkg/media/oggwriter"
	"gocloud.dev/gcerrors"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/speech/tape"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// The content types of a recording's files.
const (
	SoundType = "audio/ogg"
	TrackType = "application/x-ndjson"
)

// Settles is how long after a session's end its last piece may still come.
const Settles = 20 * time.Second

// Joiner does the jobs that join what was recorded.
type Joiner struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	// Folder is where files lie while they are written; empty means the system's.
	Folder string
	Clock  clock.PassiveClock
	Log    *slog.Logger
}

// Background is what workers do for recordings.
func (w *Joiner) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.RecordingJoin: {Prepare: w.prepare, GiveUp: w.giveUp}}}
}

// part is a piece that is to be joined.
type part struct {
	AtMs, DurationMs int64
	File             id.File
}

// prepare writes the files of a recording from its pieces.
func (w *Joiner) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var in ToJoin
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	if early := in.EndedAt.Add(Settles).Sub(w.Clock.Now()); early > 0 {
		return func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) { return early, nil }, nil
	}
	r, err := Get(ctx, w.Tenants, j.Org, in.Session)
	if errdefs.IsNotFound(err, Noun) || err == nil && r.State != On {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	// It rides recording_piece_pkey.
	parts, err := tenant.All(ctx, w.Tenants, j.Org, pgx.RowToStructByPos[part], `
		SELECT at_ms, duration_ms, file_id FROM recording_piece WHERE org_id = $1 AND session_id = $2 ORDER BY at_ms`, j.Org, in.Session)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return w.end(in.Session, nil), nil
	}
	made, err := w.join(ctx, j.Org, in.within(parts))
	if err != nil {
		return nil, err
	}
	made.missing += in.missingAtEnds(r.CreatedAt, made)
	return w.end(in.Session, made), nil
}

// late is how much later than it is to be a piece may lie, by clocks that differ.
const late = time.Minute

// within are the pieces that can be of the session: what lies beyond its end would be silent for as long.
func (in ToJoin) within(parts []part) []part {
	lasts := in.EndedAt.Sub(in.StartedAt) + late
	return slices.DeleteFunc(parts, func(p part) bool { return p.AtMs < 0 || p.AtMs > lasts.Milliseconds() })
}

// unheard is what may be missing at the ends of a recording without being said, in milliseconds.
const unheard = 1000

// missingAtEnds is how much is missing before the first piece, from the user's consent on, and after the last,
// until the session's end, in milliseconds.
func (in ToJoin) missingAtEnds(agreed time.Time, made *joined) (missing int64) {
	before := made.began - agreed.Sub(in.StartedAt).Milliseconds()
	after := in.EndedAt.Sub(in.StartedAt).Milliseconds() - made.began - made.duration
	for _, ms := range []int64{before, after} {
		if ms > unheard {
			missing += ms
		}
	}
	return missing
}

// joined is what a recording became.
type joined struct {
	began, duration, missing, bytes int64
	sound, track                    id.File
}

// join writes what pieces hold into two files, through folders of the machine: two hours
// are more than is held in memory.
func (w *Joiner) join(ctx context.Context, org id.Org, parts []part) (*joined, error) {
	sound, err := newTemporary(w.Folder)
	if err != nil {
		return nil, err
	}
	defer sound.remove()
	track, err := newTemporary(w.Folder)
	if err != nil {
		return nil, err
	}
	defer track.remove()
	made := &joined{}
	if err := w.splice(ctx, org, parts, sound, track, made); err != nil {
		return nil, err
	}
	if made.sound, err = sound.store(ctx, w.Files, org, SoundType); err != nil {
		return nil, err
	}
	made.track, err = track.store(ctx, w.Files, org, TrackType)
	made.bytes = sound.size + track.size
	return made, err
}

// splice writes the pieces one after the other; where something is missing it is silent.
func (w *Joiner) splice(ctx context.Context, org id.Org, parts []part, sound, track *temporary, made *joined) error {
	if len(parts) == 0 {
		return errNothing
	}
	made.began = parts[0].AtMs
	out, err := newOgg(unclosed{sound.File})
	if err != nil {
		return err
	}
	for _, p := range parts {
		piece, err := w.read(ctx, org, p)
		if err != nil {
			return err
		}
		begins := (p.AtMs - made.began) / tape.PacketMs
		for ; out.packets < begins; made.missing += tape.PacketMs {
			if err := out.write(silence); err != nil {
				return err
			}
		}
		// Two processes may have had it for a moment, by clocks that differ.
		for i, packet := range piece.Packets {
			if begins+int64(i) < out.packets {
				continue
			}
			if err := out.write(packet); err != nil {
				return err
			}
		}
		if _, err := track.Write(piece.Track); err != nil {
			return err
		}
	}
	if made.duration = out.packets * tape.PacketMs; made.duration == 0 {
		return errNothing
	}
	return out.Close()
}

// read reads a piece. One that is gone, is none or lies beyond every session is left out: the
// rest is not lost with it.
func (w *Joiner) read(ctx context.Context, org id.Org, p part) (piece tape.Piece, err error) {
	data, err := w.Files.Read(ctx, org, p.File)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		w.Log.WarnContext(ctx, "a piece of a recording has no file", "file", p.File.String())
		return tape.Piece{}, nil
	case err != nil:
		return tape.Piece{}, err
	}
	if err := piece.Unmarshal(data); err != nil {
		w.Log.WarnContext(ctx, "a piece of a recording cannot be read", "file", p.File.String(), "error", err)
		return tape.Piece{}, nil
	}
	return piece, nil
}

// errNothing fails the join of a recording of which no piece can be read.
var errNothing = errors.New("no piece of the recording can be read")

// unclosed is a file that whoever writes it does not close. Its last page is marked afterwards.
type unclosed struct{ to *os.File }

func (u unclosed) Write(p []byte) (int, error)                  { return u.to.Write(p) }
func (u unclosed) WriteAt(p []byte, at int64) (int, error)      { return u.to.WriteAt(p, at) }
func (u unclosed) Seek(offset int64, whence int) (int64, error) { return u.to.Seek(offset, whence) }

// silence is a packet of Opus in which nothing is heard: 20 ms of the full band, mono.
var silence = []byte{0xf8, 0xff, 0xfe}

// ogg writes packets of Opus into a file.
type ogg struct {
	*oggwriter.OggWriter
	packets int64
}

func newOgg(to io.Writer) (*ogg, error) {
	const rate, channels = 48000, 1
	w, err := oggwriter.NewWith(to, rate, channels)
	return &ogg{OggWriter: w}, err
}

// samples are those of a packet, at 48 kHz.
const samples = 48000 * tape.PacketMs / 1000

func (o *ogg) write(packet []byte) error {
	o.packets++
	return o.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, Timestamp: uint32(o.packets * samples)}, Payload: packet})
}

// end is the step that puts the files in the place of the pieces, unless the recording was
// deleted meanwhile. One of which nothing came is deleted.
func (w *Joiner) end(s id.Session, made *joined) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if made == nil {
			if err := Delete(ctx, tx, s); err != nil {
				return 0, err
			}
			return done(ctx, tx, j, now)
		}
		tx.Touch("recording", s)
		tag, err := tx.Exec(ctx, `
			UPDATE recording SET state = 'ready', began_ms = $3, duration_ms = $4, missing_ms = $5, bytes = $6, sound_id = $7, track_id = $8
			WHERE org_id = $1 AND session_id = $2 AND state = 'on'`,
			tx.Org, s, made.began, made.duration, made.missing, made.bytes, made.sound, made.track)
		if err != nil {
			return 0, err
		}
		if tag.RowsAffected() == 0 {
			if err := file.Drop(ctx, tx, made.sound, made.track); err != nil {
				return 0, err
			}
			return done(ctx, tx, j, now)
		}
		if err := count(ctx, tx, 1, made.bytes); err != nil {
			return 0, err
		}
		pieces, err := dropPieces(ctx, tx, s)
		if err != nil {
			return 0, err
		}
		if err := file.Drop(ctx, tx, pieces...); err != nil {
			return 0, err
		}
		if err := w.Files.Keep(ctx, tx, made.sound, made.track); err != nil {
			return 0, err
		}
		return done(ctx, tx, j, now)
	}
}

// done is the step of a job with nothing more to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// giveUp is for what could not be joined in many tries: its pieces are of no use.
func (w *Joiner) giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) error {
	var in ToJoin
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return err
	}
	tx.Touch("recording", in.Session)
	tag, err := tx.Exec(ctx, `UPDATE recording SET state = 'failed' WHERE org_id = $1 AND session_id = $2 AND state = 'on'`, tx.Org, in.Session)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	pieces, err := dropPieces(ctx, tx, in.Session)
	if err != nil {
		return err
	}
	return file.Drop(ctx, tx, pieces...)
}

// temporary is a file that is being written, with its size and hash.
type temporary struct {
	*os.File
	size int64
}

func newTemporary(folder string) (*temporary, error) {
	f, err := os.CreateTemp(folder, "recording-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return &temporary{File: f}, nil
}

func (t *temporary) remove() {
	_ = t.Close()
	_ = os.Remove(t.Name())
}

// store puts what was written into the store.
func (t *temporary) store(ctx context.Context, files *file.Store, org id.Org, contentType string) (f id.File, err error) {
	hash := sha256.New()
	if _, err := t.Seek(0, io.SeekStart); err != nil {
		return f, err
	}
	if t.size, err = io.Copy(hash, t); err != nil {
		return f, err
	}
	if _, err := t.Seek(0, io.SeekStart); err != nil {
		return f, err
	}
	c := file.Content{Type: contentType, Size: t.size, Data: t}
	if n := copy(c.SHA256[:], hash.Sum(nil)); n != sha256.Size {
		return f, errors.New("a hash is too short")
	}
	return files.PutFrom(ctx, org, c)
}
