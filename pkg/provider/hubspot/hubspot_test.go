package hubspot_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
	"visavis.dev/pkg/provider/upstream"
)

// An account that answers more owners than it is asked for, or for longer, fills no memory.
func TestManyOwners(t *testing.T) {
	s := hubspottest.Start()
	t.Cleanup(s.Close)
	c := hubspot.Client{HTTP: s.Guard().ClientWithin(5*time.Second, 8<<20), BaseURL: s.URL, Token: "pat-good"}
	page := func(from, n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			owners := []map[string]any{{"id": "9", "email": strings.Repeat("x", 250) + "@example.com"}}
			for i := range n {
				owners = append(owners, map[string]any{"id": strconv.Itoa(from + i), "email": "Kim@example.com"})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"results": owners, "paging": map[string]any{"next": map[string]any{"after": strconv.Itoa(from + n)}}})
		}
	}
	s.Behave(page(1000, 3000), page(4000, 3000), page(7000, 3000))
	found, err := c.Owners(t.Context())
	require.NoError(t, err)
	require.Len(t, found, hubspot.MaxOwners)
	require.Equal(t, "kim@example.com", found["1000"])
	require.NotContains(t, found, "9")
	require.Len(t, s.Requests(), 2)
}

func TestContactsAreWritten(t *testing.T) {
	s := hubspottest.Start()
	t.Cleanup(s.Close)
	c := hubspot.Client{HTTP: s.Guard().ClientWithin(5*time.Second, 1<<20), BaseURL: s.URL, Token: "pat-good"}
	require.NoError(t, c.Check(t.Context()))
	had := s.Put("kim@example.com")
	found, err := c.Upsert(t.Context(), []hubspot.Contact{
		{Email: "kim@example.com", Properties: map[string]string{"firstname": "Kim"}}, {Email: "lee@example.com"},
	})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, had, found["kim@example.com"].ID)
	lee := found["lee@example.com"].ID
	require.Equal(t, map[string]string{"email": "lee@example.com"}, s.Contacts()[lee])
	require.Equal(t, map[string]string{"email": "kim@example.com", "firstname": "Kim"}, s.Contacts()[had])

	account, err := c.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, "4711", account)
	updated, err := c.Update(t.Context(), []hubspot.Contact{{ID: had, Properties: map[string]string{"firstname": "Kimberly"}}})
	require.NoError(t, err)
	require.Equal(t, "Kimberly", updated[had].Properties["firstname"])

	s.Remove(lee)
	read, missing, err := c.Read(t.Context(), []string{had, lee}, []string{"firstname", "phone"})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{lee: true}, missing)
	require.Equal(t, map[string]hubspot.Contact{had: {ID: had, Email: "kim@example.com", Properties: map[string]string{"email": "kim@example.com", "firstname": "Kimberly"}}}, read)
	by, err := c.Find(t.Context(), []string{"kim@example.com", "nobody@example.com"}, []string{"firstname"})
	require.NoError(t, err)
	require.Len(t, by, 1)
	require.Equal(t, had, by["kim@example.com"].ID)
	for _, answer := range []string{
		`{"results": [{"id": "merged"}]}`, `{"results": [{"id": "\u0000", "properties": {"email": "kim@example.com"}}]}`, `{"results": []}`, `{"results": [], "errors": [{"category": "OBJECT_NOT_FOUND", "context": {"ids": ["another"]}}]}`,
		`{"results": [], "errors": [{"category": "RATE_LIMITS", "context": {"ids": ["` + had + `"]}}]}`,
	} { // of others than were asked for nothing is believed
		behave := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }
		s.Behave(behave, behave)
		read, missing, err = c.Read(t.Context(), []string{had}, nil)
		require.NoError(t, err)
		require.Empty(t, missing, answer)
		require.Empty(t, read, answer)
		by, err = c.Find(t.Context(), []string{"kim@example.com"}, nil)
		require.NoError(t, err)
		require.Empty(t, by)
	}
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	_, _, err = c.Read(t.Context(), []string{had}, nil)
	require.ErrorIs(t, err, upstream.ErrMalformed)

	_, err = c.Upsert(t.Context(), []hubspot.Contact{{Email: "invalid"}})
	require.ErrorIs(t, err, upstream.ErrRejected)
	s.Behave(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	err = c.Check(t.Context())
	var failed *upstream.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, []any{upstream.RateLimited, 7 * time.Second}, []any{failed.Code, failed.RetryAfter})
	c.Token = "pat-bad"
	require.ErrorIs(t, c.Check(t.Context()), upstream.ErrRefused)
}
