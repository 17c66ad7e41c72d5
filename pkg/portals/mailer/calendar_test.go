package mailer

import (
	"cmp"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// What strangers call themselves breaks out of no line of a calendar, and calendars get the times
// in UTC, the sequence, and who meets whom.
func TestCalendar(t *testing.T) {
	at := time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC)
	a := Appointment{
		To: "kim@example.com", Name: "Kim\r\nATTENDEE:mailto:eve@example.com \"x\";CN=y,z:a", Language: "de", Title: "A tour;\r\nMETHOD:PUBLISH", From: "Desk, \\n <b>",
		State: "confirmed", UID: "inb_1", Sequence: 3, StartsAt: at, EndsAt: at.Add(time.Hour), Timezone: "Europe/Berlin", Location: "Pier 1\nBEGIN:VALARM",
	}
	for state, method := range map[string]string{"requested": "REQUEST", "confirmed": "REQUEST", "moved": "REQUEST", "cancelled": "CANCEL"} {
		a.State = state
		m, err := a.message(id.NewJob(), "https://portal.example.com/booking/t1", tenanttest.Now)
		require.NoError(t, err)
		require.Equal(t, method, m.Calendar.Method)
		object, err := m.Calendar.Write("hello@visavis.example.com")
		require.NoError(t, err)
		parsed, err := ics.ParseCalendar(strings.NewReader(object))
		require.NoError(t, err)
		require.Len(t, parsed.Events(), 1)
		require.Empty(t, parsed.Events()[0].Alarms())
		e := parsed.Events()[0]
		require.Len(t, e.Attendees(), 1)
		require.Equal(t, "kim@example.com", e.Attendees()[0].Email())
		starts, err := e.GetStartAt()
		require.NoError(t, err)
		require.True(t, starts.Equal(at))
		for p, want := range map[ics.ComponentProperty]string{
			ics.ComponentPropertyUniqueId: "inb_1", ics.ComponentPropertySequence: "3", ics.ComponentPropertyOrganizer: "mailto:hello@visavis.example.com",
			ics.ComponentPropertyDtStart: "20261025T013000Z", ics.ComponentPropertyDtEnd: "20261025T023000Z",
		} {
			require.Equal(t, want, e.GetProperty(p).Value, p)
		}
		require.Equal(t, 1, strings.Count(object, "\r\nATTENDEE"))
		require.Equal(t, 1, strings.Count(object, "\r\nMETHOD:"+method+"\r\n"))
		for l := range strings.SplitSeq(strings.TrimSuffix(object, "\r\n"), "\r\n") {
			require.NotContains(t, l, "\n")
			require.LessOrEqual(t, len(l), 75)
		}
		require.NotContains(t, m.HTML, "<b>")
		require.Contains(t, m.Text, "2026-10-25 02:30 (Europe/Berlin)")
		require.NotContains(t, m.Subject+m.Text, "%!")
		require.NotContains(t, m.Subject, "\n")
	}
}

// Names are whole in the raw lines, where parameters know no escapes, and nobody is asked for an
// answer.
func TestNamesInCalendars(t *testing.T) {
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"Kim Lee": "Kim Lee", "Lee, Kim": "Lee Kim", "Kim O'Neil": "Kim O’Neil", `Kim "K" Lee`: "Kim K Lee", "Dr. Lee: Desk": "Dr. Lee Desk",
		`a;RSVP=TRUE:mailto:eve@example.com`: "a RSVP=TRUE mailto eve@example.com", `a\`: "a", "a\r\nX-A:b": "a X-A b", "a\tb\x00c\u0085d": "a b c d", "Öztürk": "Öztürk",
		"": "", `";:`: "",
	} {
		a := Appointment{To: "kim@example.com", Name: name, From: name, Title: "A tour", State: "confirmed", UID: "inb_1", StartsAt: at, EndsAt: at.Add(time.Hour)}
		object, err := a.calendar(tenanttest.Now).Write("hello@example.com")
		require.NoError(t, err)
		lines := strings.Split(strings.ReplaceAll(object, "\r\n ", ""), "\r\n")
		require.Contains(t, lines, "ATTENDEE;CN="+cmp.Or(want, "kim@example.com")+";PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT:mailto:kim@example.com")
		require.Contains(t, lines, "ORGANIZER;CN="+cmp.Or(want, "hello@example.com")+":mailto:hello@example.com")
	}
}

// A link opens what it was made for, with the deployment's key alone.
func TestLinksOfAppointments(t *testing.T) {
	open := func() *vault.Vault {
		key := make([]byte, vault.KeySize)
		_, _ = rand.Read(key)
		v, err := vault.New(key)
		require.NoError(t, err)
		return v
	}
	v := open()
	l := AppointmentLink{Org: id.NewOrg(), Interview: id.NewInterview()}
	got, err := OpenLink(v, l.Token(v))
	require.NoError(t, err)
	require.Equal(t, l, got)
	token := []byte(l.Token(v))
	token[30] ^= 1
	for _, text := range []string{"", "x", string(token), l.Token(open()), strings.Repeat("A", 5000)} {
		_, err := OpenLink(v, text)
		require.ErrorIs(t, err, ErrNoAppointment)
	}
}
