package xapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/provider/xapi"
	"visavis.dev/pkg/provider/xapi/xapitest"
)

func TestTell(t *testing.T) {
	t.Parallel()
	s := xapitest.New(t)
	store := xapi.Store{HTTP: s.Guard().Client(), Endpoint: s.URL + "/xapi", Version: xapi.V2, Key: xapitest.Key}
	st := xapi.Statement{
		ID: uuid.New(), Actor: xapi.AsAccount("https://school.example.com", "a"), Verb: xapi.Did(xapi.Scored),
		Object: xapi.Activity("https://school.example.com/1", "http://adlnet.gov/expapi/activities/assessment", "Bäume", "de"),
		Result: &xapi.Result{Score: &xapi.Score{Scaled: 1, Raw: 2, Max: 2}, Completion: new(true)}, Timestamp: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
	}
	require.NoError(t, store.Tell(t.Context(), st))
	require.NoError(t, store.Tell(t.Context(), st))
	st.Result.Score.Raw = 1
	require.NoError(t, store.Tell(t.Context(), st), "another is there, which stays")
	require.Len(t, s.All(), 1)
	require.InDelta(t, 2, s.All()[0].At("result.score.raw"), 0)
	require.Equal(t, "Bäume", s.All()[0].At("object.definition.name.de"))

	by := xapi.AsAccount("https://school.example.com", "visavis")
	require.ErrorIs(t, store.Tell(t.Context(), xapi.Voiding(uuid.New(), uuid.New(), by)), xapi.ErrNoTarget)
	require.NoError(t, store.Tell(t.Context(), xapi.Voiding(uuid.New(), st.ID, by)))
	require.Empty(t, s.Standing())
	st.ID, st.Actor = uuid.New(), xapi.AsMailbox("kim@example.com")
	require.NoError(t, store.Tell(t.Context(), st))
	require.Empty(t, s.Refused())

	st.Result.Score.Raw = 3
	st.ID = uuid.New()
	require.ErrorIs(t, store.Tell(t.Context(), st), upstream.ErrRejected)
	store.Endpoint = s.URL + "/nowhere"
	err := store.Tell(t.Context(), st)
	require.ErrorIs(t, err, upstream.ErrRejected)
	require.NotErrorIs(t, err, xapi.ErrNoTarget, "it is no store that says so")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := xapitest.New(t)
	good := xapi.Store{HTTP: s.Guard().Client(), Endpoint: s.URL + "/xapi", Version: xapi.V1, Key: xapitest.Key}
	require.NoError(t, good.Check(t.Context()))
	for name, tt := range map[string]struct {
		change func(*xapi.Store)
		want   error
	}{
		"another key":   {func(s *xapi.Store) { s.Key = "key-1:other" }, upstream.ErrRefused},
		"no store":      {func(s *xapi.Store) { s.Endpoint += "/x" }, upstream.ErrRejected},
		"other version": {func(s *xapi.Store) { s.Version = "3.0.0" }, upstream.ErrMalformed},
	} {
		store := good
		tt.change(&store)
		require.ErrorIs(t, store.Check(t.Context()), tt.want, name)
	}
	about := `{"version":["1.0.3"]}`
	status := http.StatusForbidden
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/about") {
			_, _ = w.Write([]byte(about))
			return
		}
		w.WriteHeader(status)
	}))
	defer other.Close()
	good.HTTP, good.Endpoint = other.Client(), other.URL
	require.NoError(t, good.Check(t.Context()), "a key that may write, and not read")
	about = `[]`
	require.ErrorIs(t, good.Check(t.Context()), upstream.ErrMalformed)
}
