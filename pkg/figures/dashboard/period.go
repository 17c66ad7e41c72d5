package dashboard

import (
	"time"

	"visavis.dev/pkg/base/errdefs"
)

// Granularity is how long the parts of a period are.
type Granularity string

// The granularities. Parts begin by the clock and the calendar of the time zone, weeks on
// Mondays.
const (
	Hour  Granularity = "hour"
	Day   Granularity = "day"
	Week  Granularity = "week"
	Month Granularity = "month"
)

// Granularities lists every granularity.
func Granularities() []Granularity { return []Granularity{Hour, Day, Week, Month} }

// longest is how many days a period of a granularity may be long.
var longest = map[Granularity]int{Hour: 31, Day: 100, Week: 400, Month: 400}

// Period is what is asked for. From and To are moments; what is counted is of whole quarters of
// an hour, so From is moved down to one and To up.
type Period struct {
	From, To    time.Time
	Granularity Granularity
	Zone        *time.Location
}

// whole moves the ends to slots. The error is errdefs.Invalid of "from" or "to".
func (p Period) whole() (Period, error) {
	if p.From.UTC().Year() < 2000 || p.To.UTC().Year() > 9000 {
		return p, errdefs.InvalidField("from", "The period is outside the years 2000 to 9000.")
	}
	from, to := slotOf(p.From), slotOf(p.To)
	if to.Before(p.To) {
		to = to.Add(slot)
	}
	switch days := longest[p.Granularity]; {
	case !from.Before(to):
		return p, errdefs.InvalidField("to", "to must be later than from.")
	case to.Sub(from) > time.Duration(days)*24*time.Hour+time.Hour: // an hour for the clocks that are put back
		return p, errdefs.InvalidField("to", "A period with the granularity %s is %d days long at most.", p.Granularity, days)
	}
	p.From, p.To = from, to
	return p, nil
}

// previous is the period of the same length before.
func (p Period) previous() Period {
	p.From, p.To = p.From.Add(p.From.Sub(p.To)), p.From
	return p
}

// start is when the part begins that a moment is in.
func (p Period) start(t time.Time) time.Time {
	t = t.In(p.Zone)
	year, month, day := t.Date()
	switch p.Granularity {
	case Hour:
		return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	case Week:
		day -= (int(t.Weekday()) + 6) % 7
	case Month:
		day = 1
	case Day:
	}
	return p.beginning(year, month, day)
}

// next is when the part after one begins, which is later.
func (p Period) next(start time.Time) time.Time {
	if p.Granularity == Hour {
		return start.Add(time.Hour)
	}
	year, month, day := start.In(p.Zone).Date()
	switch p.Granularity {
	case Week:
		day += 7
	case Month:
		month++
	default:
		day++
	}
	if next := p.beginning(year, month, day); next.After(start) {
		return next
	}
	return start.AddDate(0, 0, 1)
}

// beginning is the first moment of a day. There are days without a midnight, where clocks are put
// forward at it, and with two.
func (p Period) beginning(year int, month time.Month, day int) time.Time {
	at := time.Date(year, month, day, 0, 0, 0, 0, p.Zone)
	wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	dayOf := func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	for n := 0; n < slotsOfDay && dayOf(at).Before(wanted); n++ {
		at = at.Add(slot)
	}
	for n := 0; n < slotsOfDay && !dayOf(at.Add(-slot)).Before(wanted); n++ {
		at = at.Add(-slot)
	}
	return at
}

const (
	// slotsOfDay is the most by which clocks are ever put forward: a day.
	slotsOfDay = int(24 * time.Hour / slot)
	// mostParts is more than a period has at its longest.
	mostParts = 1000
)

// parts are the beginnings of the parts of a period, the first of which may be before it.
func (p Period) parts() (starts []time.Time) {
	for at := p.start(p.From); at.Before(p.To) && len(starts) < mostParts; at = p.next(at) {
		starts = append(starts, at)
	}
	return starts
}
