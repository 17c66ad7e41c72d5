package contract_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
)

var update = flag.Bool("update", false, "write the golden files anew")

// failures are problems whose bodies the golden files hold, by file name.
var failures = map[string]func() *problem.Problem{
	"plan-refusal-limit": func() *problem.Problem {
		return problem.New(problem.UpgradeRequired, "The plan Team allows 10 of customAvatars, and all are in use.").
			WithDetail("feature", "customAvatars").WithDetail("plan", "business").WithDetail("limit", int64(10))
	},
	"plan-refusal-feature": func() *problem.Problem {
		return problem.New(problem.UpgradeRequired, "The plan Enterprise does not include teleport.").
			WithDetail("feature", "teleport").WithDetail("plan", nil)
	},
	"too-large": func() *problem.Problem {
		return problem.New(problem.TooLarge, "The picture is too large.").WithParam("body.picture")
	},
	"invalid": func() *problem.Problem {
		return problem.Invalid("query.limit", "limit is 1 to 200.").WithDetail("reason", "range").WithCause(errors.New("hidden"))
	},
	"refused-transcript": func() *problem.Problem {
		return problem.New(problem.LearnerConversation, "A young learner's conversation stays in the dashboard.").WithParam("path.id")
	},
	"unavailable": func() *problem.Problem { return problem.Unavailable(time.Second, errors.New("hidden")) },
}

func TestFailure(t *testing.T) {
	for name, make := range failures {
		for _, v := range contract.Versions() {
			t.Run(name+"/"+string(v), func(t *testing.T) {
				golden(t, filepath.Join("testdata", name+"."+string(v)+".json"), contract.Failure(v, make()))
			})
		}
	}
}

func golden(t *testing.T, path string, body any) {
	t.Helper()
	got, err := json.MarshalIndent(body, "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got)+"\n")
	require.NotContains(t, string(got), "hidden", "a cause never leaves the server")
}

func TestWritingAFailureLeavesTheProblem(t *testing.T) {
	for name, make := range failures {
		p := make()
		for range 2 {
			_ = contract.Failure(contract.V20260708, p)
		}
		require.Equal(t, contract.Failure(contract.Latest, make()), contract.Failure(contract.Latest, p), name)
	}
}

func TestOtherCodesAreTheSameInEveryContract(t *testing.T) {
	for _, code := range problem.Codes() {
		switch code {
		case problem.UpgradeRequired, problem.TooLarge, problem.CandidateInterview, problem.LearnerConversation:
			continue
		}
		p := problem.New(code, "message").WithParam("body.name").WithDetail("reason", "why")
		want := contract.Failure(contract.V20261001, p)
		require.Equal(t, map[string]any{"error": map[string]any{
			"code": string(code), "message": "message", "param": "body.name", "details": map[string]any{"reason": "why"},
		}}, want)
		require.Equal(t, want, contract.Failure(contract.V20260708, p), code)
	}
}

func TestAFailureSaysNoMoreThanItHas(t *testing.T) {
	require.Equal(t, map[string]any{"error": map[string]any{"code": "not_found", "message": "No such avatar in this organization."}},
		contract.Failure(contract.Latest, problem.Missing("avatar")))
}

func TestChanges(t *testing.T) {
	changes := contract.Changes()
	require.NotEmpty(t, changes)
	for i, c := range changes {
		require.True(t, strings.HasSuffix(c.Summary, "."), c.Summary)
		_, known := contract.Parse(string(c.Since))
		require.True(t, known, c.Since)
		require.NotEqual(t, contract.Versions()[0], c.Since, "nothing precedes the first contract")
		if i > 0 {
			require.False(t, changes[i-1].Since.Before(c.Since), "newest first")
		}
	}
}
