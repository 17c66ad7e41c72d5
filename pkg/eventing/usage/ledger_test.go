package usage_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// ledger is an organization's minutes.
type ledger struct {
	t       require.TestingT
	tenants *tenant.Tenants
	db      *database.DB
	org     id.Org
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	tenants, org, _ := tenanttest.New(t)
	db, err := tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	return &ledger{t, tenants, db, org}
}

func (l *ledger) grant(minutes int64, expires *time.Time) {
	require.NoError(l.t, usage.GrantMinutes(context.Background(), l.tenants, l.org, uuid.New(), minutes, now, expires))
}

func (l *ledger) exec(sql string, args ...any) {
	_, err := l.db.Exec(context.Background(), sql, args...)
	require.NoError(l.t, err)
}

// number is the answer of a query of one number of the organization's.
func (l *ledger) number(sql string, args ...any) (n int64) {
	require.NoError(l.t, l.db.QueryRow(context.Background(), sql, append([]any{l.org}, args...)...).Scan(&n))
	return n
}

func (l *ledger) left() int64 {
	return l.number(`SELECT COALESCE(sum(remaining_s), 0)::BIGINT FROM minute_grant WHERE org_id = $1`)
}

func (l *ledger) used() int64 {
	return l.number(`SELECT COALESCE(sum(seconds), 0)::BIGINT FROM usage_block WHERE org_id = $1 AND NOT sandbox`)
}

func block(s id.Session, index int64, at time.Time) usage.Block {
	return usage.Block{Session: s, Index: index, Kind: "conversation", Persona: id.Persona{1}, At: at, PaidAt: now}
}

// debit pays for a block and answers the warnings.
func (l *ledger) debit(b usage.Block, m usage.Means) (seconds int64, warnings []event.Draft) {
	require.NoError(l.t, l.tenants.InTx(context.Background(), l.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		seconds, err = usage.Debit(ctx, tx, b, m)
		warnings = event.Emitted(tx)
		return err
	}))
	return seconds, warnings
}

func (l *ledger) settle(s id.Session, usedS int64) (paid int64) {
	require.NoError(l.t, l.tenants.InTx(context.Background(), l.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		paid, err = usage.Settle(ctx, tx, s, usedS)
		return err
	}))
	return paid
}

func TestTheMinutesThatExpireFirstAreUsedFirst(t *testing.T) {
	l := newLedger(t)
	soon, late, past := now.Add(time.Hour), now.Add(48*time.Hour), now
	for _, expires := range []*time.Time{nil, &late, &past, &soon} {
		l.grant(1, expires)
	}
	l.exec(`UPDATE minute_grant SET remaining_s = 45 WHERE expires_at IS DISTINCT FROM $1`, past)
	s := id.NewSession()
	// What is left of each, the first to expire before others.
	remaining := func() (left []int64) {
		require.NoError(t, l.db.QueryRow(t.Context(), `
			SELECT array_agg(remaining_s ORDER BY expires_at IS NULL, expires_at) FROM minute_grant WHERE org_id = $1`, l.org).Scan(&left))
		return left
	}
	paid, _ := l.debit(block(s, 0, now), usage.Means{})
	require.EqualValues(t, 60, paid)
	require.Equal(t, []int64{60, 0, 30, 45}, remaining(), "expired minutes are not used")
	paid, _ = l.debit(block(s, 1, now), usage.Means{})
	require.EqualValues(t, 60, paid)
	require.Equal(t, []int64{60, 0, 0, 15}, remaining())

	require.EqualValues(t, 70, l.settle(s, 70))
	require.Equal(t, []int64{60, 0, 20, 45}, remaining(), "as if it had paid for 70 seconds only")
	require.EqualValues(t, 10, l.settle(s, 10))
	require.Equal(t, []int64{60, 35, 45, 45}, remaining())
	require.EqualValues(t, 10, l.settle(s, 10))
	require.Equal(t, []int64{60, 35, 45, 45}, remaining(), "given back once")
	require.EqualValues(t, 10, l.number(`SELECT sum(seconds) FROM minute_debit WHERE org_id = $1`))
	require.EqualValues(t, 10, l.number(`SELECT seconds FROM usage_month WHERE org_id = $1`))
}

func TestTheLastMinutesInPart(t *testing.T) {
	l := newLedger(t)
	l.grant(1, nil)
	l.exec(`UPDATE minute_grant SET remaining_s = 25`)
	s := id.NewSession()
	for range 2 {
		paid, _ := l.debit(block(s, 0, now), usage.Means{})
		require.EqualValues(t, 25, paid)
	}
	paid, _ := l.debit(block(s, 1, now), usage.Means{})
	require.Zero(t, paid)
	require.Zero(t, l.left())
	require.EqualValues(t, 1, l.number(`SELECT count(*) FROM usage_block WHERE org_id = $1`), "what is not paid is not entered")
}

func TestSandboxAndUnlimited(t *testing.T) {
	l := newLedger(t)
	free := block(id.NewSession(), 0, now)
	free.Sandbox = true
	paid, warnings := l.debit(free, usage.Means{CapS: new(int64(0))})
	require.EqualValues(t, 60, paid)
	require.Empty(t, warnings)
	require.Zero(t, l.settle(free.Session, 20), "a sandbox session is not billed")
	require.EqualValues(t, 20, l.number(`SELECT seconds FROM usage_block WHERE org_id = $1`))
	require.Zero(t, l.number(`SELECT count(*) FROM usage_month WHERE org_id = $1`))

	paid, warnings = l.debit(block(id.NewSession(), 0, now), usage.Means{Unlimited: true})
	require.EqualValues(t, 60, paid)
	require.Empty(t, warnings)
	require.EqualValues(t, 60, l.number(`SELECT seconds FROM usage_month WHERE org_id = $1`))
}

func TestAvailable(t *testing.T) {
	l := newLedger(t)
	available := func(m usage.Means, at time.Time) (yes bool) {
		require.NoError(t, l.tenants.InTx(t.Context(), l.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			yes, err = usage.Available(ctx, tx, m, at)
			return err
		}))
		return yes
	}
	minute := usage.Means{CapS: new(int64(60))}
	require.False(t, available(usage.Means{}, now), "nothing was granted")
	require.True(t, available(usage.Means{Unlimited: true}, now))
	l.grant(5, new(now.Add(time.Hour)))
	require.True(t, available(usage.Means{}, now))
	require.False(t, available(usage.Means{}, now.Add(time.Hour)), "they have expired")
	require.True(t, available(minute, now))
	l.debit(block(id.NewSession(), 0, now), minute)
	require.False(t, available(minute, now), "the cap is reached")
	require.False(t, available(usage.Means{Unlimited: true, CapS: new(int64(60))}, now))
	l.grant(5, nil)
	require.True(t, available(minute, now.AddDate(0, 1, 0)), "another month")
}

func TestWarnings(t *testing.T) {
	l := newLedger(t)
	l.grant(10, nil)
	capped := usage.Means{CapS: new(int64(540))}
	s := id.NewSession()
	type warning struct {
		block   int64
		kind    string
		percent int64
	}
	var given []warning
	for i := range int64(12) {
		_, drafts := l.debit(block(s, i, now.Add(time.Duration(i)*time.Hour)), capped)
		for _, d := range drafts {
			require.Equal(t, now, d.At, "a block that is paid for ahead warns now")
			given = append(given, warning{i, d.Fields["kind"].(string), d.Fields["threshold"].(int64)})
		}
		if i == 7 {
			require.Equal(t, map[string]any{
				"threshold": int64(20), "kind": "held", "minutesUsed": 8.0, "minutesLeft": 2.0, "minutesHeld": 10.0, "monthlyCapMinutes": 9.0,
				"periodStart": time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), "periodEnd": time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC),
			}, drafts[0].Fields)
		}
	}
	require.Equal(t, []warning{{7, "held", 20}, {7, "cap", 20}, {8, "held", 10}, {8, "cap", 10}, {8, "cap", 0}}, given)
	require.EqualValues(t, 60, l.left(), "the cap keeps the last minute")

	// A new month warns anew, and no more than once after a refund.
	next := now.AddDate(0, 1, 0)
	_, drafts := l.debit(block(s, 20, next), usage.Means{})
	require.Len(t, drafts, 3)
	l.settle(s, 0)
	_, drafts = l.debit(block(id.NewSession(), 0, next), usage.Means{CapS: new(int64(120))})
	require.Empty(t, drafts)
	_, drafts = l.debit(block(id.NewSession(), 0, next), usage.Means{CapS: new(int64(120))})
	require.Len(t, drafts, 3)

	report, err := usage.Of(t.Context(), l.tenants, l.org, now, next, next)
	require.NoError(t, err)
	require.Len(t, report.Reached, 6)
	for i, want := range []warning{{0, "cap", 20}, {0, "cap", 10}, {0, "cap", 0}, {0, "held", 20}, {0, "held", 10}, {0, "held", 0}} {
		require.Equal(t, want, warning{0, report.Reached[i].Kind, report.Reached[i].Percent})
		require.True(t, now.Equal(report.Reached[i].ReachedAt))
	}
}

func TestManyTakeTheLastMinutes(t *testing.T) {
	for name, c := range map[string]struct {
		grants []int64
		means  usage.Means
		sold   int64
	}{
		"of two grants": {[]int64{7, 4}, usage.Means{}, 11 * 60},
		"of the cap":    {[]int64{100}, usage.Means{CapS: new(int64(7*60 + 30))}, 7*60 + 30},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			for i, minutes := range c.grants {
				l.grant(minutes, new(now.Add(time.Duration(1+i)*time.Hour)))
			}
			before := l.left()
			var sold, warned atomic.Int64
			var all errgroup.Group
			for range 50 {
				all.Go(func() error {
					return l.tenants.InTx(context.Background(), l.org, func(ctx context.Context, tx *tenant.Tx) error {
						paid, err := usage.Debit(ctx, tx, block(id.NewSession(), 0, now), c.means)
						if err == nil {
							sold.Add(paid)
							warned.Add(int64(len(event.Emitted(tx))))
						}
						return err
					})
				})
			}
			require.NoError(t, all.Wait())
			require.Equal(t, c.sold, sold.Load())
			require.Equal(t, before-c.sold, l.left())
			require.Equal(t, c.sold, l.used())
			require.EqualValues(t, 3, warned.Load(), "each warning once")
		})
	}
}

// Sessions that end give back while others pay, over the end of a month.
func TestManyPayAndSettle(t *testing.T) {
	l := newLedger(t)
	for i := range 5 {
		l.grant(3, new(now.AddDate(0, 2, i)))
	}
	edge := time.Date(2026, 7, 31, 23, 59, 30, 0, time.UTC)
	var all errgroup.Group
	for i := range 30 {
		all.Go(func() error {
			s := id.NewSession()
			for index := range int64(4) {
				if err := l.tenants.InTx(context.Background(), l.org, func(ctx context.Context, tx *tenant.Tx) error {
					_, err := usage.Debit(ctx, tx, block(s, index, edge.Add(time.Duration(index)*time.Minute)), usage.Means{})
					return err
				}); err != nil {
					return fmt.Errorf("debit: %w", err)
				}
			}
			return l.tenants.InTx(context.Background(), l.org, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := usage.Settle(ctx, tx, s, int64(i%5))
				return err
			})
		})
	}
	require.NoError(t, all.Wait())
	require.EqualValues(t, 15*60, l.left()+l.used())
	require.Equal(t, l.used(), l.number(`SELECT sum(seconds) FROM usage_month WHERE org_id = $1`))
	require.Equal(t, l.used(), l.number(`SELECT sum(seconds) FROM minute_debit WHERE org_id = $1`))
}
