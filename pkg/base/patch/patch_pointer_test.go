package patch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/patch"
)

func TestMergeWhatIsPointedAt(t *testing.T) {
	type holder struct {
		Inner *inner `json:"inner"`
	}
	note := "old"
	for name, c := range map[string]struct {
		before *inner
		patch  string
		after  *inner
	}{
		"one member":      {&inner{N: 1, Note: &note}, `{"inner":{"n":2}}`, &inner{N: 2, Note: &note}},
		"there was none":  {nil, `{"inner":{"n":2}}`, &inner{N: 2}},
		"null empties":    {&inner{N: 1}, `{"inner":null}`, nil},
		"a null within":   {&inner{N: 1, Note: &note}, `{"inner":{"note":null}}`, &inner{N: 1}},
		"nothing changes": {&inner{N: 1}, `{"inner":{}}`, &inner{N: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			before := holder{c.before}
			got := before
			require.NoError(t, patch.Merge(&got, []byte(c.patch)))
			require.Equal(t, holder{c.after}, got)
			if c.before != nil {
				require.Equal(t, int64(1), c.before.N, "what it pointed at stays as it was")
			}
		})
	}
	var got holder
	err := patch.Merge(&got, []byte(`{"inner":{"n":"x"}}`))
	var wrong *patch.Error
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "inner.n", wrong.Path)
	require.Equal(t, "content.inner.n", wrong.Within("content").Path)
}
