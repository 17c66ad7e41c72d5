package caldav_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/caldav"
	"visavis.dev/pkg/provider/caldav/caldavtest"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/upstream"
)

func client(g *egress.Guard, base, secret string) *caldav.Client {
	return &caldav.Client{HTTP: g.ClientWithin(10*time.Second, 1<<20), BaseURL: base, Secret: secret, Now: time.Now}
}

func noon(day int) time.Time { return time.Date(2026, 7, day, 12, 0, 0, 0, time.UTC) }

var july = calendars.Span{From: noon(1), To: noon(31)}

func event(day int, sequence int64) calendars.Event {
	return calendars.Event{
		Key: calendars.KeyOf(uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")), Span: calendars.Span{From: noon(day), To: noon(day).Add(time.Hour)},
		Summary: "A tour: Kim", Description: "inb_1", Sequence: sequence, WrittenAt: noon(1),
	}
}

// The whole of it with a real server.
func TestRadicale(t *testing.T) {
	r := caldavtest.StartRadicale(t)
	c := client(r.Guard(), r.URL, caldavtest.RadicaleSecret)
	all, err := c.Calendars(t.Context())
	require.NoError(t, err)
	require.Equal(t, []calendars.Calendar{{ID: caldavtest.RadicaleCalendar, Name: "Work", Writable: true}}, all)
	read := func() calendars.Reading {
		t.Helper()
		got, err := c.Read(t.Context(), caldavtest.RadicaleCalendar, july, time.UTC)
		require.NoError(t, err)
		return got
	}
	require.Empty(t, read().Busy)
	r.Put("free.ics", caldavtest.Event("free", "20260707T120000Z", "20260707T130000Z", "TRANSP:TRANSPARENT"))
	r.Put("lunch.ics", caldavtest.Event("lunch", "20260707T120000Z", "20260707T130000Z", "RRULE:FREQ=WEEKLY;COUNT=2"))
	require.Equal(t, []calendars.Span{{From: noon(7), To: noon(7).Add(time.Hour)}, {From: noon(14), To: noon(14).Add(time.Hour)}}, read().Busy)

	e := event(8, 0)
	for range 2 { // a retry finds it
		newer, err := c.Write(t.Context(), caldavtest.RadicaleCalendar, e)
		require.NoError(t, err)
		require.False(t, newer)
	}
	require.Equal(t, map[calendars.Key]calendars.Span{e.Key: e.Span}, read().Ours)
	moved := event(9, 1)
	_, err = c.Write(t.Context(), caldavtest.RadicaleCalendar, moved)
	require.NoError(t, err)
	newer, err := c.Write(t.Context(), caldavtest.RadicaleCalendar, e)
	require.NoError(t, err)
	require.True(t, newer, "what came late stays away")
	require.Equal(t, map[calendars.Key]calendars.Span{e.Key: moved.Span}, read().Ours)
	found, err := c.Find(t.Context(), caldavtest.RadicaleCalendar, e.Key, time.UTC)
	require.NoError(t, err)
	require.Equal(t, &moved.Span, found)
	for range 2 {
		_, err := c.Remove(t.Context(), caldavtest.RadicaleCalendar, e.Key, 1)
		require.NoError(t, err)
	}
	found, err = c.Find(t.Context(), caldavtest.RadicaleCalendar, e.Key, time.UTC)
	require.NoError(t, err)
	require.Nil(t, found)
	require.Empty(t, read().Ours)

	_, err = client(r.Guard(), r.URL, "ada:wrong").Calendars(t.Context())
	require.ErrorIs(t, err, upstream.ErrRefused)
	_, err = c.Write(t.Context(), "/ada/none/", e)
	require.ErrorIs(t, err, upstream.ErrMalformed, "people have to do something about it, and it is waited for")
	_, err = c.Read(t.Context(), "/ada/none/", july, time.UTC)
	require.Error(t, err)
}

func TestCalendars(t *testing.T) {
	s := caldavtest.Start()
	defer s.Close()
	want := []calendars.Calendar{{ID: caldavtest.Calendar, Name: "Work & more", Writable: true}, {ID: "/dav/bob/shown/"}}
	for _, base := range []string{"", "/dav"} {
		all, err := client(s.Guard(), s.URL+base, caldavtest.Secret).Calendars(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, all)
	}
	// Many servers say where they are by redirects of their own.
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/caldav" {
			http.Redirect(w, r, "/dav/", http.StatusMovedPermanently)
		}
	})
	all, err := client(s.Guard(), s.URL+"/elsewhere", caldavtest.Secret).Calendars(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, all)
}

// Whatever a server says, the secret is shown to it alone.
func TestTheSecretStaysAtItsServer(t *testing.T) {
	s := caldavtest.Start()
	defer s.Close()
	var asked atomic.Int64
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	c := client(s.Guard(), s.URL, caldavtest.Secret)
	refuses := func(err error) {
		t.Helper()
		require.Error(t, err)
		require.Zero(t, asked.Load())
	}
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}
	s.Behave(away, away)
	_, err := c.Calendars(t.Context())
	refuses(err)
	for _, home := range []string{other.URL + "/dav/", "//" + strings.TrimPrefix(other.URL, "https://") + "/", "http://" + s.Listener.Addr().String() + "/", "https://user@" + s.Listener.Addr().String() + "/"} {
		s.Homes = home
		_, err := c.Calendars(t.Context())
		refuses(err)
		require.ErrorIs(t, err, upstream.ErrAddressRefused, home)
		_, err = c.Read(t.Context(), home, july, time.UTC)
		refuses(err)
		_, err = c.Write(t.Context(), home, event(8, 0))
		refuses(err)
		_, err = c.Remove(t.Context(), home, event(8, 0).Key, 0)
		refuses(err)
	}
	s.Behave(away, away, away)
	_, err = c.Write(t.Context(), caldavtest.Calendar, event(8, 0))
	refuses(err)
	// A redirect in a circle ends.
	s.Always(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	_, err = c.Read(t.Context(), caldavtest.Calendar, july, time.UTC)
	refuses(err)
	require.Less(t, len(s.Requests()), 40)
}

// Hostile answers fail, and take neither memory nor time.
func TestHostileAnswers(t *testing.T) {
	s := caldavtest.Start()
	defer s.Close()
	c := client(s.Guard(), s.URL, caldavtest.Secret)
	for name, body := range map[string]string{
		"entities": `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><multistatus xmlns="DAV:"><response><href>&b;</href></response></multistatus>`,
		"deep":     strings.Repeat("<a>", 300_000), "large": strings.Repeat(" ", 2<<20), "none": "", "html": "<html><body>Sign in</body></html>",
		"nested": `<multistatus xmlns="DAV:"><response><href>/a</href><propstat><prop><C:calendar-data xmlns:C="urn:ietf:params:xml:ns:caldav">` + strings.Repeat("BEGIN:VCALENDAR\n", 50_000) + `</C:calendar-data></prop></propstat></response></multistatus>`,
	} {
		s.Always(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = w.Write([]byte(body))
		})
		_, err := c.Read(t.Context(), caldavtest.Calendar, july, time.UTC)
		require.ErrorIs(t, err, upstream.ErrMalformed, name)
		_, err = c.Calendars(t.Context())
		require.ErrorIs(t, err, upstream.ErrMalformed, name)
	}
}

func answering(responses string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = w.Write([]byte(`<multistatus xmlns="DAV:">` + responses + `</multistatus>`))
	}
}

// An event with what no XML may have, or with a file in it, is read as any other.
func TestOddEvents(t *testing.T) {
	s := caldavtest.Start()
	defer s.Close()
	s.Behave(answering(`<response><href>/dav/ada/desk/a.ics</href><propstat><prop><C:calendar-data xmlns:C="urn:ietf:params:xml:ns:caldav">` +
		"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nSUMMARY:\x01 odd\nATTACH:" + strings.Repeat("a", 100_000) + "\n" +
		"DTSTART:" + noon(8).Format("20060102T150405Z") + "\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n" +
		`</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>`))
	got, err := client(s.Guard(), s.URL, caldavtest.Secret).Read(t.Context(), caldavtest.Calendar, july, time.UTC)
	require.NoError(t, err)
	require.False(t, got.Merged)
	require.Equal(t, []calendars.Span{{From: noon(8), To: noon(8).Add(time.Hour)}}, got.Busy)
}

// Where events may not be read, or are too many, the server says when it is busy.
func TestFreeBusy(t *testing.T) {
	s := caldavtest.Start()
	defer s.Close()
	c := client(s.Guard(), s.URL, caldavtest.Secret)
	for name, by := range map[string]http.HandlerFunc{
		"forbidden": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"unknown":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) },
		"large":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"cut short": answering(`<response><href>/dav/ada/desk/</href><status>HTTP/1.1 507 Insufficient Storage</status></response>`),
		"withheld": answering(`<response><href>/dav/ada/desk/a.ics</href><propstat><prop><C:calendar-data xmlns:C="urn:ietf:params:xml:ns:caldav"/></prop>` +
			`<status>HTTP/1.1 500 Internal Server Error</status></propstat></response>`),
	} {
		s.Behave(by)
		got, err := c.Read(t.Context(), caldavtest.Calendar, july, time.UTC)
		require.NoError(t, err, name)
		require.True(t, got.Merged)
		require.Equal(t, []calendars.Span{{From: noon(8).Add(-2 * time.Hour), To: noon(8).Add(-time.Hour)}}, got.Busy, name)
	}
}

// An event is written once, whatever is lost on the way, and over what it was read as alone.
func TestWritesThatAreLost(t *testing.T) {
	s := caldavtest.Start()
	defer s.Close()
	c := client(s.Guard(), s.URL, caldavtest.Secret)
	lost := func(w http.ResponseWriter, r *http.Request) { // it is written, and the answer is lost
		s.Serve(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	e := event(8, 0)
	s.Behave(nil, lost)
	_, err := c.Write(t.Context(), caldavtest.Calendar, e)
	require.Error(t, err)
	_, err = c.Write(t.Context(), caldavtest.Calendar, e)
	require.NoError(t, err)
	require.Len(t, s.Texts(), 1)
	puts := 0
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, "PUT") {
			puts++
		}
	}
	require.Equal(t, 1, puts)

	// Somebody writes between reading and writing.
	name := string(e.Key) + ".ics"
	s.Behave(nil, func(w http.ResponseWriter, r *http.Request) {
		s.Put(name, strings.Replace(s.Texts()[name], "DESCRIPTION:inb_1", "DESCRIPTION:Bring keys", 1))
		s.Serve(w, r)
	})
	_, err = c.Write(t.Context(), caldavtest.Calendar, event(9, 1))
	require.NoError(t, err)
	require.Contains(t, s.Texts()[name], "DESCRIPTION:Bring keys\r\n")
	require.Contains(t, s.Texts()[name], "DTSTART:20260709T120000Z\r\n")

	// What comes late takes nothing away that was made since, also where that comes between.
	s.Behave(nil, func(w http.ResponseWriter, r *http.Request) {
		_, err := c.Write(t.Context(), caldavtest.Calendar, event(10, 2))
		assert.NoError(t, err)
		s.Serve(w, r)
	})
	newer, err := c.Remove(t.Context(), caldavtest.Calendar, e.Key, 1)
	require.NoError(t, err)
	require.True(t, newer)
	require.Contains(t, s.Texts()[name], "DTSTART:20260710T120000Z\r\n")

	// Somebody else's event under the same name is left alone.
	s.Put(name, caldavtest.Event("theirs", "20260708T120000Z", "20260708T130000Z"))
	_, err = c.Write(t.Context(), caldavtest.Calendar, event(9, 2))
	require.ErrorIs(t, err, upstream.ErrMalformed)
	for status, want := range map[int]error{401: upstream.ErrRefused, 404: upstream.ErrMalformed, 409: upstream.ErrMalformed, 412: upstream.ErrUnavailable, 500: upstream.ErrUnavailable, 507: upstream.ErrRefused} {
		s.Remove(name)
		s.Always(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				w.WriteHeader(status)
				return
			}
			s.Serve(w, r)
		})
		_, err := c.Write(t.Context(), caldavtest.Calendar, event(9, 2))
		require.ErrorIs(t, err, want, fmt.Sprint(status))
	}
}
