package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant"
)

// few and many are sessions of ninety days; each of the quarters of an hour has some of both.
const (
	few  = 10_000
	many = 1_000_000
)

// boards measures how long a dashboard takes, and how long counting what happened next does,
// where many sessions were and where few were. The log has all of them: the first few are
// counted as workers do, the others are entered as counted.
func boards(ctx context.Context, f *fixture) error {
	now := time.Now().UTC()
	var took [2][2]time.Duration
	for i, sessions := range []int{few, many} {
		org, _, err := f.newOrg(ctx, fmt.Sprint("Figures ", sessions))
		if err != nil {
			return err
		}
		if err := f.log(ctx, org, sessions, now.AddDate(0, 0, -90)); err != nil {
			return err
		}
		rate, err := f.countFew(ctx, org)
		if err != nil {
			return err
		}
		if sessions > few {
			if err := f.enterCounted(ctx, org); err != nil {
				return err
			}
		}
		if took[i][0], err = f.readBoard(ctx, org, now); err != nil {
			return err
		}
		if took[i][1], err = f.countNext(ctx, org, now); err != nil {
			return err
		}
		report(fmt.Sprintf("Dashboards/sessions=%d", sessions), sessions, figure{rate, "events/s"},
			figure{float64(took[i][0].Microseconds()) / 1000, "read-ms"}, figure{float64(took[i][1].Microseconds()) / 1000, "step-ms"})
	}
	report("Dashboards/ratio", many/few, figure{float64(took[1][0]) / float64(took[0][0]), "read-ratio"},
		figure{float64(took[1][1]) / float64(took[0][1]), "step-ratio"})
	return nil
}

// exec runs a statement for an organization.
func (f *fixture) exec(ctx context.Context, org id.Org, sql string, args ...any) error {
	return f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{org}, args...)...)
		return err
	})
}

// log enters sessions that ended, evenly over ninety days.
func (f *fixture) log(ctx context.Context, org id.Org, sessions int, from time.Time) error {
	const days = 90 * 24 * 60 * 60 * 1000
	return f.exec(ctx, org, `
		INSERT INTO event (org_id, id, type, created_at, data)
		SELECT $1, (lpad(to_hex($2::BIGINT + n * $4::BIGINT / $3), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::UUID, 'session.ended',
			to_timestamp(($2::BIGINT + n * $4::BIGINT / $3) / 1000.0),
			'{"kind": "conversation", "language": "en", "endReason": "left", "durationS": 180, "billedS": 180, "turnCount": 12}'
		FROM generate_series(0, $3::BIGINT - 1) AS g (n)`, from.UnixMilli(), sessions, days)
}

// countFew counts the first sessions as a worker does, and answers how many it does a second.
func (f *fixture) countFew(ctx context.Context, org id.Org) (float64, error) {
	began, counted := time.Now(), 0
	for counted < few {
		n, err := dashboard.Advance(ctx, f.backend.Tenants, org)
		if err != nil {
			return 0, err
		}
		if counted += n; n == 0 {
			break
		}
	}
	return float64(counted) / time.Since(began).Seconds(), nil
}

// enterCounted enters what counting all others would have.
func (f *fixture) enterCounted(ctx context.Context, org id.Org) error {
	if err := f.exec(ctx, org, `DELETE FROM dashboard_count WHERE org_id = $1`); err != nil {
		return err
	}
	if err := f.exec(ctx, org, `
		INSERT INTO dashboard_count (org_id, area, portal_id, unit_id, at, counts)
		SELECT $1, 'sessions', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
			to_timestamp(floor(extract(epoch FROM created_at) / 900) * 900),
			jsonb_build_object('sessions', count(*), 'seconds', 180 * count(*), 'turns', 12 * count(*), 'billed', 180 * count(*),
				'billed:conversation', 180 * count(*), 'reason:left', count(*), 'language:en', count(*), 'peak', 0, 'live', 0)
		FROM event WHERE org_id = $1 GROUP BY 5`); err != nil {
		return err
	}
	return f.exec(ctx, org, `
		UPDATE dashboard_cursor SET after = (SELECT id FROM event WHERE org_id = $1 ORDER BY id DESC LIMIT 1) WHERE org_id = $1 AND source = 'events'`)
}

// readBoard is how long the dashboard of thirty days takes, and of those before, at the median.
func (f *fixture) readBoard(ctx context.Context, org id.Org, now time.Time) (time.Duration, error) {
	d, err := dashboard.Find(dashboard.Overview)
	if err != nil {
		return 0, err
	}
	q := dashboard.Query{Compare: true, Period: dashboard.Period{From: now.AddDate(0, 0, -30), To: now, Granularity: dashboard.Day, Zone: time.UTC}}
	return medianOf(21, func() error {
		_, err := dashboard.Read(ctx, f.backend.Tenants, org, d, q, now)
		return err
	})
}

// countNext is how long it takes to count one session that ends now, at the median.
func (f *fixture) countNext(ctx context.Context, org id.Org, now time.Time) (time.Duration, error) {
	n := 0
	return medianOf(21, func() error {
		n++
		if err := f.log1(ctx, org, now.Add(time.Duration(n)*time.Millisecond)); err != nil {
			return err
		}
		_, err := dashboard.Advance(ctx, f.backend.Tenants, org)
		return err
	})
}

// log1 enters a session that ended.
func (f *fixture) log1(ctx context.Context, org id.Org, at time.Time) error {
	return f.exec(ctx, org, `
		INSERT INTO event (org_id, id, type, created_at, data) VALUES ($1, $2, 'session.ended', $3,
			'{"kind": "conversation", "language": "en", "endReason": "left", "durationS": 180, "billedS": 180, "turnCount": 12}')`,
		id.FirstEvent(at), at)
}

// medianOf is how long something takes at the median.
func medianOf(times int, do func() error) (time.Duration, error) {
	all := make([]time.Duration, times)
	for i := range all {
		began := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		all[i] = time.Since(began)
	}
	slices.Sort(all)
	return all[times/2], nil
}
