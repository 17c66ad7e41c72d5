package route

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/problem"
)

func TestCheckMembers(t *testing.T) {
	for body, param := range map[string]string{
		`{}`: "", `[]`: "", `"x"`: "", `{"a":{"b":1},"b":{"a":[{"a":1},{"a":1}]}}`: "", `{"a":"a","":"a"}`: "",
		`{"a":1,"\u0061":2}`:            "body.a",
		`{"a":[1,{"b":1,"b":2}]}`:       "body.a[1].b",
		`{"a":1,"b":[[],[2,"\u0000"]]}`: "body.b[1][1]",
		`{"x":{"a\u0000":1}}`:           "body.x.a",
		`{"":1,"":2}`:                   "body.",
		`[1,1e400]`:                     "body[1]",
		`{"a":{"b":-1e400}}`:            "body.a.b",
		`"\u0000"`:                      "body",
	} {
		err := checkMembers([]byte(body))
		if param == "" {
			require.NoError(t, err, body)
			continue
		}
		var p *problem.Problem
		require.ErrorAs(t, err, &p, body)
		require.Equal(t, param, p.Param, body)
	}
}

// What is deeply nested in long names takes no more memory than its size, whatever is wrong in it.
func TestCheckMembersOfADeepBody(t *testing.T) {
	const depth = 9000
	name := strings.Repeat("n", 100)
	for _, inner := range []string{`1`, `"\u0000"`, `{"a":1,"a":2}`} {
		body := []byte(strings.Repeat(fmt.Sprintf("{%q:", name), depth) + inner + strings.Repeat("}", depth))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := checkMembers(body)
		runtime.ReadMemStats(&after)
		require.Equal(t, inner != "1", err != nil)
		if err != nil {
			require.Less(t, len(err.Error()), 2000)
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
	}
}
