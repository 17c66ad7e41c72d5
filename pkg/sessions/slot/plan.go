// Package slot is times that are offered and reserved: of bookings in the inbox, and of candidates'
// interviews with people. A schedule says in which hours times are offered (spec, Inbox); who
// reserves one holds the row of whoever's time it is, so that nobody else gets the same.
package slot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
)

// Plan is in which hours times are offered, and of what.
type Plan struct {
	// Timezone is the IANA name of the zone that hours are in.
	Timezone string `json:"timezone"`
	// Hours are those of every week, Exceptions those of single dates, in place of the week's.
	Hours      []Hours     `json:"hours"`
	Exceptions []Exception `json:"exceptions"`
	// Kinds are the appointments that are offered.
	Kinds []Kind `json:"kinds"`
	// StepMinutes lie between the beginnings of two times that are offered.
	StepMinutes int64 `json:"stepMinutes"`
	// NoticeMinutes lie at least between a reservation and its time, HorizonDays at most.
	NoticeMinutes int64 `json:"noticeMinutes"`
	HorizonDays   int64 `json:"horizonDays"`
	// Capacity is how many are reserved at the same time at most.
	Capacity int64 `json:"capacity"`
	// Calendar is where appointments are kept too, and whose times are not offered; nil for nowhere.
	Calendar *Calendar `json:"calendar,omitempty"`
}

// Hours are a stretch of a day of every week: from and to as "09:00", to until "24:00".
type Hours struct {
	// Day is monday to sunday.
	Day  string `json:"day"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Exception is a date, as "2026-12-24", with hours of its own; none for closed.
type Exception struct {
	Date  string `json:"date"`
	Hours []Span `json:"hours"`
}

// Span is a stretch of a day.
type Span struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Kind is an appointment that is offered.
type Kind struct {
	// Key names it, Name is what people call it.
	Key  string `json:"key"`
	Name string `json:"name"`
	// DurationMinutes is how long it takes; the buffers keep time free before and after it.
	DurationMinutes     int64 `json:"durationMinutes"`
	BufferBeforeMinutes int64 `json:"bufferBeforeMinutes"`
	BufferAfterMinutes  int64 `json:"bufferAfterMinutes"`
	// Location is where it is; nil where that is said otherwise.
	Location *string `json:"location"`
	// Confirm says that the team confirms each, which is only requested before.
	Confirm bool `json:"confirm"`
}

// Duration is how long an appointment of the kind takes.
func (k *Kind) Duration() time.Duration { return minutes(k.DurationMinutes) }

func minutes(n int64) time.Duration { return time.Duration(n) * time.Minute }

// The bounds of a plan.
const (
	MaxHours      = 70
	MaxExceptions = 400
	MaxKinds      = 20
	MaxHorizon    = 366
	// longest is the longest that a reservation can hold, buffers included: a row that overlaps a
	// time begins no earlier before it.
	longest = 36 * time.Hour
)

// Weekdays are the days of Hours.
func Weekdays() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}

// KindOf finds a kind by its key. The first is meant by an empty one.
func (p *Plan) KindOf(key string) (Kind, bool) {
	for _, k := range p.Kinds {
		if k.Key == key || key == "" {
			return k, true
		}
	}
	return Kind{}, false
}

// Zone loads the plan's zone.
func (p *Plan) Zone() (*time.Location, error) { return loadZone(p.Timezone) }

func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errdefs.InvalidField("timezone", "is the name of no time zone, such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errdefs.InvalidField("timezone", "is the name of no time zone, such as Europe/Berlin")
	}
	return zone, nil
}

// Check says whether times can be offered by the plan. The error is an errdefs.Invalid.
func (p *Plan) Check() error {
	if err := p.CheckHours(); err != nil {
		return err
	}
	if c := p.Calendar; c != nil {
		if err := c.check(); err != nil {
			return err
		}
	}
	return p.checkKinds()
}

// CheckHours says whether the zone, the hours and the exceptions are good. The error is an errdefs.Invalid.
func (p *Plan) CheckHours() error {
	if _, err := p.Zone(); err != nil {
		return err
	}
	for i, h := range p.Hours {
		if !slices.Contains(Weekdays(), h.Day) {
			return errdefs.InvalidField(fmt.Sprintf("hours[%d].day", i), "is no day of the week")
		}
		if err := (Span{h.From, h.To}).check(fmt.Sprintf("hours[%d]", i)); err != nil {
			return err
		}
	}
	for day := range 7 {
		if err := apart(p.weekly(time.Weekday(day)), "hours"); err != nil {
			return err
		}
	}
	return p.checkExceptions()
}

// Open says whether a moment lies in the plan's hours, by what clocks on the wall show then. The error is
// an errdefs.Invalid of the zone.
func (p *Plan) Open(at time.Time) (bool, error) {
	zone, err := p.Zone()
	if err != nil {
		return false, err
	}
	wall := at.In(zone)
	minute := 60*wall.Hour() + wall.Minute()
	for _, s := range p.spans(wall) {
		from, _ := clock(s.From)
		to, _ := clock(s.To)
		if from <= minute && minute < to {
			return true, nil
		}
	}
	return false, nil
}

func (p *Plan) checkExceptions() error {
	seen := map[string]bool{}
	for i, e := range p.Exceptions {
		field := fmt.Sprintf("exceptions[%d]", i)
		if _, err := time.Parse(time.DateOnly, e.Date); err != nil || seen[e.Date] {
			return errdefs.InvalidField(field+".date", "is no date such as 2026-12-24, or is there twice")
		}
		seen[e.Date] = true
		for j, s := range e.Hours {
			if err := s.check(fmt.Sprintf("%s.hours[%d]", field, j)); err != nil {
				return err
			}
		}
		if err := apart(slices.Clone(e.Hours), field+".hours"); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) checkKinds() error {
	if len(p.Kinds) == 0 {
		return errdefs.InvalidField("kinds", "has at least one kind of appointment")
	}
	seen := map[string]bool{}
	for i, k := range p.Kinds {
		if seen[k.Key] {
			return errdefs.InvalidField(fmt.Sprintf("kinds[%d].key", i), "is another kind's too")
		}
		seen[k.Key] = true
	}
	return nil
}

func (s Span) check(field string) error {
	from, known := clock(s.From)
	to, knownTo := clock(s.To)
	switch {
	case !known:
		return errdefs.InvalidField(field+".from", "is a time of day such as 09:00")
	case !knownTo:
		return errdefs.InvalidField(field+".to", "is a time of day such as 17:00, or 24:00")
	case from >= to:
		return errdefs.InvalidField(field+".to", "comes after from")
	}
	return nil
}

// clock is a time of day in minutes.
func clock(text string) (minutes int, ok bool) {
	var h, m int
	if n, err := fmt.Sscanf(text, "%2d:%2d", &h, &m); err != nil || n != 2 || fmt.Sprintf("%02d:%02d", h, m) != text {
		return 0, false
	}
	if h < 0 || m < 0 || m > 59 || h > 24 || h == 24 && m > 0 {
		return 0, false
	}
	return 60*h + m, true
}

// apart says whether stretches of a day do not overlap.
func apart(spans []Span, field string) error {
	slices.SortFunc(spans, func(a, b Span) int { return strings.Compare(a.From, b.From) })
	for i := 1; i < len(spans); i++ {
		if spans[i].From < spans[i-1].To {
			return errdefs.InvalidField(field, "do not overlap")
		}
	}
	return nil
}

// weekly are the hours of a day of every week.
func (p *Plan) weekly(day time.Weekday) (spans []Span) {
	name := Weekdays()[(int(day)+6)%7]
	for _, h := range p.Hours {
		if h.Day == name {
			spans = append(spans, Span{h.From, h.To})
		}
	}
	return spans
}

// spans are the hours of a date.
func (p *Plan) spans(date time.Time) []Span {
	text := date.Format(time.DateOnly)
	for _, e := range p.Exceptions {
		if e.Date == text {
			return e.Hours
		}
	}
	return p.weekly(date.Weekday())
}
