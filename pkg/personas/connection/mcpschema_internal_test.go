package connection

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/mcpclient"
)

// What is referred to again and again costs as if it were written so.
func TestASchemaThatRefersMuchIsCheap(t *testing.T) {
	for _, large := range []string{
		`"enum":["` + strings.Repeat(strings.Repeat("x", 100)+`","`, 250) + `"]`,
		`"description":"` + strings.Repeat("word ", 5000) + `"`,
		`"x":{},"` + strings.Repeat("x", 20_000) + `":{}`,
	} {
		schema := `{"type":"object","$defs":{"large":{` + large + `}},"properties":{`
		for n := range 800 {
			schema += fmt.Sprintf(`"p%d":{"$ref":"#/$defs/large"},`, n)
		}
		schema = strings.TrimSuffix(schema, ",") + `}}`
		require.Less(t, len(schema), maxWritten)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := plainSchema([]byte(schema))
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, errTooLarge)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(5<<20))
	}
}

// Nothing that nobody sees is told to a model or to the organization.
func TestWhatNobodySeesIsNotSaid(t *testing.T) {
	require.Equal(t, "pay now", said("pay\u202enow", 20))
	require.Equal(t, "pay", said("\u200bpay\U000E0049\U000E0067\U000E006E", 20))
	require.False(t, oneLine("pay\u2066now", 20))
	require.Empty(t, discovered([]mcpclient.Tool{{Name: "p\u200bay", Schema: []byte(`{"type":"object"}`)}}))
}

// Of tools with one name nobody knows which would be used.
func TestToolsOfOneNameCannotBeUsed(t *testing.T) {
	plain := []byte(`{"type":"object"}`)
	problems := map[string][]string{}
	for _, d := range discovered([]mcpclient.Tool{{Name: "pay", Schema: plain}, {Name: "look", Schema: plain}, {Name: "pay", Schema: plain}}) {
		problems[d.Name] = append(problems[d.Name], d.Problem)
	}
	const several = "its server has several of this name"
	require.Equal(t, map[string][]string{"pay": {several, several}, "look": {""}}, problems)
}
