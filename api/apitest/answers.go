package apitest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
)

// CheckHeaders checks the headers of every answer.
func CheckHeaders(t testing.TB, a Answer) {
	t.Helper()
	require.Regexp(t, `^req_[0-9A-Za-z]{22}$`, a.Header.Get("X-Request-Id"))
	_, ok := contract.Parse(a.Header.Get(contract.Header))
	require.True(t, ok, "%s: %q", contract.Header, a.Header.Get(contract.Header))
	numbers := map[string]int{}
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		n, err := strconv.Atoi(a.Header.Get(name))
		require.NoError(t, err, name)
		numbers[name] = n
	}
	require.Positive(t, numbers["RateLimit-Limit"])
	require.LessOrEqual(t, numbers["RateLimit-Remaining"], numbers["RateLimit-Limit"])
	require.GreaterOrEqual(t, numbers["RateLimit-Remaining"], 0)
	require.Greater(t, numbers["RateLimit-Reset"], 0)
	require.LessOrEqual(t, numbers["RateLimit-Reset"], 60)
}

// finerThanKept is a moment to the nanosecond. Databases keep microseconds: a moment that is told finer is told otherwise
// when it is read again.
var finerThanKept = regexp.MustCompile(`"[^"]+":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,}[^"]*"`)

// CheckMoments checks that an answer tells every moment as it is kept.
func CheckMoments(t testing.TB, a Answer) {
	t.Helper()
	require.Empty(t, finerThanKept.FindAllString(string(a.Raw), -1), "moments that are finer than microseconds")
}

// CheckEnvelope checks the form of a JSON answer (spec, Envelope).
func CheckEnvelope(t testing.TB, a Answer, list bool) {
	t.Helper()
	if len(a.Raw) == 0 || a.Status < 400 && a.Header.Get("Content-Type") != "application/json" {
		return
	}
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(a.Raw, &body), "status %d, body: %s", a.Status, a.Raw)
	if a.Status >= 400 {
		checkFailure(t, a, body)
		return
	}
	require.Contains(t, body, "data")
	require.NotEmpty(t, a.Header.Get("Cache-Control"), "nobody between keeps what is somebody's own")
	require.Equal(t, "null", string(body["error"]))
	if a.Header.Get("Idempotency-Replayed") == "" {
		require.JSONEq(t, strconv.Quote(a.Header.Get("X-Request-Id")), string(body["requestId"]))
	}
	_, paged := body["nextCursor"]
	require.Equal(t, list, paged, "nextCursor belongs to lists")
}

func checkFailure(t testing.TB, a Answer, body map[string]json.RawMessage) {
	t.Helper()
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	if string(body["error"]) == `"upgrade_required"` {
		require.Equal(t, string(contract.V20260708), a.Header.Get(contract.Header))
		return
	}
	e := a.Error(t)
	require.NotEmpty(t, e["code"])
	require.NotEmpty(t, e["message"])
	require.NotContains(t, body, "data")
}

// RequireError checks a failure's status, code and input at fault.
func RequireError(t testing.TB, a Answer, status int, code, param string) map[string]any {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Raw)
	e := a.Error(t)
	require.Equal(t, code, e["code"], "%s", a.Raw)
	if param != "" {
		require.Equal(t, param, e["param"], "%s", a.Raw)
	}
	return e
}
