package dashboard_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// TestFiguresAreThoseOfTheLog has anything happen, counted now and then, by two at once and
// interrupted; whatever is asked then is what the log says.
func TestFiguresAreThoseOfTheLog(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(newHistory(t, tenants, org))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
			w.happen(t)
			switch rapid.IntRange(0, 9).Draw(t, "counts") {
			case 0:
				w.count()
			case 1:
				var two sync.WaitGroup
				two.Go(w.count)
				two.Go(w.count)
				two.Wait()
			case 2:
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rapid.IntRange(0, 4).Draw(t, "ms"))*time.Millisecond)
				_, _ = dashboard.Advance(ctx, w.tenants, w.org) // wherever it gets to
				cancel()
			}
		}
		w.count()
		w.now = w.now.Add(time.Hour)
		all := w.recount()
		for range 3 {
			q := w.query(t)
			for _, k := range dashboard.Keys() {
				if d, _ := dashboard.Find(k); !q.Portal.IsZero() && !d.ByPortal || !q.Unit.IsZero() && !d.ByUnit {
					continue
				}
				got := w.tiles(k, q)
				w.possible(k, got)
				for _, name := range slices.Sorted(maps.Keys(want[k])) {
					all.check(t, k, name, want[k][name], q, got)
				}
			}
		}
	})
}

// possible holds that no count is less than nothing, and no part more than its whole.
func (w *world) possible(k dashboard.Key, got map[string]*float64) {
	d, err := dashboard.Find(k)
	require.NoError(w.t, err)
	for _, tile := range d.Tiles() {
		for name, v := range got {
			if v == nil || strings.TrimPrefix(strings.SplitN(name, "@", 2)[0], "previous ") != tile.Key {
				continue
			}
			require.GreaterOrEqual(w.t, *v, 0.0, "%s %s", k, name)
			if tile.Unit == "percent" {
				require.LessOrEqual(w.t, *v, 100.0, "%s %s", k, name)
			}
		}
	}
}

// query draws what is asked.
func (w *world) query(t *rapid.T) dashboard.Query {
	zone, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham", "Atlantic/Azores"}).Draw(t, "zone"))
	require.NoError(t, err)
	q := dashboard.Query{Compare: true, Portal: rapid.SampledFrom(w.portals).Draw(t, "portal"), Period: dashboard.Period{
		Granularity: rapid.SampledFrom(dashboard.Granularities()).Draw(t, "granularity"), Zone: zone,
		From: start.Add(time.Duration(rapid.IntRange(-60, 300).Draw(t, "from")) * 15 * time.Minute),
	}}
	q.To = q.From.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "long")) * 15 * time.Minute)
	if q.Portal == w.portals[1] && rapid.Bool().Draw(t, "of a unit") {
		q.Unit = w.units[1]
	}
	return q
}

// figure is how a tile is worked out.
type figure func(r *recounted, q dashboard.Query, from, to time.Time) *float64

func plain(name string, by float64) figure {
	return func(r *recounted, q dashboard.Query, from, to time.Time) *float64 {
		n, _ := r.sum(q, from, to, name)
		return new(math.Round(n/by*10) / 10)
	}
}

func ofPeople(name string) figure {
	return func(r *recounted, q dashboard.Query, from, to time.Time) *float64 {
		if n, known := r.sum(q, from, to, name); known && n >= 0 { // more can be taken off in a part of time than is counted in it
			return &n
		}
		return nil
	}
}

func quotient(part string, by float64, of ...string) figure {
	return func(r *recounted, q dashboard.Query, from, to time.Time) *float64 {
		n, _ := r.sum(q, from, to, part)
		var all float64
		for _, name := range of {
			m, _ := r.sum(q, from, to, name)
			all += m
		}
		if share := math.Round(n*by/all*10) / 10; all > 0 && n >= 0 && (share <= 100 || !slices.Contains(shares, part)) {
			return &share
		}
		return nil
	}
}

// shares are the parts that are shown in percent of a whole.
var shares = []string{"resolved", "sum", "interruptions", "grounded true", "passed"}

// want are the tiles as the log has them.
var want = map[dashboard.Key]map[string]figure{
	dashboard.Overview: {
		"sessions": plain("sessions", 1), "minutes": plain("seconds", 60), "resolution": quotient("resolved", 100, "outcomes"),
		"rating": quotient("sum", 1, "ratings"), "ratings": ofPeople("ratings"),
		"peakConcurrency": func(r *recounted, q dashboard.Query, from, to time.Time) *float64 { return new(r.peak(q, from, to)) },
	},
	dashboard.Conversations: {
		"averageS": quotient("seconds", 1, "sessions"), "interruptions": quotient("interruptions", 100, "avatarTurns"),
	},
	dashboard.Questions: {
		"answered": quotient("grounded true", 100, "grounded true", "grounded false"), "unanswered": plain("grounded false", 1), "gaps": plain("gaps", 1),
	},
	dashboard.Learning: {
		"completions": ofPeople("completions"), "assignments": ofPeople("assignments"), "results": ofPeople("results"),
		"passRate": quotient("passed", 100, "results"),
	},
	dashboard.Inbox: {
		"hotLeads": plain("hot", 1), "warmLeads": plain("warm", 1), "coldLeads": plain("cold", 1), "handoffs": plain("handoffs", 1), "bookings": plain("bookings", 1), "joined": plain("joined", 1),
	},
	dashboard.Hiring: {
		"invited": ofPeople("invited"), "advanced": ofPeople("advance"), "rejected": ofPeople("reject"), "hired": ofPeople("hire"),
	},
	dashboard.Usage: {"minutes": plain("billed", 60), "sandboxMinutes": plain("sandbox", 60)},
}

// unitless are the tiles that are not counted of units.
var unitless = []string{"sessions", "minutes", "resolution", "peakConcurrency"}

// check holds a tile, that of the period before, and its parts against the log.
func (r *recounted) check(t *rapid.T, k dashboard.Key, name string, f figure, q dashboard.Query, got map[string]*float64) {
	about := fmt.Sprint(k, " ", name, " ", q)
	if !q.Unit.IsZero() && slices.Contains(unitless, name) {
		require.Nil(t, got[name], about)
		return
	}
	require.Equal(t, f(r, q, q.From, q.To), got[name], about)
	require.Equal(t, f(r, q, q.From.Add(q.From.Sub(q.To)), q.From), got["previous "+name], about)
	for i, part := range partsOf(q) {
		if point, drawn := got[fmt.Sprint(name, "@", i)]; drawn {
			require.Equal(t, f(r, q, part[0], part[1]), point, "%s, part %d", about, i)
		}
	}
}

// partsOf are the parts of a period, found by looking at each quarter of an hour.
func partsOf(q dashboard.Query) (parts [][2]time.Time) {
	label := func(at time.Time) string {
		at = at.In(q.Zone)
		year, week := at.ISOWeek()
		switch q.Granularity {
		case dashboard.Hour:
			return at.Format("2006-01-02 15 -0700")
		case dashboard.Day:
			return at.Format("2006-01-02")
		case dashboard.Week:
			return fmt.Sprint(year, week)
		default:
			return at.Format("2006-01")
		}
	}
	last := ""
	for at := q.From; at.Before(q.To); at = at.Add(15 * time.Minute) {
		if l := label(at); l != last {
			last = l
			parts = append(parts, [2]time.Time{at, at})
		}
		parts[len(parts)-1][1] = at.Add(15 * time.Minute)
	}
	return parts
}

func TestPercentilesAreNearTheTimes(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	s := id.NewSession()
	h.session(s, id.Portal{}, id.Person{}, id.Membership{}, false)
	for i := range 20 {
		h.turn(s, i, int64(i+1)*100, nil, false)
	}
	h.tell(event.SessionEnded, map[string]any{"sessionId": s, "kind": "conversation", "language": "en", "endReason": "left", "durationS": 5})
	h.count()
	got := h.tiles(dashboard.Conversations, dashboard.Query{Period: dashboard.Period{From: start, To: start.Add(time.Hour), Granularity: dashboard.Day, Zone: time.UTC}})
	for tile, ms := range map[string]float64{"responseP50": 1000, "responseP90": 1800, "responseP95": 1900} {
		require.InDelta(t, ms*1.05, *got[tile], ms*0.05+1, tile)
	}
}
