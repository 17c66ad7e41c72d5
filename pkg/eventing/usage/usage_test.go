package usage_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

type row struct {
	session byte
	n       int
	kind    string
	persona id.Persona
	sandbox bool
	at      time.Time
	seconds int64
}

func insert(t *testing.T, tenants *tenant.Tenants, org id.Org, blocks ...row) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		for _, b := range blocks {
			if _, err := tx.Exec(ctx, `
				INSERT INTO usage_block (org_id, session_id, block, kind, persona_id, sandbox, started_at, seconds)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
				org, uuid.UUID{b.session}, b.n, b.kind, b.persona, b.sandbox, b.at, b.seconds); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestReport(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	day := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	p, q := id.Persona{1}, id.Persona{2}
	// Session 1 runs on as session 2 begins, and ends as session 3 begins.
	insert(t, tenants, org,
		row{1, 0, "duo", p, false, day, 60},
		row{1, 1, "duo", p, false, day.Add(60 * time.Second), 60},
		row{2, 0, "solo", q, false, day.Add(90 * time.Second), 60},
		row{3, 0, "solo", p, false, day.Add(120 * time.Second), 20},
		row{4, 0, "solo", id.Persona{}, true, day.Add(time.Hour), 7},
		row{5, 0, "solo", id.Persona{}, false, day.Add(36 * time.Hour), 30},
		row{6, 0, "solo", q, false, day.Add(-1), 1000},
		row{7, 0, "solo", q, false, day.AddDate(0, 1, 0), 1000})
	insert(t, tenants, other, row{1, 0, "duo", p, false, day, 5})

	r, err := usage.Of(context.Background(), tenants, org, day, day.AddDate(0, 1, 0), now)
	require.NoError(t, err)
	require.EqualValues(t, 230, r.UsedS)
	require.EqualValues(t, 7, r.SandboxS)
	require.EqualValues(t, 5, r.Sessions)
	require.EqualValues(t, 2, r.PeakConcurrent)
	require.EqualValues(t, 230, r.Minutes.MonthS)
	require.Equal(t, []usage.Day{{day, 3, 200}, {day.AddDate(0, 0, 1), 1, 30}}, utc(r.ByDay))
	require.Equal(t, []usage.Share[string]{{"duo", 1, 120}, {"solo", 3, 110}}, r.ByKind)
	require.Equal(t, []usage.Share[id.Persona]{{p, 2, 140}, {q, 1, 60}}, r.ByPersona)

	// The month is that of the asking, not of the period.
	r, err = usage.Of(context.Background(), tenants, org, day, day.AddDate(0, 1, 0), day.AddDate(0, 1, 3))
	require.NoError(t, err)
	require.EqualValues(t, 1000, r.Minutes.MonthS)
	require.EqualValues(t, 230, r.UsedS)
}

func utc(days []usage.Day) []usage.Day {
	for i := range days {
		days[i].Date = days[i].Date.UTC()
	}
	return days
}

func TestNothingUsed(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	r, err := usage.Of(context.Background(), tenants, org, now, now.Add(time.Hour), now)
	require.NoError(t, err)
	require.Zero(t, r.UsedS+r.SandboxS+r.Sessions+r.PeakConcurrent)
	require.Zero(t, r.Minutes)
	require.Empty(t, r.ByDay)
}

func TestMinutes(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	ctx := context.Background()
	past, soon, late := now.Add(-time.Hour), now.Add(time.Hour), now.Add(48*time.Hour)
	for _, expires := range []*time.Time{nil, &past, &soon, &late} {
		require.NoError(t, usage.GrantMinutes(ctx, tenants, org, uuid.New(), 10, now, expires))
	}
	require.NoError(t, usage.GrantMinutes(ctx, tenants, other, uuid.New(), 99, now, nil))
	shard, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = shard.Exec(ctx, `UPDATE minute_grant SET remaining_s = 0 WHERE expires_at = $1`, soon)
	require.NoError(t, err)

	r, err := usage.Of(ctx, tenants, org, now, soon, now)
	require.NoError(t, err)
	require.EqualValues(t, 2400, r.Minutes.PurchasedS)
	require.EqualValues(t, 1800, r.Minutes.HeldS)
	require.EqualValues(t, 1200, r.Minutes.LeftS)
	require.True(t, r.Minutes.ExpiresAt.Equal(late), "the next of what is left")
}

func TestMonth(t *testing.T) {
	from, to := usage.Month(time.Date(2026, 12, 31, 23, 30, 0, 0, time.FixedZone("west", -3600)))
	require.Equal(t, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), from)
	require.Equal(t, time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), to)
}
