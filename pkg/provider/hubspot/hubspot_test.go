package hubspot_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
	"visavis.dev/pkg/provider/upstream"
)

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
	require.Equal(t, had, found["kim@example.com"])
	require.Equal(t, map[string]string{"email": "lee@example.com"}, s.Contacts()[found["lee@example.com"]])
	require.Equal(t, map[string]string{"email": "kim@example.com", "firstname": "Kim"}, s.Contacts()[had])

	s.Remove(found["lee@example.com"])
	deleted, err := c.Deleted(t.Context(), []string{had, found["lee@example.com"]})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{found["lee@example.com"]: true}, deleted)
	for _, answer := range []string{
		`{"results": [{"id": "merged"}]}`, `{"results": []}`, `{"results": [], "errors": [{"category": "OBJECT_NOT_FOUND", "context": {"ids": ["another"]}}]}`,
		`{"results": [], "errors": [{"category": "RATE_LIMITS", "context": {"ids": ["` + had + `"]}}]}`,
	} {
		s.Behave(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		deleted, err = c.Deleted(t.Context(), []string{had})
		require.NoError(t, err)
		require.False(t, deleted[had], answer)
		require.False(t, deleted["another"])
	}
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	_, err = c.Deleted(t.Context(), []string{had})
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
