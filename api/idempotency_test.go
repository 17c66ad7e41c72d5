package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/store/apikey"
)

// sender makes a request with an Idempotency-Key.
type sender func(key apikey.Secret, name string, body any) apitest.Answer

// Every operation that honours the Idempotency-Key.
func TestIdempotency(t *testing.T) {
	w := apitest.NewWorld(t)
	t.Run("replay", func(t *testing.T) { testReplay(t, w) })
	t.Run("failure", func(t *testing.T) { testAFailureIsNotRemembered(t, w) })
	t.Run("bad keys", func(t *testing.T) { testBadIdempotencyKeys(t, w) })
	t.Run("at once", func(t *testing.T) { testRequestsAtOnce(t, w) })
}

// eachIdempotent runs a subtest for every operation that honours the
// Idempotency-Key; send makes a request of it with one.
func eachIdempotent(t *testing.T, w *apitest.World, f func(t *testing.T, o *route.Operation, send sender)) {
	t.Helper()
	tested := 0
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if !o.Idempotent {
			return
		}
		tested++
		path := freshPath(t, w, o, w.Acme)
		f(t, o, func(key apikey.Secret, name string, body any) apitest.Answer {
			t.Helper()
			return w.Call(t, o, apitest.Request{Path: path, Key: key, Body: body, Header: map[string]string{route.IdempotencyHeader: name}})
		})
	})
	require.Positive(t, tested)
}

func testReplay(t *testing.T, w *apitest.World) {
	eachIdempotent(t, w, func(t *testing.T, o *route.Operation, send sender) {
		body := w.Body(t, o)
		first := send(w.Acme.New, "one", body)
		require.Equal(t, w.Documents[contract.Latest].Success(t, o), first.Status, "%s", first.Raw)
		require.Empty(t, first.Header.Get("Idempotency-Replayed"))

		second := send(w.Acme.New, "one", body)
		require.Equal(t, first.Status, second.Status)
		require.Equal(t, string(first.Raw), string(second.Raw))
		require.Equal(t, "true", second.Header.Get("Idempotency-Replayed"))
		require.NotEqual(t, first.Header.Get("X-Request-Id"), second.Header.Get("X-Request-Id"))

		if w.Documents[contract.Latest].HasBody(o) { // what is sent else is not read
			apitest.RequireError(t, send(w.Acme.New, "one", w.Body(t, o)), http.StatusConflict, "idempotency_conflict", "header.Idempotency-Key")
		}
		require.Equal(t, string(first.Raw), string(send(w.Acme.New, "one", body).Raw), "a conflict spoils nothing")

		for what, other := range map[string]apitest.Answer{
			"another name": send(w.Acme.New, "two", body), "another key": send(w.OldNamed, "one", body),
		} {
			if reason, ok := apitest.Once[o.ID]; ok {
				require.Equal(t, reason, apitest.RequireError(t, other, http.StatusConflict, "conflict", "")["details"].(map[string]any)["reason"], what)
				continue
			}
			if o.ID == "createInvites" { // nobody is invited twice
				apitest.RequireError(t, other, http.StatusBadRequest, "invalid_request", "body.candidates[0].email")
				continue
			}
			require.Contains(t, append([]int{first.Status}, o.Also...), other.Status, "%s: %s", what, other.Raw)
			require.Empty(t, other.Header.Get("Idempotency-Replayed"), what)
			require.NotEqual(t, string(first.Raw), string(other.Raw), what)
		}
	})
}

func testAFailureIsNotRemembered(t *testing.T, w *apitest.World) {
	eachIdempotent(t, w, func(t *testing.T, o *route.Operation, send sender) {
		if w.Documents[contract.Latest].HasBody(o) {
			require.Equal(t, http.StatusBadRequest, send(w.Acme.New, "again", map[string]any{"noSuchProperty": 1}).Status)
		}
		require.Equal(t, http.StatusUnauthorized, send("", "again", w.Body(t, o)).Status)
		good := send(w.Acme.New, "again", w.Body(t, o))
		require.Less(t, good.Status, 300, "%s", good.Raw)
		require.Empty(t, good.Header.Get("Idempotency-Replayed"))
	})
}

func testBadIdempotencyKeys(t *testing.T, w *apitest.World) {
	eachIdempotent(t, w, func(t *testing.T, o *route.Operation, send sender) {
		body := w.Body(t, o)
		for _, name := range []string{"", strings.Repeat("k", 256), "clé", "\xff", "a\tb"} {
			apitest.RequireError(t, send(w.Acme.New, name, body), http.StatusBadRequest, "invalid_request", "header.Idempotency-Key")
		}
		longest := send(w.Acme.New, strings.Repeat("k", 255), body)
		require.Less(t, longest.Status, 300, "%s", longest.Raw)
	})
}

// Of requests sent at once with one name, one has the effect.
func testRequestsAtOnce(t *testing.T, w *apitest.World) {
	eachIdempotent(t, w, func(t *testing.T, o *route.Operation, _ sender) {
		r := apitest.Request{
			Method: o.Method, Path: freshPath(t, w, o, w.Acme), Key: w.Acme.New, Body: w.Body(t, o),
			Header: map[string]string{route.IdempotencyHeader: "race"},
		}
		answers := make([]apitest.Answer, 6)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = w.Do(r) })
		}
		all.Wait()
		last := w.Do(r)
		require.Equal(t, "true", last.Header.Get("Idempotency-Replayed"))
		did := 0
		for _, answer := range answers {
			w.Check(t, o, answer)
			if answer.Status == http.StatusConflict {
				apitest.RequireError(t, answer, http.StatusConflict, "idempotency_in_progress", "header.Idempotency-Key")
				require.NotEmpty(t, answer.Header.Get("Retry-After"))
				continue
			}
			require.Equal(t, string(last.Raw), string(answer.Raw))
			if answer.Header.Get("Idempotency-Replayed") == "" {
				did++
			}
		}
		require.Equal(t, 1, did)
	})
}
