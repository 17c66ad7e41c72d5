package calendars

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// Reader gathers when events are, from the texts that hold them.
type Reader struct {
	Within Span
	Zone   *time.Location
	// Now is the time by which a reader stops: texts can be made to take long.
	Now func() time.Time

	busy []Span
	ours map[Key]Span
	// began is when the first text was read, and spent how many moments were worked out.
	began time.Time
	spent int
}

// The bounds of what is worked out.
const (
	// longestRule is in bytes.
	longestRule = 1000
	// mostOfSeries bounds the moments of a series, those before the time that is read included: more
	// than a century of days.
	mostOfSeries = 50_000
	// mostInAll bounds those of a calendar.
	mostInAll = 500_000
	// mostDaily is how often in a day a series can be for its moments to be told apart.
	mostDaily    = 48
	mostInterval = 10_000
	// readWithin bounds the work in time.
	readWithin = 5 * time.Second
)

// ErrTooMuch says that a calendar is more than is read.
var ErrTooMuch = errors.New("the calendar holds more than is read")

// Add reads a text. The error is ErrTooMuch, that of the context, or that the text is no iCalendar, of which nothing was
// read then.
func (r *Reader) Add(ctx context.Context, text string) error {
	if r.began.IsZero() {
		r.began, r.ours = r.Now(), map[Key]Span{}
	}
	if err := r.goOn(ctx); err != nil {
		return err
	}
	c, err := Parse(text)
	if err != nil {
		return err
	}
	z := &zones{usual: r.Zone, named: map[string]clock{}, text: c}
	for _, f := range c.named("VFREEBUSY") {
		r.addFreeBusy(f)
	}
	byUID := map[string][]*Component{}
	for _, e := range c.named("VEVENT") {
		uid := e.Text("UID")
		byUID[uid] = append(byUID[uid], e)
	}
	for uid, events := range byUID {
		if err := r.addSeries(ctx, uid, events, z); err != nil {
			return err
		}
	}
	return nil
}

// goOn is an error once reading has taken too long.
func (r *Reader) goOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Now().Sub(r.began) > readWithin {
		return ErrTooMuch
	}
	return nil
}

// Reading is what was read.
func (r *Reader) Reading() Reading {
	busy, until := Merge(r.busy, r.Within)
	return Reading{Busy: busy, Ours: r.ours, Until: until}
}

// addFreeBusy reads the times of a VFREEBUSY that are not free.
func (r *Reader) addFreeBusy(f *Component) {
	for _, l := range f.Lines {
		if l.Name != "FREEBUSY" || strings.EqualFold(l.Params["FBTYPE"], "FREE") {
			continue
		}
		for period := range strings.SplitSeq(l.Value, ",") {
			from, to, _ := strings.Cut(strings.TrimSpace(period), "/")
			start, err := time.Parse(utcForm, from)
			if err != nil {
				continue
			}
			end, err := time.Parse(utcForm, to)
			if err != nil {
				d, _, ok := duration(to)
				if !ok {
					continue
				}
				end = start.Add(d)
			}
			r.busy = append(r.busy, Span{start, end})
		}
	}
}

// event is an event as it counts.
type event struct {
	start moment
	// length is exact, and days are nominal: of whole days.
	length time.Duration
	days   int
	free   bool
}

// moment is a time of an event, on the wall of its zone.
type moment struct {
	wall  time.Time
	clock clock
	date  bool
}

func (m moment) at() time.Time { return m.clock(m.wall) }

// on is the same moment of another day.
func (m moment) on(wall time.Time) moment { return moment{wall, m.clock, m.date} }

// span is when the event is that begins at a moment.
func (e event) span(m moment) Span {
	from := m.at()
	if m.date {
		return Span{from, m.clock(m.wall.AddDate(0, 0, e.days))}
	}
	return Span{from, from.Add(e.length)}
}

// earliest is the first year that is read.
const earliest = "1000"

// utcForm is a time in UTC.
const utcForm = "20060102T150405Z"

// moment reads a DATE or DATE-TIME.
func (z *zones) moment(value, tzid string) (moment, bool) {
	value = strings.TrimSpace(value)
	if value < earliest {
		return moment{}, false
	}
	if wall, err := time.Parse("20060102", value); err == nil {
		return moment{wall, zoneClock(z.usual), true}, true
	}
	if wall, err := time.Parse(utcForm, value); err == nil {
		return moment{wall, zoneClock(time.UTC), false}, true
	}
	wall, err := time.Parse(wallForm, value)
	if err != nil {
		return moment{}, false
	}
	if tzid == "" {
		return moment{wall, zoneClock(z.usual), false}, true
	}
	return moment{wall, z.of(tzid), false}, true
}

func (z *zones) momentOf(c *Component, name string) (moment, bool) {
	l := c.line(name)
	if l == nil {
		return moment{}, false
	}
	return z.moment(l.Value, l.Params["TZID"])
}

// read reads an event; false for one without a time.
func (z *zones) read(c *Component) (event, bool) {
	start, ok := z.momentOf(c, "DTSTART")
	if !ok {
		return event{}, false
	}
	e := event{start: start, free: isFree(c)}
	if start.date {
		e.days = 1
	}
	if end, ok := z.momentOf(c, "DTEND"); ok {
		if start.date {
			e.days = max(int(end.wall.Sub(start.wall)/(24*time.Hour)), 1)
		} else {
			e.length = end.at().Sub(start.at())
		}
	} else if d, days, ok := duration(c.Text("DURATION")); ok {
		e.length = d
		if start.date {
			e.days = max(days, 1)
		}
	}
	return e, true
}

// isFree says whether an event takes no time, or takes place no more.
func isFree(c *Component) bool {
	return strings.EqualFold(c.Text("STATUS"), "CANCELLED") || strings.EqualFold(c.Text("TRANSP"), "TRANSPARENT") ||
		strings.EqualFold(c.Text("X-MICROSOFT-CDO-BUSYSTATUS"), "FREE")
}

// addSeries reads the events of one UID: a master, and those that take the place of some of its own.
func (r *Reader) addSeries(ctx context.Context, uid string, events []*Component, z *zones) error {
	single, masters, replaced, err := r.apart(ctx, events, z)
	if err != nil {
		return err
	}
	key, ours := KeyOfUID(uid)
	ours = ours && len(single) == 1 && len(masters) == 0
	for _, c := range single {
		if err := r.goOn(ctx); err != nil {
			return err
		}
		e, ok := z.read(c)
		if !ok || e.free && !ours {
			continue
		}
		s := e.span(e.start)
		if ours {
			if !strings.EqualFold(c.Text("STATUS"), "CANCELLED") {
				r.ours[key] = s
			}
			continue
		}
		r.busy = append(r.busy, s)
	}
	for _, c := range masters {
		if err := r.goOn(ctx); err != nil {
			return err
		}
		if e, ok := z.read(c); ok && !e.free {
			if err := r.addMaster(ctx, c, e, z, replaced); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart tells single events of a UID from its masters, and says whose moments the single ones take the place of.
func (r *Reader) apart(ctx context.Context, events []*Component, z *zones) (single, masters []*Component, replaced map[int64]bool, err error) {
	replaced = map[int64]bool{}
	for _, c := range events {
		if err := r.goOn(ctx); err != nil { // zones take their time too
			return nil, nil, nil, err
		}
		if at, ok := z.momentOf(c, "RECURRENCE-ID"); ok {
			replaced[at.at().Unix()] = true
			single = append(single, c)
			continue
		}
		if c.line("RRULE") == nil && c.line("RDATE") == nil {
			single = append(single, c)
			continue
		}
		masters = append(masters, c)
	}
	return single, masters, replaced, nil
}

// addMaster works out when a series is.
func (r *Reader) addMaster(ctx context.Context, c *Component, e event, z *zones, replaced map[int64]bool) error {
	for _, l := range c.Lines {
		if l.Name != "EXDATE" {
			continue
		}
		for text := range strings.SplitSeq(l.Value, ",") {
			at, ok := z.moment(text, l.Params["TZID"])
			switch {
			case !ok:
			case at.date && !e.start.date: // of the day of a time
				replaced[e.start.clock(at.wall.Add(e.start.wall.Sub(e.start.wall.Truncate(24*time.Hour)))).Unix()] = true
			default:
				replaced[at.at().Unix()] = true
			}
		}
	}
	add := func(m moment) {
		if s := e.span(m); !replaced[s.From.Unix()] && s.From.Before(r.Within.To) && s.To.After(r.Within.From) {
			r.busy = append(r.busy, s)
		}
	}
	for _, l := range c.Lines {
		if l.Name != "RDATE" {
			continue
		}
		for text := range strings.SplitSeq(l.Value, ",") {
			begin, _, _ := strings.Cut(text, "/") // a PERIOD counts as long as the others
			if m, ok := z.moment(begin, l.Params["TZID"]); ok {
				if r.spent++; r.spent > mostInAll {
					return ErrTooMuch
				}
				m.date = e.start.date
				add(m)
			}
		}
	}
	rule := c.Text("RRULE")
	if rule == "" {
		add(e.start)
		return nil
	}
	return r.addRule(ctx, rule, e, add)
}

// addRule works out when a rule has an event be. One that cannot be followed, or has it be too often,
// counts as busy all the time that it lasts.
func (r *Reader) addRule(ctx context.Context, rule string, e event, add func(moment)) error {
	if err := r.goOn(ctx); err != nil { // rules that have nothing be take their time too
		return err
	}
	o, err := rrule.StrToROption(strings.ToUpper(rule))
	if len(rule) > longestRule || err != nil || often(o) {
		until := r.Within.To
		if err == nil && !o.Until.IsZero() { // in whatever zone that is
			until = o.Until.Add(24 * time.Hour)
		}
		r.busy = append(r.busy, Span{e.start.at(), until})
		return nil
	}
	o.Dtstart = e.start.wall
	switch {
	case o.Until.IsZero():
		o.Until = farAhead
	case untilUTC(rule):
		// Up to which time on the wall: the last whose moment is not after it.
		o.Until = wallOf(e.start.clock, o.Until)
	case untilDate(rule):
		o.Until = o.Until.Add(24*time.Hour - time.Second)
	}
	// The first one is of the series whether the rule says so or not (RFC 5545, 3.8.5.3).
	add(e.start)
	var stopped error
	end, n := r.Within.To.Add(24*time.Hour), 0
	err = each(o, func(wall time.Time) bool {
		if r.spent++; r.spent > mostInAll {
			stopped = ErrTooMuch
		} else {
			stopped = r.goOn(ctx)
		}
		if stopped != nil {
			return false
		}
		if wall.After(end) {
			return false
		}
		if n++; n > mostOfSeries {
			r.busy = append(r.busy, Span{e.start.clock(wall), r.Within.To})
			return false
		}
		if !wall.Equal(e.start.wall) {
			add(e.start.on(wall))
		}
		return true
	})
	switch {
	case stopped != nil:
		return stopped
	case err != nil:
		r.busy = append(r.busy, Span{e.start.at(), r.Within.To})
	}
	return nil
}

// errRule says that a rule cannot be followed.
var errRule = errors.New("the rule cannot be followed")

// each goes through the moments of a rule as long as it is told to. The library panics at some rules, which are
// strangers' to make.
func each(o *rrule.ROption, do func(wall time.Time) bool) (err error) {
	defer func() {
		if recover() != nil {
			err = errRule
		}
	}()
	series, err := rrule.NewRRule(*o)
	if err != nil {
		return err
	}
	for next := series.Iterator(); ; {
		if wall, more := next(); !more || !do(wall) {
			return nil
		}
	}
}

// often says whether a rule has its event be too often to be told apart, or is beyond what the library can count.
func often(o *rrule.ROption) bool {
	return o.Freq > rrule.DAILY || o.Interval > mostInterval || max(len(o.Byhour), 1)*max(len(o.Byminute), 1)*max(len(o.Bysecond), 1) > mostDaily
}

func until(rule string) string {
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		if value, ok := strings.CutPrefix(strings.TrimSpace(part), "UNTIL="); ok {
			return value
		}
	}
	return ""
}

func untilUTC(rule string) bool  { return strings.HasSuffix(until(rule), "Z") }
func untilDate(rule string) bool { return len(until(rule)) == len("20060102") }

// wallOf is what a clock shows at a moment, to within its own changes.
func wallOf(c clock, at time.Time) time.Time {
	wall := at.UTC()
	for range 3 {
		wall = wall.Add(at.Sub(c(wall)))
	}
	return wall
}

// longestDuration bounds a DURATION: what is longer is no event.
const longestDuration = 10 * 366 * 24 * time.Hour

// duration reads a DURATION such as PT1H30M; days are its whole ones.
func duration(text string) (d time.Duration, days int, ok bool) {
	rest, found := strings.CutPrefix(strings.TrimPrefix(strings.ToUpper(text), "+"), "P")
	if !found {
		return 0, 0, false
	}
	units := map[byte]time.Duration{'W': 7 * 24 * time.Hour, 'D': 24 * time.Hour, 'H': time.Hour, 'M': time.Minute, 'S': time.Second}
	digits := ""
	for i := range len(rest) {
		switch b := rest[i]; {
		case b == 'T':
		case b >= '0' && b <= '9' && len(digits) < 9:
			digits += string(b)
		default:
			n, err := strconv.Atoi(digits)
			unit := units[b]
			if err != nil || unit == 0 || time.Duration(n) > longestDuration/unit {
				return 0, 0, false
			}
			if d += time.Duration(n) * unit; d > longestDuration {
				return 0, 0, false
			}
			digits = ""
		}
	}
	return d, int(d / (24 * time.Hour)), digits == ""
}
