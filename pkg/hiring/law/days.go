package law

import (
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/us"
)

// holidays are those of whole countries. Of a country that is not here, weekends alone are no
// business days.
var holidays = map[string][]*cal.Holiday{
	"AT": at.Holidays, "AU": au.HolidaysNSW, "BE": be.Holidays, "BR": br.Holidays, "CA": ca.Holidays, "CH": ch.Holidays, "CZ": cz.Holidays, "DE": de.Holidays,
	"DK": dk.Holidays, "ES": es.Holidays, "FR": fr.Holidays, "GB": gb.Holidays, "IE": ie.Holidays, "IT": it.Holidays, "JP": jp.Holidays,
	"NL": nl.Holidays, "NO": no.Holidays, "NZ": nz.Holidays, "PL": pl.Holidays, "SE": se.Holidays, "US": us.Holidays,
}

// calendars are by country; they are read alone once they are made.
var calendars = func() map[string]*cal.BusinessCalendar {
	all := map[string]*cal.BusinessCalendar{"": cal.NewBusinessCalendar()}
	for country, days := range holidays {
		c := cal.NewBusinessCalendar()
		c.AddHoliday(days...)
		all[country] = c
	}
	return all
}()

// BusinessDay says whether a day of a place's calendar is a business day.
func BusinessDay(p Place, day time.Time) bool { return calendar(p).IsWorkday(day.In(Zone(p))) }

func calendar(p Place) *cal.BusinessCalendar {
	if c, ok := calendars[p.Country]; ok {
		return c
	}
	return calendars[""]
}

// After is so many business days of a place after a moment, at the same time of the day. The
// day of the moment itself does not count.
func After(p Place, from time.Time, days int64) time.Time {
	if days <= 0 {
		return from
	}
	return calendar(p).WorkdaysFrom(from.In(Zone(p)), int(days)).UTC()
}

// Zone is a place's time zone; UTC where it names none.
func Zone(p Place) *time.Location {
	if p.Timezone == "" {
		return time.UTC
	}
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}
