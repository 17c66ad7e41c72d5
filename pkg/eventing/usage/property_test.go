package usage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/usage"
)

// model is what a ledger should say, worked out simply.
type model struct {
	granted int64
	// blocks are the seconds of each session's blocks.
	blocks map[id.Session]map[int64]int64
	used   int64
	warned map[[2]any]bool
}

// TestAnyUseOfTheLedger debits and settles at random, and holds the ledger
// against what must be true of it at any time.
func TestAnyUseOfTheLedger(t *testing.T) {
	l := newLedger(t)
	rapid.Check(t, func(t *rapid.T) {
		l.t = t
		for _, table := range []string{"minute_grant", "minute_debit", "usage_block", "usage_month", "usage_threshold"} {
			l.exec(`DELETE FROM ` + table)
		}
		m := model{blocks: map[id.Session]map[int64]int64{}, warned: map[[2]any]bool{}}
		for range rapid.IntRange(0, 4).Draw(t, "grants") {
			minutes := rapid.Int64Range(1, 4).Draw(t, "minutes")
			var expires *time.Time
			if rapid.Bool().Draw(t, "expires") {
				expires = new(now.Add(time.Duration(rapid.IntRange(0, 10).Draw(t, "after")) * time.Minute))
			}
			l.grant(minutes, expires)
			m.granted += minutes * 60
		}
		means := usage.Means{}
		if rapid.Bool().Draw(t, "capped") {
			means.CapS = new(rapid.Int64Range(0, 500).Draw(t, "cap"))
		}
		sessions := []id.Session{id.NewSession(), id.NewSession(), id.NewSession()}
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			s := rapid.SampledFrom(sessions).Draw(t, "session")
			if rapid.IntRange(0, 3).Draw(t, "settles") == 0 {
				m.settle(t, l, s, rapid.Int64Range(0, 400).Draw(t, "used"))
			} else {
				m.debit(t, l, s, rapid.Int64Range(0, 5).Draw(t, "block"), means)
			}
			m.check(t, l, means)
		}
	})
}

func (m *model) debit(t *rapid.T, l *ledger, s id.Session, index int64, means usage.Means) {
	at := now.Add(time.Duration(index) * time.Minute)
	before, paidBefore := l.left(), m.used
	usable := l.number(`
		SELECT COALESCE(sum(remaining_s), 0)::BIGINT FROM minute_grant WHERE org_id = $1 AND (expires_at IS NULL OR expires_at > $2)`, at)
	paid, warnings := l.debit(block(s, index, at), means)
	if have, again := m.blocks[s][index]; again {
		require.Equal(t, have, paid, "what is paid for is not paid for again")
		require.Equal(t, before, l.left())
		require.Empty(t, warnings)
		return
	}
	want := min(usage.BlockS, usable)
	if means.CapS != nil {
		want = max(0, min(want, *means.CapS-paidBefore))
	}
	require.Equal(t, want, paid)
	require.Equal(t, before-paid, l.left())
	m.used += paid
	if paid > 0 {
		if m.blocks[s] == nil {
			m.blocks[s] = map[int64]int64{}
		}
		m.blocks[s][index] = paid
	}
	for _, w := range warnings {
		key := [2]any{w.Fields["kind"], w.Fields["threshold"]}
		require.False(t, m.warned[key], "a warning is given once a month")
		m.warned[key] = true
	}
}

func (m *model) settle(t *rapid.T, l *ledger, s id.Session, usedS int64) {
	var paid int64
	for index, have := range m.blocks[s] {
		keep := max(0, min(have, usedS-index*usage.BlockS))
		m.used -= have - keep
		m.blocks[s][index] = keep
		paid += keep
	}
	for range 2 {
		require.Equal(t, paid, l.settle(s, usedS), "settling again changes nothing")
	}
}

func (m *model) check(t *rapid.T, l *ledger, means usage.Means) {
	require.Equal(t, m.used, l.used())
	require.Equal(t, m.granted, l.left()+l.used(), "no second is lost or made")
	require.Zero(t, l.number(`SELECT count(*) FROM minute_grant WHERE org_id = $1 AND (remaining_s < 0 OR remaining_s > seconds)`))
	require.Equal(t, m.used, l.number(`SELECT COALESCE(sum(seconds), 0)::BIGINT FROM usage_month WHERE org_id = $1`))
	require.Equal(t, m.used, l.number(`SELECT COALESCE(sum(seconds), 0)::BIGINT FROM minute_debit WHERE org_id = $1`))
	require.EqualValues(t, len(m.warned), l.number(`SELECT count(*) FROM usage_threshold WHERE org_id = $1`))
	if means.CapS != nil {
		require.LessOrEqual(t, m.used, *means.CapS)
	}
}
