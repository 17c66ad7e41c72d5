package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Second by second through two days: an attempt that fails is followed by the
// next of the spec's times, and by none after the last.
func TestNextSecondBySecond(t *testing.T) {
	first := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	due, made := first, []time.Duration{}
	waiting := true
	for now := first; now.Before(first.Add(48 * time.Hour)); now = now.Add(time.Second) {
		if !waiting || now.Before(due) {
			continue
		}
		made = append(made, now.Sub(first))
		due, waiting = next(first, now, 0)
	}
	require.Equal(t, append([]time.Duration{0}, Retries()...), made)
}

func TestPatience(t *testing.T) {
	first := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct{ failed, patience, want time.Duration }{
		"less than the schedule":       {0, 10 * time.Second, time.Minute},
		"more than the schedule":       {0, 90 * time.Second, 90 * time.Second},
		"past several steps":           {0, time.Hour, time.Hour},
		"past the end":                 {0, 48 * time.Hour, 24 * time.Hour},
		"then the schedule goes on":    {90 * time.Second, 0, 5 * time.Minute},
		"after a worker that was late": {40 * time.Minute, 0, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			at, ok := next(first, first.Add(tc.failed), tc.patience)
			require.True(t, ok)
			require.Equal(t, tc.want, at.Sub(first))
		})
	}
	_, ok := next(first, first.Add(24*time.Hour), time.Minute)
	require.False(t, ok, "patience does not lengthen the schedule")
}

func TestNextIsLaterAndWithinTheSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "first"), 0)
		failed := first.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Hour)).Draw(t, "failed")))
		patience := time.Duration(rapid.Int64Range(0, int64(1<<31)*int64(time.Second)).Draw(t, "patience"))
		at, ok := next(first, failed, patience)
		if !ok {
			require.GreaterOrEqual(t, failed.Sub(first), 24*time.Hour)
			return
		}
		require.True(t, at.After(failed))
		require.LessOrEqual(t, at.Sub(first), 24*time.Hour)
	})
}

func TestReadingPatience(t *testing.T) {
	now := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "1.5": 0, "soon": 0, "99999999999999999999": 0,
		"Wed, 08 Jul 2026 12:10:00 GMT": 10 * time.Minute, "Wed, 08 Jul 2026 11:00:00 GMT": 0,
	} {
		require.Equal(t, want, patience(header, now), "%q", header)
	}
}
