package apitest

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/tape"
	"visavis.dev/pkg/store/tenant"
)

// settled is a clock for which the last pieces of every recording came.
type settled struct{ clock.PassiveClock }

func (s settled) Now() time.Time { return s.PassiveClock.Now().Add(recording.Settles) }

// Record records a session that was minted, and ends it.
func (w *World) Record(t testing.TB, org *Org, which id.Session) {
	t.Helper()
	in := func(fn func(context.Context, *tenant.Tx) error) {
		t.Helper()
		require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, fn))
	}
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE session SET brief = jsonb_set(brief, '{record}', '"asked"') WHERE org_id = $1 AND id = $2`, org.ID, which)
		return err
	})
	s := w.Attach(t, org, which)
	now := time.Now().UTC().Truncate(time.Microsecond)
	var by id.Consent
	in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		// It may be recorded while this goes on.
		_, err = tx.Exec(ctx, `
			INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
			VALUES ($1, 'organization', '', 'privacy.recordings', 'true', $2, 'apitest') ON CONFLICT DO NOTHING`, org.ID, now)
		if err != nil {
			return err
		}
		if by, err = session.Record(ctx, tx, which, s.Epoch, now); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM setting WHERE org_id = $1 AND key = 'privacy.recordings' AND changed_by = 'apitest'`, org.ID)
		return err
	})
	piece := tape.Piece{Track: []byte(`{"t":0,"type":"user-transcription","data":{"turnId":"turn_a","text":"Hello","final":true}}` + "\n")}
	for range 50 {
		piece.Packets = append(piece.Packets, []byte{0xf8, 0xff, 0xfe})
	}
	f, err := w.Files.Put(context.Background(), org.ID, "application/octet-stream", piece.Marshal())
	require.NoError(t, err)
	in(func(ctx context.Context, tx *tenant.Tx) error {
		return recording.Add(ctx, tx, w.Files, recording.Added{Session: which, Consent: by, Epoch: s.Epoch, DurationMs: 1000, Bytes: 100, File: f})
	})
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: session.Left, At: now})
		return err
	})
	input, err := json.Marshal(recording.ToJoin{Session: which, StartedAt: now, EndedAt: now})
	require.NoError(t, err)
	j := job.Job{Org: org.ID, ID: id.NewJob(), Kind: job.RecordingJoin, Input: input}
	joiner := &recording.Joiner{Tenants: w.Tenants, Files: w.Files, Clock: settled{clock.RealClock{}}, Log: slog.New(slog.DiscardHandler)}
	step, err := joiner.Background().Works[job.RecordingJoin].Prepare(context.Background(), j)
	require.NoError(t, err)
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, now)
		return err
	})
}

// recorded is a session that was recorded.
func (w *World) recorded(t testing.TB, org *Org) string {
	t.Helper()
	o := w.Operation(t, "createSessionToken")
	w.n++
	answer := w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: w.SessionBody(t, org)})
	which, err := id.ParseSession(answer.Data(t)["session"].(map[string]any)["id"].(string))
	require.NoError(t, err)
	w.Record(t, org, which)
	return which.String()
}
