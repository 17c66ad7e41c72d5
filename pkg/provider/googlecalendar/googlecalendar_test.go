package googlecalendar_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/googlecalendar"
	"visavis.dev/pkg/provider/googlecalendar/googlecalendartest"
	"visavis.dev/pkg/provider/upstream"
)

// account is a client with tokens that are redeemed as they are needed.
func account(t *testing.T) (*googlecalendartest.Server, *googlecalendar.Client) {
	t.Helper()
	s := googlecalendartest.Start()
	t.Cleanup(s.Close)
	http := s.Guard().ClientWithin(10*time.Second, 1<<20)
	grant := googlecalendar.Grant{ClientID: googlecalendartest.ClientID, ClientSecret: googlecalendartest.ClientSecret, Refresh: googlecalendartest.FirstRefresh}
	access := ""
	return s, &googlecalendar.Client{HTTP: http, BaseURL: s.URL, Token: func(ctx context.Context, stale string) (string, error) {
		if access == stale {
			given, err := grant.Redeem(ctx, http, s.URL+"/token")
			if err != nil {
				return "", err
			}
			access, grant.Refresh = given.Access, given.Refresh
		}
		return access, nil
	}}
}

func noon(day int) time.Time { return time.Date(2026, 7, day, 12, 0, 0, 0, time.UTC) }

var july = calendars.Span{From: noon(1), To: noon(31)}

func event(day int, sequence int64) calendars.Event {
	return calendars.Event{
		Key: calendars.KeyOf(uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")), Span: calendars.Span{From: noon(day), To: noon(day).Add(time.Hour)},
		Summary: "A tour: Kim", Description: "inb_1", Sequence: sequence, WrittenAt: noon(1),
	}
}

func times(from, to string) map[string]any {
	return map[string]any{"start": map[string]any{"dateTime": from}, "end": map[string]any{"dateTime": to}}
}

func with(e map[string]any, name string, value any) map[string]any {
	e[name] = value
	return e
}

func TestRead(t *testing.T) {
	s, c := account(t)
	all, err := c.Calendars(t.Context())
	require.NoError(t, err)
	require.Equal(t, []calendars.Calendar{{ID: googlecalendartest.Calendar, Name: "Ada", Writable: true}, {ID: "team@example.com", Name: "Team"}}, all)
	s.Put("lunch", times("2026-07-07T14:00:00+02:00", "2026-07-07T15:00:00+02:00"))
	s.Put("free", with(times("2026-07-09T14:00:00Z", "2026-07-09T15:00:00Z"), "transparency", "transparent"))
	s.Put("declined", with(times("2026-07-09T14:00:00Z", "2026-07-09T15:00:00Z"), "attendees", []any{map[string]any{"self": true, "responseStatus": "declined"}}))
	s.Put("holiday", map[string]any{"start": map[string]any{"date": "2026-07-14"}, "end": map[string]any{"date": "2026-07-15"}})
	_, err = c.Write(t.Context(), googlecalendartest.Calendar, event(8, 0))
	require.NoError(t, err)
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	got, err := c.Read(t.Context(), googlecalendartest.Calendar, july, berlin)
	require.NoError(t, err)
	require.Len(t, got.Busy, 2)
	require.WithinDuration(t, noon(7), got.Busy[0].From, 0)
	require.WithinDuration(t, time.Date(2026, 7, 13, 22, 0, 0, 0, time.UTC), got.Busy[1].From, 0)
	require.Len(t, got.Ours, 1)

	s.Expire()
	s.BusyOnly = true
	delete(s.Events(), "holiday")
	s.Put("holiday", times("2026-07-14T00:00:00Z", "2026-07-15T00:00:00Z"))
	got, err = c.Read(t.Context(), googlecalendartest.Calendar, july, berlin)
	require.NoError(t, err)
	require.True(t, got.Merged)
	require.Len(t, got.Busy, 4)
	s.Behave(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":{"errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}],"code":403}}`))
	})
	_, err = c.Read(t.Context(), googlecalendartest.Calendar, july, berlin)
	require.ErrorIs(t, err, upstream.ErrRateLimited)
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	_, err = c.Read(t.Context(), googlecalendartest.Calendar, july, berlin)
	require.ErrorIs(t, err, upstream.ErrMalformed, "nothing is no empty calendar")
}

// An event is written once, under an id that is ours to choose, and comes back under it after it was deleted.
func TestWrite(t *testing.T) {
	s, c := account(t)
	calendar, e := googlecalendartest.Calendar, event(8, 0)
	_, err := c.Calendars(t.Context()) // so that there is a token
	require.NoError(t, err)
	lost := func(w http.ResponseWriter, r *http.Request) {
		s.Serve(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	s.Behave(nil, lost)
	_, err = c.Write(t.Context(), calendar, e)
	require.Error(t, err)
	for range 2 {
		newer, err := c.Write(t.Context(), calendar, e)
		require.NoError(t, err)
		require.False(t, newer)
	}
	require.Len(t, s.Events(), 1)
	// Somebody else was faster by a moment.
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, err = c.Write(t.Context(), calendar, event(9, 1))
	require.NoError(t, err)
	found, err := c.Find(t.Context(), calendar, e.Key, time.UTC)
	require.NoError(t, err)
	require.Equal(t, noon(9), found.From.UTC())
	newer, err := c.Write(t.Context(), calendar, e)
	require.NoError(t, err)
	require.True(t, newer)
	// What comes late takes nothing away that was made since, also where that comes between.
	newer, err = c.Remove(t.Context(), calendar, e.Key, 0)
	require.NoError(t, err)
	require.True(t, newer)
	s.Behave(nil, func(w http.ResponseWriter, r *http.Request) {
		_, err := c.Write(t.Context(), calendar, event(9, 2))
		assert.NoError(t, err)
		s.Serve(w, r)
	})
	newer, err = c.Remove(t.Context(), calendar, e.Key, 1)
	require.NoError(t, err)
	require.True(t, newer)
	for range 2 {
		newer, err = c.Remove(t.Context(), calendar, e.Key, 2)
		require.NoError(t, err)
		require.False(t, newer)
	}
	found, err = c.Find(t.Context(), calendar, e.Key, time.UTC)
	require.NoError(t, err)
	require.Nil(t, found)
	_, err = c.Write(t.Context(), calendar, event(10, 3))
	require.NoError(t, err)
	found, err = c.Find(t.Context(), calendar, e.Key, time.UTC)
	require.NoError(t, err)
	require.Equal(t, noon(10), found.From.UTC())
	require.Len(t, s.Events(), 1)
	s.Put("vv"+string(e.Key), with(times("2026-07-10T12:00:00Z", "2026-07-10T13:00:00Z"), "recurrence", []any{"RRULE:FREQ=DAILY"}))
	_, err = c.Find(t.Context(), calendar, e.Key, time.UTC)
	require.ErrorIs(t, err, calendars.ErrUnclear)
	_, err = c.Write(t.Context(), "none@example.com", e)
	require.ErrorIs(t, err, upstream.ErrMalformed)
}

func TestRefusedGrants(t *testing.T) {
	s := googlecalendartest.Start()
	defer s.Close()
	http := s.Guard().ClientWithin(10*time.Second, 1<<20)
	_, err := googlecalendar.Grant{ClientID: "other"}.Redeem(t.Context(), http, s.URL+"/token")
	require.ErrorIs(t, err, upstream.ErrRefused)
	require.NotErrorIs(t, err, googlecalendar.ErrInvalidGrant)
	_, err = googlecalendar.Grant{ClientID: googlecalendartest.ClientID, ClientSecret: googlecalendartest.ClientSecret, Refresh: "old"}.Redeem(t.Context(), http, s.URL+"/token")
	require.ErrorIs(t, err, upstream.ErrRefused)
	require.ErrorIs(t, err, googlecalendar.ErrInvalidGrant)
}
