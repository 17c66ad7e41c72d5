package calendars

import (
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// clock reads times on the wall of a zone.
type clock func(wall time.Time) time.Time

// zones are those of a text by their names, and the one of what names none.
type zones struct {
	usual *time.Location
	named map[string]clock
	text  *Component
}

// of is the clock of a TZID. Names are those of the IANA's, also after a path that some programs put
// before; of others the text says when their clocks change. What is known nowhere is in the usual zone.
func (z *zones) of(name string) clock {
	if c, known := z.named[name]; known {
		return c
	}
	c := zoneClock(z.usual)
	if zone := iana(name); zone != nil {
		c = zoneClock(zone)
	} else if rules := z.rules(name); rules != nil {
		c = rules
	}
	z.named[name] = c
	return c
}

// iana finds a zone by the end of its name.
func iana(name string) *time.Location {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	for from := max(len(parts)-3, 0); from < len(parts); from++ {
		tail := strings.Join(parts[from:], "/")
		if tail == "" || tail == "Local" || len(tail) > 64 {
			continue
		}
		if zone, err := time.LoadLocation(tail); err == nil {
			return zone
		}
	}
	return nil
}

// zoneClock reads times as RFC 5545, 3.3.5 says: the first of two, and one that is skipped by the offset
// before the jump.
func zoneClock(zone *time.Location) clock {
	return func(wall time.Time) time.Time {
		// A day before any change near by, and a day after, are the two offsets that it can have.
		_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
		_, after := wall.Add(24 * time.Hour).In(zone).Zone()
		early := wall.Add(-time.Duration(before) * time.Second)
		late := wall.Add(-time.Duration(after) * time.Second)
		if _, got := early.In(zone).Zone(); got == before || before == after {
			return early
		}
		if _, got := late.In(zone).Zone(); got == after {
			return late
		}
		return early
	}
}

// onset is when the clocks of a zone change, as its own text says.
type onset struct {
	at       time.Time // on the wall before
	from, to time.Duration
}

// most changes of a zone that are looked at.
const mostOnsets = 2000

// rules reads when clocks change from a VTIMEZONE; nil for none.
func (z *zones) rules(name string) clock {
	if z.text == nil {
		return nil
	}
	for _, zone := range z.text.named("VTIMEZONE") {
		if zone.Text("TZID") != name {
			continue
		}
		if known := iana(zone.Text("X-LIC-LOCATION")); known != nil && zone.Text("X-LIC-LOCATION") != "" {
			return zoneClock(known)
		}
		var all []onset
		for _, part := range zone.Children {
			all = append(all, onsets(part)...)
		}
		if len(all) == 0 {
			return nil
		}
		return func(wall time.Time) time.Time { return wall.Add(-offsetAt(all, wall)) }
	}
	return nil
}

// offsetAt is the offset by the last change before a time on the wall.
func offsetAt(all []onset, wall time.Time) time.Duration {
	var last *onset
	for i := range all {
		o := &all[i]
		// The first of two times that are there twice is before the change, and one that is skipped too.
		if at := o.at.Add(max(o.to-o.from, 0)); !at.After(wall) && (last == nil || o.at.After(last.at)) {
			last = o
		}
	}
	if last != nil {
		return last.to
	}
	first := all[0]
	for _, o := range all {
		if o.at.Before(first.at) {
			first = o
		}
	}
	return first.from
}

// onsets are the changes of a STANDARD or DAYLIGHT, until far ahead.
func onsets(part *Component) (all []onset) {
	from, okFrom := offset(part.Text("TZOFFSETFROM"))
	to, okTo := offset(part.Text("TZOFFSETTO"))
	start, err := time.Parse(wallForm, part.Text("DTSTART"))
	if err != nil || !okFrom || !okTo {
		return nil
	}
	all = append(all, onset{start, from, to})
	for _, l := range part.Lines {
		if l.Name != "RDATE" {
			continue
		}
		for text := range strings.SplitSeq(l.Value, ",") {
			if at, err := time.Parse(wallForm, strings.TrimSpace(text)); err == nil && len(all) < mostOnsets {
				all = append(all, onset{at, from, to})
			}
		}
	}
	rule := part.Text("RRULE")
	if rule == "" {
		return all
	}
	o, err := rrule.StrToROption(rule)
	if err != nil || o.Freq != rrule.YEARLY || len(rule) > longestRule || often(o) {
		return all
	}
	if o.Until.IsZero() {
		o.Until = farAhead
	} else {
		o.Until = o.Until.Add(from)
	}
	o.Dtstart = start
	n := 0
	_ = each(o, func(at time.Time) bool { // what is known by then holds
		if n++; n > mostOnsets || at.Year() > 2200 {
			return false
		}
		all = append(all, onset{at, from, to})
		return true
	})
	return all
}

// farAhead ends what has no end: the library would end it after 292 years.
var farAhead = time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC)

// wallForm is a time without a zone.
const wallForm = "20060102T150405"

// offset reads a UTC-OFFSET such as +0100.
func offset(text string) (time.Duration, bool) {
	if len(text) != 5 && len(text) != 7 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	n, err := strconv.Atoi(text[1:])
	if err != nil {
		return 0, false
	}
	if len(text) == 5 {
		n *= 100
	}
	d := time.Duration(n/10000)*time.Hour + time.Duration(n/100%100)*time.Minute + time.Duration(n%100)*time.Second
	if text[0] == '-' {
		d = -d
	}
	return d, true
}
