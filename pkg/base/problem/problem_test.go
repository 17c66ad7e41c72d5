package problem_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/problem"
)

// The codes and statuses of the spec's table "Errors", and method_not_allowed,
// which HTTP asks for.
func TestStatuses(t *testing.T) {
	for code, status := range map[problem.Code]int{
		"invalid_request": 400, "consent_required": 400, "consent_invalid": 400, "consent_outdated": 400,
		"unauthorized": 401, "forbidden": 403, "upgrade_required": 403, "account_paused": 403,
		"not_found": 404, "method_not_allowed": 405, "conflict": 409, "idempotency_conflict": 409,
		"idempotency_in_progress": 409, "gone": 410, "too_large": 413, "unsupported_media_type": 415,
		"duo_not_live": 409, "face_not_ready": 409, "version_conflict": 409, "go_live_refused": 422,
		"rate_limited": 429, "server_error": 500, "upstream_error": 502, "capacity": 503, "upstream_timeout": 504,
	} {
		require.Equal(t, status, code.Status(), code)
		require.Contains(t, problem.Codes(), code)
	}
}

// Every constant of the package has a status: one without would be answered as 0.
func TestEveryCodeHasAStatus(t *testing.T) {
	source, err := os.ReadFile("problem.go")
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^\t\w+\s+Code = "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, declared)
	var codes []problem.Code
	for _, d := range declared {
		codes = append(codes, problem.Code(d[1]))
	}
	slices.Sort(codes)
	require.Equal(t, codes, problem.Codes())
	for _, c := range codes {
		require.NotEmpty(t, http.StatusText(c.Status()), c)
		require.GreaterOrEqual(t, c.Status(), 400, c)
	}
}

func TestMakers(t *testing.T) {
	cause := errors.New("the disk is full")
	for name, c := range map[string]struct {
		got  *problem.Problem
		want problem.Problem
	}{
		"new":         {problem.New(problem.Gone, "Deleted on %s.", "Monday"), problem.Problem{Code: problem.Gone, Message: "Deleted on Monday."}},
		"invalid":     {problem.Invalid("body.name", "too %s", "long"), problem.Problem{Code: problem.InvalidRequest, Message: "too long", Param: "body.name"}},
		"missing":     {problem.Missing("avatar"), problem.Problem{Code: problem.NotFound, Message: "No such avatar in this organization."}},
		"conflicting": {problem.Conflicting("worn", "It is worn."), problem.Problem{Code: problem.Conflict, Message: "It is worn.", Details: map[string]any{"reason": "worn"}}},
		"details":     {problem.New(problem.Conflict, "x").WithDetail("a", 1).WithDetail("b", nil), problem.Problem{Code: problem.Conflict, Message: "x", Details: map[string]any{"a": 1, "b": nil}}},
	} {
		require.Equal(t, c.want, *c.got, name)
	}
	p := problem.Unavailable(3*time.Second, cause)
	require.Equal(t, problem.Capacity, p.Code)
	require.Equal(t, 3*time.Second, p.RetryAfter)
	require.NotContains(t, p.Message, "disk")
	require.ErrorIs(t, p, cause)
}

func TestErrorIsForTheLog(t *testing.T) {
	p := problem.Invalid("query.limit", "limit is 1 to 200.")
	require.EqualError(t, p, "invalid_request: limit is 1 to 200. (query.limit)")
	require.EqualError(t, p.WithCause(io.EOF), "invalid_request: limit is 1 to 200. (query.limit): EOF")
	require.EqualError(t, problem.Missing("voice"), "not_found: No such voice in this organization.")
}

func TestIs(t *testing.T) {
	wrapped := fmt.Errorf("while reading: %w", problem.Missing("avatar"))
	require.True(t, problem.Is(wrapped, problem.NotFound))
	require.False(t, problem.Is(wrapped, problem.Gone))
	require.False(t, problem.Is(io.EOF, problem.ServerError))
	require.False(t, problem.Is(nil, problem.NotFound))
}

func TestFrom(t *testing.T) {
	p := problem.Missing("avatar")
	require.Same(t, p, problem.From(p))
	require.Same(t, p, problem.From(fmt.Errorf("while reading: %w", p)))

	unknown := problem.From(fmt.Errorf("password geheim: %w", io.EOF))
	require.Equal(t, problem.ServerError, unknown.Code)
	require.NotContains(t, unknown.Message, "geheim", "the caller learns nothing of the cause")
	require.ErrorIs(t, unknown, io.EOF, "the log does")
}
