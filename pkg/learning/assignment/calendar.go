package assignment

import (
	"slices"
	"time"
)

// zone is a time zone by its name; UTC for one that is not known any more.
func zone(name string) *time.Location {
	if name == "" || name == "Local" {
		return time.UTC
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return l
}

// AddMonths is the same day and time of the clock a number of months later in a zone, or the
// last day of a month that is too short.
func AddMonths(t time.Time, months int, in *time.Location) time.Time {
	l := t.In(in)
	first := time.Date(l.Year(), l.Month()+time.Month(months), 1, 0, 0, 0, 0, in)
	last := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, in).Day()
	return time.Date(first.Year(), first.Month(), min(l.Day(), last), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), in).UTC()
}

// after is as many days after one moment, at the same time of the clock, as a third is after
// another; nil for none.
func after(at, from time.Time, to *time.Time, in *time.Location) *time.Time {
	if to == nil {
		return nil
	}
	date := func(t time.Time) time.Time {
		year, month, day := t.In(in).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	days := int(date(*to).Sub(date(from)) / (24 * time.Hour))
	year, month, day := at.In(in).Date()
	l := to.In(in)
	return new(time.Date(year, month, day+days, l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), in).UTC())
}

// remindedAt is the hour of the day at which people are reminded, where they are.
const remindedAt = 9

// day is a date as reminders have it.
func day(t time.Time, in *time.Location) string { return t.In(in).Format(time.DateOnly) }

// nextReminder is the first moment after another at which somebody in a zone is reminded of what
// is due, some days before; nil for none.
func nextReminder(due time.Time, days []int64, in *time.Location, after time.Time) *time.Time {
	l := due.In(in)
	for _, before := range slices.Backward(slices.Sorted(slices.Values(days))) {
		at := time.Date(l.Year(), l.Month(), l.Day()-int(before), remindedAt, 0, 0, 0, in).UTC()
		if at.After(after) && at.Before(due) {
			return &at
		}
	}
	return nil
}
