package recording_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/speech/tape"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// taped is a session whose pieces a test writes.
type taped struct {
	*testing.T
	tenants *tenant.Tenants
	org     id.Org
	bucket  *blob.Bucket
	files   *file.Store
	s       id.Session
	by      id.Consent
	started time.Time
}

// begin records a session from two seconds after its start on.
func begin(t *testing.T) *taped {
	t.Helper()
	tenants, org, _ := tenanttest.New(t)
	v := &taped{T: t, tenants: tenants, org: org, bucket: memblob.OpenBucket(nil), s: id.NewSession(), by: id.NewConsent(), started: time.Unix(1_800_000_000, 0).UTC()}
	t.Cleanup(func() { _ = v.bucket.Close() })
	v.files = file.New(v.bucket, tenants, clock.RealClock{})
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := recording.Begin(ctx, tx, recording.Recording{Session: v.s, Consent: v.by, CreatedAt: v.started.Add(2 * time.Second)}, 1)
		return err
	})
	return v
}

func (v *taped) in(fn func(context.Context, *tenant.Tx) error) {
	v.Helper()
	require.NoError(v, v.tenants.InTx(v.Context(), v.org, fn))
}

// keep keeps a file as the piece of a second.
func (v *taped) keep(at time.Duration, data []byte) id.File {
	v.Helper()
	f, err := v.files.Put(v.Context(), v.org, "application/octet-stream", data)
	require.NoError(v, err)
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		return recording.Add(ctx, tx, v.files, recording.Added{Session: v.s, Consent: v.by, Epoch: 1, AtMs: at.Milliseconds(), DurationMs: 1000, Bytes: int64(len(data)), File: f})
	})
	return f
}

// second is a piece of a second.
func second() []byte {
	var p tape.Piece
	for range 1000 / tape.PacketMs {
		p.Packets = append(p.Packets, []byte{0xf8, 0xff, 0xfe})
	}
	return p.Marshal()
}

// join ends the session and does the job that joins its recording.
func (v *taped) join(lasted time.Duration) (recording.Recording, error) {
	v.Helper()
	ended := v.started.Add(lasted)
	input, err := json.Marshal(recording.ToJoin{Session: v.s, StartedAt: v.started, EndedAt: ended})
	require.NoError(v, err)
	j := job.Job{Org: v.org, ID: id.NewJob(), Kind: job.RecordingJoin, Input: input}
	w := &recording.Joiner{Tenants: v.tenants, Files: v.files, Folder: v.TempDir(), Clock: testclock.NewFakePassiveClock(ended.Add(recording.Settles)), Log: slog.New(slog.DiscardHandler)}
	step, err := w.Background().Works[job.RecordingJoin].Prepare(v.Context(), j)
	if err != nil {
		return recording.Recording{}, err
	}
	v.in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, ended)
		return err
	})
	return recording.Get(v.Context(), v.tenants, v.org, v.s)
}

// One that cannot be read, is gone or lies where no session is leaves the others.
func TestPieceThatCannotBeReadIsMissing(t *testing.T) {
	v := begin(t)
	v.keep(2*time.Second, second())
	v.keep(3*time.Second, []byte("no piece"))
	v.keep(4*time.Second, second())
	gone := v.keep(5*time.Second, second())
	require.NoError(t, v.bucket.Delete(t.Context(), v.org.String()+"/"+gone.String()))
	v.keep(6*time.Second, second())
	v.keep(1000*time.Hour, second())
	r, err := v.join(7 * time.Second)
	require.NoError(t, err)
	require.Equal(t, []any{recording.Ready, int64(2000), int64(5000), int64(2000)}, []any{r.State, r.BeganMs, r.DurationMs, r.MissingMs})
}

// What was lost with the process that recorded is missing, also where nothing follows.
func TestEndsAreMissing(t *testing.T) {
	v := begin(t)
	v.keep(7*time.Second, second())
	r, err := v.join(12 * time.Second)
	require.NoError(t, err)
	require.Equal(t, []int64{7000, 1000, 5000 + 4000}, []int64{r.BeganMs, r.DurationMs, r.MissingMs})
}

// What was heard until the end is whole, but for the moments that starting and ending take.
func TestNothingIsMissing(t *testing.T) {
	v := begin(t)
	v.keep(2*time.Second+200*time.Millisecond, second())
	r, err := v.join(3*time.Second + 700*time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, r.MissingMs)
}

// A recording of which nothing can be read fails; it is not an empty one.
func TestNothingCanBeRead(t *testing.T) {
	v := begin(t)
	v.keep(2*time.Second, []byte("no piece"))
	_, err := v.join(3 * time.Second)
	require.ErrorContains(t, err, "no piece of the recording can be read")
}
