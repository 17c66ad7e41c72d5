package slot

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// How many are reserved at once is what one finds who looks at every minute.
func TestPeak(t *testing.T) {
	noon := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return noon.Add(minutes(int64(minute))) }
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var busy []Busy
		for range r.IntN(12) {
			from := r.IntN(60)
			busy = append(busy, Busy{From: at(from), To: at(from + 1 + r.IntN(30))})
		}
		from := r.IntN(60)
		s := Slot{From: at(from), To: at(from + 1 + r.IntN(40))}
		var want int64
		for m := s.From; m.Before(s.To); m = m.Add(time.Minute) {
			var n int64
			for _, b := range busy {
				if !b.From.After(m) && b.To.After(m) {
					n++
				}
			}
			want = max(want, n)
		}
		require.Equal(t, want, peak(s, busy), "%v in %v", s, busy)
	}
}

// Where not all that is reserved was read, what lies after counts as full.
func TestKnown(t *testing.T) {
	noon := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	found := func() (all []Slot) {
		for n := range 4 {
			at := noon.Add(time.Duration(n) * time.Hour)
			all = append(all, Slot{at, at.Add(time.Hour), at, at.Add(time.Hour)})
		}
		return all
	}
	busy := []Busy{{From: noon, To: noon.Add(time.Hour)}, {From: noon.Add(2 * time.Hour), To: noon.Add(3 * time.Hour)}}
	require.Len(t, known(found(), busy, 3), 4)
	require.Equal(t, found()[:2], known(found(), busy, 2))
}
