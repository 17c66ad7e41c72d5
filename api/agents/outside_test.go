package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/directory"
)

// What one process sealed another opens.
func TestAConversationGoesOnAtAnotherProcess(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	o := w.Operation(t, "askAgent")
	first := ask(t, w, slug, map[string]any{"question": "When does the museum open?", "language": "en"}).Data(t)
	beside := apitest.Serve(t, w.Options)
	answer := w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, slug), Base: beside.URL, Body: map[string]any{
		"question": "And when does it close?", "language": "en", "conversationId": first["conversationId"],
	}})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Contains(t, answer.Data(t)["answer"], "six")
}

func TestAPausedAccount(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	requireAsked(t, w, slug)
	require.NoError(t, w.Directory.Pause(context.Background(), w.Acme.ID, "tests"))
	requireRefused(t, w, slug)
	require.NoError(t, w.Directory.Resume(context.Background(), w.Acme.ID))
	requireAsked(t, w, slug)
}

// An organization moves to another shard, and its agents go on.
func TestAMovedOrganization(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	first := ask(t, w, slug, map[string]any{"question": "When does the museum open?", "language": "en"}).Data(t)
	require.NoError(t, move.Begin(t.Context(), w.Directory, w.Tenants, w.Acme.ID, "shard-2", "test"))
	mover := move.New(move.Options{Directory: w.Directory, Tenants: w.Tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Keep: -1})
	_, err := mover.Advance(t.Context())
	require.NoError(t, err)
	end, err := w.Directory.MoveOf(t.Context(), w.Acme.ID)
	require.NoError(t, err)
	require.Equal(t, directory.Moved, end.Phase, end.Problem)
	next := ask(t, w, slug, map[string]any{"question": "And when does it close?", "language": "en", "conversationId": first["conversationId"]}).Data(t)
	require.Contains(t, next["answer"], "six")
	require.Equal(t, http.StatusOK, get(t, w, "getAgent", slug).Status)
}

// behindProxy lets a test say where its requests come from.
func behindProxy(o *apitest.Options) {
	o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// Whoever has a /64 has one household's questions, not 2^64 times as many; and the next
// /64 has its own.
func TestAddressesOfIPv6(t *testing.T) {
	w := apitest.NewWorld(t, behindProxy)
	slug := w.Agent(t, w.Acme)
	o := w.Operation(t, "askAgent")
	asked := 0
	from := func(address string) apitest.Answer {
		asked++ // another question each time: an answer that is kept counts for less
		return w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, slug), Body: map[string]any{"question": fmt.Sprintf("Hello %d?", asked)}, Header: map[string]string{"X-Forwarded-For": address}})
	}
	answers := apitest.Within(t, func() []apitest.Answer {
		var all []apitest.Answer
		for i := range 30 {
			all = append(all, from("2001:db8:1:2::"+string("0123456789abcdef"[i%16])))
		}
		return append(all, from("2001:db8:1:2:ffff:ffff:ffff:ffff"), from("2001:db8:1:3::1"), from("::ffff:203.0.113.9"), from("203.0.113.9"))
	})
	statuses := make([]int, 0, 4)
	for i, answer := range answers {
		if i < 30 {
			require.Equal(t, http.StatusOK, answer.Status, "%d: %s", i, answer.Raw)
			continue
		}
		statuses = append(statuses, answer.Status)
	}
	require.Equal(t, []int{429, 200, 200, 200}, statuses)
	require.Equal(t, "28", answers[33].Header.Get("RateLimit-Remaining"), "an IPv4 address is one, however it is written")
}

// A flood of large bodies is refused before anything is done, and one of questions by the
// address's bound; meanwhile somebody else is answered.
func TestAFlood(t *testing.T) {
	w := apitest.NewWorld(t, behindProxy)
	slug := w.Agent(t, w.Acme)
	o := w.Operation(t, "askAgent")
	post := func(address string, body []byte) int {
		return w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, slug), Body: body, Header: map[string]string{"X-Forwarded-For": address}}).Status
	}
	large, err := json.Marshal(map[string]any{"question": "Hello?", "conversationId": strings.Repeat("x", 16<<10)})
	require.NoError(t, err)
	small := []byte(`{"question": "Hello?"}`)
	var asked atomic.Int64
	full := func() []byte {
		one := fmt.Appendf(nil, `{"question": "Hello %d?"}`, asked.Add(1)) // another each time: an answer that is kept counts for less
		return append(bytes.Repeat([]byte(" "), 16<<10-len(one)), one...)
	}
	var counts map[int]int
	apitest.Within(t, func() []apitest.Answer {
		var mu sync.Mutex
		counts = map[int]int{}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 15 {
					a, b := post("192.0.2.7", large), post("192.0.2.7", full())
					mu.Lock()
					counts[a]++
					counts[b]++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		require.Equal(t, http.StatusOK, post("198.51.100.7", small))
		return nil
	})
	require.Equal(t, map[int]int{http.StatusRequestEntityTooLarge: 120, http.StatusOK: 30, http.StatusTooManyRequests: 90}, counts)
}
