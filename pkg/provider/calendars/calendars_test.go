package calendars_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/calendars"
)

// text is a calendar with events.
func text(parts ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + strings.ReplaceAll(strings.Join(parts, "\n"), "\n", "\r\n") + "\r\nEND:VCALENDAR\r\n"
}

func event(lines ...string) string {
	return "BEGIN:VEVENT\nUID:one@example.com\n" + strings.Join(lines, "\n") + "\nEND:VEVENT"
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	got, err := time.Parse("2006-01-02T15:04Z", s)
	require.NoError(t, err)
	return got
}

// busy is when texts have a calendar be busy between two days, in UTC.
func busy(t *testing.T, zone, from, to string, texts ...string) (all []string) {
	t.Helper()
	in, err := time.LoadLocation(zone)
	require.NoError(t, err)
	r := calendars.Reader{Within: calendars.Span{From: at(t, from+"T00:00Z"), To: at(t, to+"T00:00Z")}, Zone: in, Now: time.Now}
	for _, each := range texts {
		require.NoError(t, r.Add(t.Context(), each))
	}
	for _, s := range r.Reading().Busy {
		all = append(all, s.From.UTC().Format("01-02T15:04")+"/"+s.To.UTC().Format("01-02T15:04"))
	}
	return all
}

// Series go by the clocks on the wall of their zone over both changes of the year, in two zones whose clocks change on
// different days.
func TestDaylightSaving(t *testing.T) {
	berlin := event("DTSTART;TZID=Europe/Berlin:20260323T093000", "DTEND;TZID=Europe/Berlin:20260323T100000", "RRULE:FREQ=WEEKLY")
	require.Equal(t, []string{"03-23T08:30/03-23T09:00", "03-30T07:30/03-30T08:00"}, busy(t, "UTC", "2026-03-20", "2026-04-02", text(berlin)))
	require.Equal(t, []string{"10-19T07:30/10-19T08:00", "10-26T08:30/10-26T09:00"}, busy(t, "UTC", "2026-10-17", "2026-10-30", text(berlin)))
	newYork := event("DTSTART;TZID=America/New_York:20260301T093000", "DURATION:PT30M", "RRULE:FREQ=WEEKLY;BYDAY=MO")
	require.Equal(t, []string{"03-01T14:30/03-01T15:00", "03-02T14:30/03-02T15:00", "03-09T13:30/03-09T14:00"}, busy(t, "Europe/Berlin", "2026-03-01", "2026-03-12", text(newYork)))
	require.Equal(t, []string{"10-26T13:30/10-26T14:00", "11-02T14:30/11-02T15:00"}, busy(t, "Europe/Berlin", "2026-10-25", "2026-11-05", text(newYork)))

	// What is skipped goes by the clocks before, and of what comes twice it is the first (RFC 5545, 3.3.5).
	skipped := event("DTSTART;TZID=Europe/Berlin:20260328T023000", "DURATION:PT15M", "RRULE:FREQ=DAILY;COUNT=3")
	require.Equal(t, []string{"03-28T01:30/03-28T01:45", "03-29T01:30/03-29T01:45", "03-30T00:30/03-30T00:45"}, busy(t, "UTC", "2026-03-20", "2026-04-02", text(skipped)))
	twice := event("DTSTART;TZID=America/New_York:20261031T013000", "DURATION:PT15M", "RRULE:FREQ=DAILY;COUNT=3")
	require.Equal(t, []string{"10-31T05:30/10-31T05:45", "11-01T05:30/11-01T05:45", "11-02T06:30/11-02T06:45"}, busy(t, "UTC", "2026-10-20", "2026-11-10", text(twice)))

	// Whole days and times without a zone are of the schedule's, and as long as its days are.
	days := event("DTSTART;VALUE=DATE:20260328", "DTEND;VALUE=DATE:20260330")
	require.Equal(t, []string{"03-27T23:00/03-29T22:00"}, busy(t, "Europe/Berlin", "2026-03-20", "2026-04-02", text(days)))
	floating := event("DTSTART:20260701T090000", "DTEND:20260701T100000")
	require.Equal(t, []string{"07-01T13:00/07-01T14:00"}, busy(t, "America/New_York", "2026-06-20", "2026-07-10", text(floating)))
}

// outlook is a zone that only its own text knows.
const outlook = `BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE`

func TestZonesByOtherNames(t *testing.T) {
	for name, zone := range map[string]string{
		"W. Europe Standard Time": outlook, "/freeassociation.sourceforge.net/Europe/Berlin": "", "/mozilla.org/20050126_1/Europe/Berlin": "",
	} {
		in := func(day string) string {
			return text(strings.TrimPrefix(zone+"\n", "\n") + event("DTSTART;TZID="+name+":"+day+"T090000", "DURATION:PT1H"))
		}
		require.Equal(t, []string{"01-15T08:00/01-15T09:00", "03-29T07:00/03-29T08:00", "07-15T07:00/07-15T08:00", "10-25T08:00/10-25T09:00"},
			busy(t, "America/New_York", "2026-01-01", "2026-12-30", in("20260115"), in("20260329"), in("20260715"), in("20261025")), name)
	}
	skipped := text(outlook, event("DTSTART;TZID=W. Europe Standard Time:20260329T023000", "DURATION:PT1H"))
	require.Equal(t, []string{"03-29T01:30/03-29T02:30"}, busy(t, "UTC", "2026-03-28", "2026-03-30", skipped))
	twice := text(outlook, event("DTSTART;TZID=W. Europe Standard Time:20261025T023000", "DURATION:PT1H"))
	require.Equal(t, []string{"10-25T00:30/10-25T01:30"}, busy(t, "UTC", "2026-10-24", "2026-10-30", twice))
	unknown := text(event("DTSTART;TZID=Nowhere:20260715T090000", "DURATION:PT1H"))
	require.Equal(t, []string{"07-15T13:00/07-15T14:00"}, busy(t, "America/New_York", "2026-07-01", "2026-07-30", unknown), "the schedule's")
}

func TestSeries(t *testing.T) {
	weekly := []string{"DTSTART;TZID=Europe/Berlin:20260706T100000", "DTEND;TZID=Europe/Berlin:20260706T110000"}
	moved := event("RECURRENCE-ID;TZID=Europe/Berlin:20260713T100000", "DTSTART;TZID=Europe/Berlin:20260714T150000", "DTEND;TZID=Europe/Berlin:20260714T160000")
	dropped := event("RECURRENCE-ID:20260720T080000Z", "DTSTART:20260720T080000Z", "DTEND:20260720T090000Z", "STATUS:CANCELLED")
	require.Equal(t, []string{"07-06T08:00/07-06T09:00", "07-14T13:00/07-14T14:00", "08-03T08:00/08-03T09:00"}, busy(t, "UTC", "2026-07-01", "2026-08-20",
		text(event(append(weekly, "RRULE:FREQ=WEEKLY;UNTIL=20260803T080000Z", "EXDATE;TZID=Europe/Berlin:20260727T100000")...), moved, dropped)))
	require.Equal(t, []string{"07-06T08:00/07-06T09:00", "07-07T10:00/07-07T11:00", "07-08T08:00/07-08T09:00"}, busy(t, "UTC", "2026-07-01", "2026-08-20",
		text(event(append(weekly, "RDATE:20260707T100000Z,20260708T080000Z", "RRULE:FREQ=DAILY;COUNT=1")...))))
	free := func(line string) []string {
		return busy(t, "UTC", "2026-07-01", "2026-08-20", text(event(append(weekly, line)...)))
	}
	for _, line := range []string{"STATUS:CANCELLED", "TRANSP:TRANSPARENT", "X-MICROSOFT-CDO-BUSYSTATUS:FREE"} {
		require.Empty(t, free(line), line)
	}
	require.Len(t, free("STATUS:TENTATIVE"), 1)
	require.Equal(t, []string{"07-06T10:00/07-06T12:00", "07-07T10:00/07-07T11:30"}, busy(t, "UTC", "2026-07-01", "2026-08-20",
		text("BEGIN:VFREEBUSY\nFREEBUSY:20260706T100000Z/20260706T120000Z,20260707T100000Z/PT1H30M\nFREEBUSY;FBTYPE=FREE:20260708T100000Z/PT1H\nEND:VFREEBUSY")))
}

// What is made to take long, or much, is bounded, and has the calendar be busy rather than free.
func TestBombs(t *testing.T) {
	began := time.Now()
	day := []string{"DTSTART:19700101T000000Z", "DURATION:PT1M"}
	for _, rule := range []string{
		"FREQ=SECONDLY", "FREQ=MINUTELY", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=NEVER", "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30;INTERVAL=9223372036854775807", "FREQ=MONTHLY;BYDAY=0MO;BYSETPOS=0", "FREQ=DAILY;BYHOUR=" + strings.Repeat("1,", 600) + "1",
		"FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10;BYMINUTE=0,1,2,3,4,5,6,7,8,9,10;BYSECOND=0,1,2,3",
	} {
		require.Equal(t, []string{"06-01T00:00/07-01T00:00"}, clipped(busy(t, "UTC", "2026-06-01", "2026-07-01", text(event(append(day, "RRULE:"+rule)...)))), rule)
	}
	require.Equal(t, []string{"06-30T12:00/07-01T00:00"}, clipped(busy(t, "UTC", "2026-06-01", "2026-07-01", text(event("DTSTART:20260630T120000Z", "DURATION:PT1M", "RRULE:FREQ=SECONDLY")))))
	require.Empty(t, busy(t, "UTC", "2026-06-01", "2026-07-01", text(event(append(day, "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")...))))
	require.Len(t, busy(t, "UTC", "2026-06-01", "2026-07-01", text(event("DTSTART:19000101T000000Z", "DURATION:PT1M", "RRULE:FREQ=DAILY"))), 30)
	require.Len(t, busy(t, "UTC", "2026-06-01", "2026-07-01", text(event("DTSTART:16010601T000000Z", "DURATION:PT1M", "RRULE:FREQ=YEARLY"))), 1)
	require.Less(t, time.Since(began), 20*time.Second)

	r := calendars.Reader{Within: calendars.Span{From: at(t, "2026-06-01T00:00Z"), To: at(t, "2026-07-01T00:00Z")}, Zone: time.UTC, Now: time.Now}
	for _, hostile := range []string{
		strings.Repeat("BEGIN:VCALENDAR\r\n", 200_000), "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VCALENDAR\r\n", "BEGIN:VEVENT\r\nEND:VEVENT\r\n", "", "X",
		"BEGIN:VCALENDAR\r\nRDATE:" + strings.Repeat("a\r\n ", 100_000) + "\r\nEND:VCALENDAR\r\n", strings.Repeat("\n", 1_000_000),
	} {
		require.Error(t, r.Add(t.Context(), hostile))
	}
	for _, odd := range []string{`A;B`, `A;B="x`, `;:`, `:`, `A;B=C`, `A;=:`, "DTSTART;TZID=\"a:b\":20260601T000000", "DURATION:P99999999999D", "RRULE:", "X:" + strings.Repeat("a\r\n ", 100_000)} {
		require.NoError(t, r.Add(t.Context(), text(event(odd))), odd)
	}
	var b strings.Builder
	for n := range 6000 {
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:%d\r\nDTSTART:%s\r\nDURATION:PT1M\r\nEND:VEVENT\r\n", n, at(t, "2026-06-01T00:00Z").Add(time.Duration(n)*2*time.Minute).Format("20060102T150405Z"))
	}
	require.NoError(t, r.Add(t.Context(), "BEGIN:VCALENDAR\r\n"+b.String()+"END:VCALENDAR\r\n"))
	reading := r.Reading()
	require.Len(t, reading.Busy, calendars.MaxSpans)
	require.Equal(t, at(t, "2026-06-01T00:00Z").Add(2*calendars.MaxSpans*time.Minute), reading.Until.UTC(), "beyond it nothing is known")

	// Many such series stop by the time that they take.
	clock := time.Now()
	slow := calendars.Reader{Within: r.Within, Zone: time.UTC, Now: func() time.Time { clock = clock.Add(time.Millisecond); return clock }}
	var err error
	for range 10 {
		if err = slow.Add(t.Context(), text(event("DTSTART:19700101T000000Z", "DURATION:PT1M", "RRULE:FREQ=DAILY"))); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, calendars.ErrTooMuch)
}

// A zone that its own text makes huge takes neither time nor memory.
func TestZoneBombs(t *testing.T) {
	part := func(n int, rule string) string {
		return fmt.Sprintf("BEGIN:STANDARD\nDTSTART:%04d0101T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n%s\nEND:STANDARD\n", 1601+n%300, rule)
	}
	for name, line := range map[string]string{
		"every day": "RRULE:FREQ=YEARLY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;BYDAY=MO,TU,WE,TH,FR,SA,SU", "never": "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
		"a month": "RRULE:FREQ=YEARLY;BYMONTH=1;BYDAY=MO", "dates": "RDATE:" + strings.Repeat("20200101T000000,", 100) + "20200101T000000",
	} {
		var b strings.Builder
		b.WriteString("BEGIN:VTIMEZONE\nTZID:Bomb\n")
		for n := range 1000 {
			b.WriteString(part(n, line))
		}
		b.WriteString("END:VTIMEZONE")
		began := time.Now()
		series := event("DTSTART;TZID=Bomb:19700101T090000", "DURATION:PT1M", "RRULE:FREQ=DAILY")
		require.NotEmpty(t, busy(t, "UTC", "2026-06-01", "2026-07-01", text(b.String(), series, series, series)), name)
		require.Less(t, time.Since(began), 20*time.Second, name)
	}
	// Whoever waits no more ends it.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := calendars.Reader{Within: calendars.Span{From: at(t, "2026-06-01T00:00Z"), To: at(t, "2026-07-01T00:00Z")}, Zone: time.UTC, Now: time.Now}
	require.ErrorIs(t, r.Add(ctx, text(event("DTSTART:20260601T000000Z"))), context.Canceled)
}

// clipped are spans as they lie in June.
func clipped(all []string) []string {
	for i, s := range all {
		from, to, _ := strings.Cut(s, "/")
		if from < "06-01" || from > "07-01" {
			from = "06-01T00:00"
		}
		if to > "07-01T00:00" || to < from {
			to = "07-01T00:00"
		}
		all[i] = from + "/" + to
	}
	return all
}

func TestWhatIsWritten(t *testing.T) {
	key := calendars.KeyOf(uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057"))
	e := calendars.Event{
		Key: key, Span: calendars.Span{From: at(t, "2026-07-08T10:00Z"), To: at(t, "2026-07-08T11:00Z")}, Sequence: 3, WrittenAt: at(t, "2026-07-01T00:00Z"),
		Summary: "A tour: Kim\r\nATTACH:http://example.com/;, \\ " + strings.Repeat("ü", 80), Description: "inb_1",
	}
	written := e.Text()
	require.NotContains(t, written, "\nATTACH", "nobody adds lines by their name")
	for line := range strings.SplitSeq(strings.TrimSuffix(written, "\r\n"), "\r\n") {
		require.LessOrEqual(t, len(line), 75)
	}
	r := calendars.Reader{Within: calendars.Span{From: at(t, "2026-07-01T00:00Z"), To: at(t, "2026-08-01T00:00Z")}, Zone: time.UTC, Now: time.Now}
	require.NoError(t, r.Add(t.Context(), written))
	require.Equal(t, map[calendars.Key]calendars.Span{key: e.Span}, r.Reading().Ours)
	require.Empty(t, r.Reading().Busy)
	_, done, newer, err := e.Over(written)
	require.NoError(t, err)
	require.True(t, done)
	require.False(t, newer)
	earlier := e
	earlier.Sequence = 2
	_, _, newer, err = earlier.Over(written)
	require.NoError(t, err)
	require.True(t, newer)

	// What people wrote beside it stays.
	people := strings.Replace(written, "END:VEVENT", "DESCRIPTION:Bring the keys\\, please\r\nX-APPLE-TRAVEL;VALUE=DURATION:PT15M\r\nBEGIN:VALARM\r\nTRIGGER:-PT10M\r\nEND:VALARM\r\nEND:VEVENT", 1)
	people = strings.Replace(people, "DESCRIPTION:inb_1\r\n", "", 1)
	e.Sequence, e.Span.To, e.Tentative = 4, at(t, "2026-07-08T12:00Z"), true
	over, done, newer, err := e.Over(people)
	require.NoError(t, err)
	require.False(t, done || newer)
	for _, kept := range []string{"DESCRIPTION:Bring the keys\\, please\r\n", "X-APPLE-TRAVEL;VALUE=DURATION:PT15M\r\n", "TRIGGER:-PT10M\r\n", "DTEND:20260708T120000Z\r\n", "STATUS:TENTATIVE\r\n", "\r\nSEQUENCE:4\r\n"} {
		require.Equal(t, 1, strings.Count(over, kept), kept)
	}
	_, _, _, err = e.Over(text(event("DTSTART:20260708T100000Z")))
	require.Error(t, err, "another's event stays as it is")
	_, ours := calendars.KeyOfUID("one@visavis")
	require.False(t, ours)
}

func TestSpans(t *testing.T) {
	noon := at(t, "2026-07-08T12:00Z")
	s := func(from, to int) calendars.Span {
		return calendars.Span{From: noon.Add(time.Duration(from) * time.Minute), To: noon.Add(time.Duration(to) * time.Minute)}
	}
	merged, until := calendars.Merge([]calendars.Span{s(30, 40), s(0, 10), s(5, 20), s(20, 25), s(50, 50), s(90, 95), s(-9, -5)}, s(0, 60))
	require.Equal(t, []calendars.Span{s(0, 25), s(30, 40)}, merged)
	require.Equal(t, s(0, 60).To, until)
	require.Equal(t, []calendars.Span{s(0, 5), s(10, 25), s(39, 40)}, calendars.Without(merged, []calendars.Span{s(28, 39), s(5, 10)}))
}

func FuzzReader(f *testing.F) {
	f.Add(text(outlook, event("DTSTART;TZID=W. Europe Standard Time:20260323T093000", "DURATION:PT1H", "RRULE:FREQ=MONTHLY;BYDAY=2MO;BYSETPOS=-1", "EXDATE:20260323T093000Z")))
	f.Fuzz(func(t *testing.T, text string) {
		r := calendars.Reader{Within: calendars.Span{From: time.Unix(1_780_000_000, 0), To: time.Unix(1_790_000_000, 0)}, Zone: time.UTC, Now: time.Now}
		_ = r.Add(t.Context(), text)
		for _, s := range r.Reading().Busy {
			require.True(t, s.To.After(s.From))
		}
	})
}
