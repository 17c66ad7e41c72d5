package slot

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Slot is a time of an appointment.
type Slot struct {
	StartsAt, EndsAt time.Time
	// From and To are the same with the buffers before and after.
	From, To time.Time
}

// Busy is a time that is reserved, with its buffers, or that a calendar is busy: then nothing is beside it.
type Busy struct {
	From, To time.Time
	Whole    bool
}

// slot is the time of a kind that begins at a moment.
func (k *Kind) slot(at time.Time) Slot {
	ends := at.Add(k.Duration())
	return Slot{at, ends, at.Add(-minutes(k.BufferBeforeMinutes)), ends.Add(minutes(k.BufferAfterMinutes))}
}

// Window is between which moments times of a plan can be reserved at a moment.
func (p *Plan) Window(now time.Time) (from, to time.Time) {
	return now.Add(minutes(p.NoticeMinutes)), now.AddDate(0, 0, int(p.HorizonDays))
}

// Offered are the times of a kind that begin from one moment and before another and are free, in
// order, at most limit of them. busy is what is reserved around them.
func (p *Plan) Offered(k Kind, now, from, to time.Time, busy []Busy, limit int) ([]Slot, error) {
	zone, err := p.Zone()
	if err != nil {
		return nil, err
	}
	least, most := p.Window(now)
	if from.Before(least) {
		from = least
	}
	if to.After(most) {
		to = most
	}
	found := []Slot{}
	// A day before the first: at the edges of the earth's dates it is still that.
	for date := day(from.In(zone)).AddDate(0, 0, -1); len(found) < limit && !resolve(date, 0, zone).After(to); date = date.AddDate(0, 0, 1) {
		near := around(date, busy)
		for _, at := range p.beginnings(k, date, zone) {
			if s := k.slot(at); !at.Before(from) && at.Before(to) && p.free(s, near) && len(found) < limit {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// around is what is reserved within days of a date: nothing else is in the way of its times.
func around(date time.Time, busy []Busy) (near []Busy) {
	from, to := date.Add(-2*longest), date.Add(2*longest)
	for _, b := range busy {
		if b.To.After(from) && b.From.Before(to) {
			near = append(near, b)
		}
	}
	return near
}

// day is the date of a moment, at midnight UTC, where days are counted without a zone's jumps.
func day(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// beginnings are when appointments of a kind begin on a date, in order. Time passes between them as
// clocks on the wall do not: an hour that is skipped has none, and one that comes twice has them
// twice.
func (p *Plan) beginnings(k Kind, date time.Time, zone *time.Location) (all []time.Time) {
	spans := slices.Clone(p.spans(date))
	slices.SortFunc(spans, func(a, b Span) int { return strings.Compare(a.From, b.From) })
	for _, s := range spans {
		from, _ := clock(s.From)
		to, _ := clock(s.To)
		end := resolve(date, to, zone)
		for at := resolve(date, from, zone); !at.Add(k.Duration()).After(end); at = at.Add(minutes(p.StepMinutes)) {
			all = append(all, at)
		}
	}
	return all
}

// resolve is the moment of a time on the wall, in minutes of a date: the first of two, and for one
// that is skipped the moment of the jump.
func resolve(date time.Time, minute int, zone *time.Location) time.Time {
	y, m, d := date.Date()
	t := time.Date(y, m, d, 0, minute, 0, 0, zone)
	wall := time.Date(y, m, d, 0, minute, 0, 0, time.UTC)
	since, until := t.ZoneBounds()
	if got := walled(t); !got.Equal(wall) {
		if got.Before(wall) {
			return until
		}
		return since
	}
	if !since.IsZero() {
		_, now := t.Zone()
		_, before := since.Add(-time.Second).In(zone).Zone()
		if first := t.Add(time.Duration(now-before) * time.Second); first.Before(t) && walled(first.In(zone)).Equal(wall) {
			return first
		}
	}
	return t
}

// walled is what clocks on the wall show at a moment, as if it were UTC.
func walled(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// free says whether there is room for a time beside what is reserved.
func (p *Plan) free(s Slot, busy []Busy) bool {
	if slices.ContainsFunc(busy, func(b Busy) bool { return b.Whole && b.From.Before(s.To) && b.To.After(s.From) }) {
		return false
	}
	return peak(s, busy) < max(p.Capacity, 1)
}

// peak is how many are reserved at once during a time, at most.
func peak(s Slot, busy []Busy) (most int64) {
	type edge struct {
		at time.Time
		n  int64
	}
	var edges []edge
	for _, b := range busy {
		if !b.Whole && b.From.Before(s.To) && b.To.After(s.From) {
			edges = append(edges, edge{b.From, 1}, edge{b.To, -1})
		}
	}
	// What ends at a moment makes room for what begins then.
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
	var n int64
	for _, e := range edges {
		n += e.n
		most = max(most, n)
	}
	return most
}

// Offers says whether a plan offers a time of a kind that begins at a moment, whoever has reserved it.
func (p *Plan) Offers(k Kind, at time.Time) (bool, error) {
	zone, err := p.Zone()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(p.beginnings(k, day(at.In(zone)), zone), at.Equal), nil
}
