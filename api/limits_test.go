package api_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

func TestLimitOfAKey(t *testing.T) {
	a := apitest.New(t, func(o *apitest.Options) { o.PerAddress = 1_000_000 })
	var key apikey.Secret
	answers := apitest.Within(t, func() []apitest.Answer {
		key = a.Key(a.Acme, scope.Grant{Contract: contract.Latest})
		answers := make([]apitest.Answer, 601)
		for i := range answers {
			answers[i] = a.Get(key, "/languages")
		}
		// Of the same moment: others have their own count.
		return append(answers, a.Get(a.Acme.New, "/languages"), a.Get(a.Globex.New, "/languages"), a.Get(key, "/health"), a.Get(key, "/nothing"))
	})
	left := 600
	for i, answer := range answers[:600] {
		require.Equal(t, http.StatusOK, answer.Status, "request %d: %s", i+1, answer.Raw)
		require.Equal(t, "600", answer.Header.Get("RateLimit-Limit"))
		remaining, err := strconv.Atoi(answer.Header.Get("RateLimit-Remaining"))
		require.NoError(t, err)
		require.Less(t, remaining, left)
		left = remaining
	}
	require.Zero(t, left)

	refused := answers[600]
	apitest.CheckHeaders(t, refused)
	apitest.RequireError(t, refused, http.StatusTooManyRequests, "rate_limited", "")
	require.Equal(t, "0", refused.Header.Get("RateLimit-Remaining"))
	wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.True(t, 1 <= wait && wait <= 60, "%d", wait)

	for i, status := range []int{http.StatusOK, http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		require.Equal(t, status, answers[601+i].Status, "%d: %s", i, answers[601+i].Raw)
	}
	me := a.Get(a.Acme.Old, "/me").Data(t)["rateLimits"].(map[string]any)
	require.Equal(t, map[string]any{"perKey": 600.0, "perOrganization": 1200.0, "windowS": 60.0}, me["read"])
}

func TestLimitOfAnOrganizationAndAnAddress(t *testing.T) {
	a := apitest.New(t, func(o *apitest.Options) {
		o.PerAddress = 40
		o.Rates[rate.Read] = rate.Rate{PerKey: 10, PerOrganization: 15}
	})
	var org *apitest.Org
	n := 0
	read := func(key apikey.Secret, times int) (answers []apitest.Answer) {
		for range times {
			answers = append(answers, a.Get(key, "/languages"))
		}
		return answers
	}
	statuses := func(answers []apitest.Answer) map[int]int {
		counts := map[int]int{}
		for _, answer := range answers {
			counts[answer.Status]++
		}
		return counts
	}
	answers := apitest.Within(t, func() []apitest.Answer {
		n++
		org = a.NewOrg("Initech "+strconv.Itoa(n), "shard-1", "business")
		return append(append(read(org.New, 9), read(org.Old, 9)...), read(a.Globex.New, 1)...)
	})
	require.Equal(t, map[int]int{http.StatusOK: 9}, statuses(answers[:9]))
	require.Equal(t, map[int]int{http.StatusOK: 6, http.StatusTooManyRequests: 3}, statuses(answers[9:18]), "15 of both keys together")
	require.Equal(t, "15", answers[14].Header.Get("RateLimit-Limit"), "the closer one is shown")
	require.Equal(t, http.StatusOK, answers[18].Status)

	// What an address may is over for it whatever the key, and for what takes none.
	answers = apitest.Within(t, func() []apitest.Answer {
		for range 40 {
			a.Get("", "/health")
		}
		return []apitest.Answer{a.Get("", "/health"), a.Get(a.Globex.New, "/me")}
	})
	require.Equal(t, http.StatusTooManyRequests, answers[0].Status)
	answer := answers[1]
	apitest.CheckHeaders(t, answer)
	apitest.RequireError(t, answer, http.StatusTooManyRequests, "rate_limited", "")
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
}

// What is refused for its scope or its input counts as well.
func TestRefusalsCount(t *testing.T) {
	// The key's own limit is the closer one, and the one that is shown. Of the
	// organization's, tokens that others gave back may still be under way.
	w := apitest.NewWorld(t, func(o *apitest.Options) {
		for _, c := range rate.Classes() {
			o.Rates[c] = rate.Rate{PerKey: 1000, PerOrganization: 1_000_000}
		}
	})
	remaining := func(a apitest.Answer) int {
		n, err := strconv.Atoi(a.Header.Get("RateLimit-Remaining"))
		require.NoError(t, err)
		return n
	}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if o.Class == "" {
			return
		}
		body := w.Body(t, o)
		counted := func() bool {
			key := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.TranscriptsRead}})
			first := w.Do(apitest.Request{Method: o.Method, Path: o.Path + "?noSuchParameter=1", Key: key, Body: body})
			second := w.Do(apitest.Request{Method: o.Method, Path: o.Path + "?noSuchParameter=1", Key: key, Body: body})
			require.GreaterOrEqual(t, first.Status, 400)
			return remaining(first)-1 == remaining(second)
		}
		passes := false
		for range 2 { // since a minute may end between two requests
			passes = passes || counted()
		}
		require.True(t, passes)
	})
}
