package recording_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// No statement looks through all recordings.
func TestTheStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO recording (org_id, session_id, state, consent_id, take, bytes, began_ms, duration_ms, missing_ms, created_at)
		SELECT $1, gen_random_uuid(), 'ready', gen_random_uuid(), 1, 1, 0, 0, 0, now() FROM generate_series(1, 2000)`, org)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO recording_piece (org_id, session_id, at_ms, duration_ms, bytes, file_id)
		SELECT $1, gen_random_uuid(), 0, 0, 0, gen_random_uuid() FROM generate_series(1, 2000)`, org)
	require.NoError(t, err)
	s, now := id.NewSession(), time.Now().UTC()
	in := func(fn func(context.Context, *tenant.Tx) error) func() error {
		return func() error { return tenants.InTx(t.Context(), org, fn) }
	}
	for name, c := range map[string]struct {
		text, index string
		run         func() error
	}{
		"a recording": {"FROM recording WHERE", "recording_pkey", func() error {
			if _, err := recording.Get(t.Context(), tenants, org, s); err == nil {
				t.Error("there is none")
			}
			return nil
		}},
		"which are ready": {"state = 'ready'", "recording_pkey", func() error {
			return tenants.Read(t.Context(), org, func(r *tenant.Reads) {
				recording.QueueReady(r, org, []id.Session{s}, func(id.Session) {})
			})
		}},
		"the end": {"SET ended_at", "recording_pkey", in(func(ctx context.Context, tx *tenant.Tx) error { return recording.Finish(ctx, tx, s, now, now) })},
		"the going on": {"SET take", "recording_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, _, err := recording.Resume(ctx, tx, s, 2)
			return err
		})},
		"a guardian's": {"guardian_id = $2", "recording_by_guardian", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := recording.OfGuardian(ctx, tx, id.NewConsent())
			return err
		})},
		"what is counted": {"FROM org_counter", "", func() error {
			return tenants.Read(t.Context(), org, func(r *tenant.Reads) { recording.QueueKept(r, org, &recording.Kept{}) })
		}},
		"the deletion": {"DELETE FROM recording WHERE", "recording_pkey", in(func(ctx context.Context, tx *tenant.Tx) error { return recording.Delete(ctx, tx, s) })},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, c.text, c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotRegexp(t, `Seq Scan on recording`, plan, statement.SQL)
			}
		})
	}
}
