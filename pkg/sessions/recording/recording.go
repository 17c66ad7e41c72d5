// Package recording keeps what was heard and shown of sessions whose user agreed to it
// (spec, Sessions): the sound of both sides, and what the face did.
//
// The process that runs a session adds pieces of some seconds (Add) while it goes on, so
// that a process that dies loses no more than its last one, and another goes on from
// there. A job joins them once the session is over (Joiner). Whoever reads a recording
// has a link that ends soon (Links). It is deleted with the words of its session.
package recording

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// State is where a recording stands.
type State string

// The states. A recording is on until its pieces are joined, and failed where they could
// not be.
const (
	On     State = "on"
	Ready  State = "ready"
	Failed State = "failed"
)

// MaxBytes bounds what is kept of a session, in bytes: two hours of sound are 30 MB, and
// the face's track is as large at most.
const MaxBytes = 96 << 20

// Recording is that of one session.
type Recording struct {
	Session id.Session
	State   State
	Consent id.Consent
	// Guardian is the guardian's consent that a minor's rests on as well; zero for others.
	Guardian id.Consent
	// Withdrawn says that the consent was withdrawn while a hold kept the recording: nobody may
	// hear it any more.
	Withdrawn bool
	// Bytes is what is kept so far.
	Bytes int64
	// BeganMs is where it begins in the session, DurationMs how long it is, and MissingMs how
	// much could not be kept, which is silent, or missing at the ends; 0 before it is ready.
	BeganMs, DurationMs, MissingMs int64
	// Sound and Track are the files of one that is ready.
	Sound, Track id.File
	CreatedAt    time.Time
	// EndedAt is when the session ended; nil while it goes on.
	EndedAt *time.Time
}

// Heard says whether the recording can be heard, and may be.
func (r Recording) Heard() bool { return r.State == Ready && !r.Withdrawn }

const columns = `session_id, state, consent_id, guardian_id, withdrawn, bytes, began_ms, duration_ms, missing_ms, sound_id, track_id, created_at, ended_at`

func scan(row pgx.CollectableRow) (Recording, error) { return pgx.RowToStructByPos[Recording](row) }

// Noun is what errors call a recording.
const Noun errdefs.Noun = "recording"

// ErrStopped says that a session is not recorded any more, or not by the caller.
var ErrStopped = errors.New("the session is not recorded any more")

// Get finds a session's recording. The error is errdefs.NotFound. It rides recording_pkey.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session) (Recording, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(s), `SELECT `+columns+` FROM recording WHERE org_id = $1 AND session_id = $2`, org, s)
}

// Begin records a session from its CreatedAt on, by the owner that has it at an epoch. One that is
// recorded already goes on, by the consent that it rests on, which is answered. The error is
// ErrStopped where it cannot. The caller has locked the session.
func Begin(ctx context.Context, tx *tenant.Tx, r Recording, epoch int64) (on id.Consent, err error) {
	tx.Touch("recording", r.Session)
	err = tx.QueryRow(ctx, `
		INSERT INTO recording AS r (org_id, session_id, state, consent_id, guardian_id, take, bytes, began_ms, duration_ms, missing_ms, created_at)
		VALUES ($1, $2, 'on', $3, $6, $4, 0, 0, 0, 0, $5)
		ON CONFLICT (org_id, session_id) DO UPDATE SET take = excluded.take
		WHERE r.state = 'on' AND r.ended_at IS NULL AND r.take <= excluded.take
		RETURNING consent_id`, tx.Org, r.Session, r.Consent, epoch, r.CreatedAt, r.Guardian).Scan(&on)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrStopped
	}
	return on, err
}

// Resume has the session's new owner go on with the recording, if there is one; on says so, and by is the
// consent that it rests on.
func Resume(ctx context.Context, tx *tenant.Tx, s id.Session, epoch int64) (by id.Consent, on bool, err error) {
	tx.Touch("recording", s)
	err = tx.QueryRow(ctx, `
		UPDATE recording SET take = $3 WHERE org_id = $1 AND session_id = $2 AND state = 'on' AND ended_at IS NULL AND take <= $3
		RETURNING consent_id`, tx.Org, s, epoch).Scan(&by)
	if errors.Is(err, pgx.ErrNoRows) {
		return by, false, nil
	}
	return by, err == nil, err
}

// at is where a piece begins, as a part of its row's key.
type at int64

func (a at) String() string { return strconv.FormatInt(int64(a), 10) }

// Added is a piece that was written to a file.
type Added struct {
	Session id.Session
	// Consent is what it was recorded by: another's piece is not kept.
	Consent id.Consent
	// Epoch is the one at which the process owns, or owned, the session.
	Epoch int64
	// AtMs is from the start of the session.
	AtMs, DurationMs, Bytes int64
	File                    id.File
}

// Add keeps a piece. The last may come a little after the end of its session. The error is
// ErrStopped.
func Add(ctx context.Context, tx *tenant.Tx, files *file.Store, a Added) error {
	tx.Touch("recording", a.Session)
	tag, err := tx.Exec(ctx, `
		UPDATE recording SET bytes = bytes + $4
		WHERE org_id = $1 AND session_id = $2 AND state = 'on' AND take = $3 AND consent_id = $6 AND bytes + $4 <= $5`,
		tx.Org, a.Session, a.Epoch, a.Bytes, int64(MaxBytes), a.Consent)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrStopped
	}
	tx.Touch("recording_piece", a.Session, at(a.AtMs))
	if _, err := tx.Exec(ctx, `
		INSERT INTO recording_piece (org_id, session_id, at_ms, duration_ms, bytes, file_id) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org, a.Session, a.AtMs, a.DurationMs, a.Bytes, a.File); err != nil {
		return err
	}
	return files.Keep(ctx, tx, a.File)
}

// ToJoin is the input of a job that joins the pieces of a recording.
type ToJoin struct {
	Session   id.Session `json:"session"`
	StartedAt time.Time  `json:"startedAt"`
	EndedAt   time.Time  `json:"endedAt"`
}

// Finish is called when a session ends: what was recorded of it is joined soon.
func Finish(ctx context.Context, tx *tenant.Tx, s id.Session, started, ended time.Time) error {
	tx.Touch("recording", s)
	tag, err := tx.Exec(ctx, `
		UPDATE recording SET ended_at = $3 WHERE org_id = $1 AND session_id = $2 AND ended_at IS NULL`, tx.Org, s, ended)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	_, err = job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.RecordingJoin, ResourceKind: "session", ResourceID: s.String(), Scope: scope.TranscriptsRead,
		CreatedBy: "platform", CreatedAt: ended,
	}, ToJoin{s, started, ended})
	return err
}

// Delete deletes a session's recording, if there is one. A process that still records
// it finds out with its next piece.
func Delete(ctx context.Context, tx *tenant.Tx, s id.Session) error { return remove(ctx, tx, s, "") }

// DeleteWithdrawn is Delete where the consent was withdrawn, for a session whose hold ends.
func DeleteWithdrawn(ctx context.Context, tx *tenant.Tx, s id.Session) error {
	return remove(ctx, tx, s, ` AND withdrawn`)
}

func remove(ctx context.Context, tx *tenant.Tx, s id.Session, which string) error {
	tx.Touch("recording", s)
	var (
		sound, track id.File
		state        State
		bytes        int64
	)
	err := tx.QueryRow(ctx, `DELETE FROM recording WHERE org_id = $1 AND session_id = $2`+which+` RETURNING sound_id, track_id, state, bytes`,
		tx.Org, s).Scan(&sound, &track, &state, &bytes)
	if err == nil && state == Ready {
		err = count(ctx, tx, -1, -bytes)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	// Afterwards: one that was being added has been waited for.
	files, err := dropPieces(ctx, tx, s)
	if err != nil {
		return err
	}
	for _, f := range []id.File{sound, track} {
		if !f.IsZero() {
			files = append(files, f)
		}
	}
	return file.Drop(ctx, tx, files...)
}

// The organization's counters of recordings that can be heard, and of their bytes.
const (
	countAll   = "recordings"
	countBytes = "recordingBytes"
)

func count(ctx context.Context, tx *tenant.Tx, all, bytes int64) error {
	if err := tx.Add(ctx, countAll, all); err != nil {
		return err
	}
	return tx.Add(ctx, countBytes, bytes)
}

// Kept is how many recordings an organization has, and how large they are.
type Kept struct{ Count, Bytes int64 }

// QueueKept reads it among other reads. It rides org_counter_pkey.
func QueueKept(r *tenant.Reads, org id.Org, into *Kept) {
	r.QueryRow(new(bool), []any{&into.Count, &into.Bytes}, `
		SELECT COALESCE(sum(value) FILTER (WHERE name = $2), 0)::BIGINT, COALESCE(sum(value) FILTER (WHERE name = $3), 0)::BIGINT
		FROM org_counter WHERE org_id = $1 AND name IN ($2, $3)`, org, countAll, countBytes)
}

// dropPieces deletes the rows of pieces, and answers their files.
func dropPieces(ctx context.Context, tx *tenant.Tx, s id.Session) (files []id.File, err error) {
	rows, err := tx.Query(ctx, `
		DELETE FROM recording_piece WHERE org_id = $1 AND session_id = $2 RETURNING at_ms, file_id`, tx.Org, s)
	if err != nil {
		return nil, err
	}
	var (
		began int64
		f     id.File
	)
	_, err = pgx.ForEachRow(rows, []any{&began, &f}, func() error {
		tx.Touch("recording_piece", s, at(began))
		files = append(files, f)
		return nil
	})
	return files, err
}

// QueueReady asks, among other reads, which sessions have a recording that can be heard. It
// rides recording_pkey.
func QueueReady(r *tenant.Reads, org id.Org, sessions []id.Session, ready func(id.Session)) {
	r.Query(func(rows pgx.Rows) error {
		var s id.Session
		_, err := pgx.ForEachRow(rows, []any{&s}, func() error {
			ready(s)
			return nil
		})
		return err
	}, `SELECT session_id FROM recording WHERE org_id = $1 AND session_id = ANY($2) AND state = 'ready' AND NOT withdrawn`, org, sessions)
}

// ConsentOf is what a session's recording rests on. The error is pgx.ErrNoRows where there
// is none.
func ConsentOf(ctx context.Context, tx *tenant.Tx, s id.Session) (by id.Consent, err error) {
	err = tx.QueryRow(ctx, `SELECT consent_id FROM recording WHERE org_id = $1 AND session_id = $2`, tx.Org, s).Scan(&by)
	return by, err
}

// OfGuardian are the sessions whose recordings rest on a guardian's consent and can be heard or
// still go on. It rides recording_by_guardian.
func OfGuardian(ctx context.Context, tx *tenant.Tx, k id.Consent) ([]id.Session, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Session], `
		SELECT session_id FROM recording WHERE org_id = $1 AND guardian_id = $2 AND NOT withdrawn ORDER BY session_id`, tx.Org, k)
}

// Stop keeps what was recorded of a session, and no more of it: the consent was withdrawn, but a
// hold is on it. Nobody may hear it.
func Stop(ctx context.Context, tx *tenant.Tx, s id.Session) error {
	tx.Touch("recording", s)
	_, err := tx.Exec(ctx, `UPDATE recording SET take = $3, withdrawn = true WHERE org_id = $1 AND session_id = $2`, tx.Org, s, int64(stopped))
	return err
}

// stopped is a take that no owner has.
const stopped = 1 << 62
