package dashboard

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Parts begin where the clock and the calendar say so, in zones too whose clocks are put forward
// or back at midnight.
func TestPartsBeginByTheClock(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "America/Santiago", "America/Havana", "Atlantic/Azores", "America/Asuncion",
		"America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo",
	}
	changes := map[string][]time.Time{}
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		at := time.Date(2012, 1, 1, 0, 0, 0, 0, zone)
		for _, end := at.ZoneBounds(); !end.IsZero() && end.Year() < 2028; _, end = end.ZoneBounds() {
			changes[name] = append(changes[name], end)
		}
		changes[name] = append(changes[name], at.AddDate(3, 2, 0))
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		p := Period{Granularity: rapid.SampledFrom(Granularities()).Draw(t, "granularity")}
		p.From = slotOf(rapid.SampledFrom(changes[name]).Draw(t, "near").Add(-time.Duration(rapid.IntRange(0, 400).Draw(t, "before")) * slot))
		p.To = p.From.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "long")) * slot)
		p.Zone, _ = time.LoadLocation(name)
		var want []time.Time
		for at, last := p.From, ""; at.Before(p.To); at = at.Add(slot) {
			if label := labelOf(p, at); label != last {
				last = label
				want = append(want, at)
			}
		}
		got := p.parts()
		require.Len(t, got, len(want))
		require.False(t, got[0].After(p.From))
		for i := range want[1:] {
			require.True(t, want[i+1].Equal(got[i+1]), "%s instead of %s", got[i+1], want[i+1])
		}
	})
}

func labelOf(p Period, at time.Time) string {
	at = at.In(p.Zone)
	year, week := at.ISOWeek()
	return map[Granularity]string{
		Hour: at.Format("2006-01-02 15 -0700"), Day: at.Format("2006-01-02"), Week: fmt.Sprint(year, week), Month: at.Format("2006-01"),
	}[p.Granularity]
}
