package voice_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/voice"
)

func TestNearest(t *testing.T) {
	for _, from := range voice.Studio() {
		for _, engine := range []string{language.Premier, language.Global} {
			for _, code := range from.Languages {
				near, ok := voice.Nearest(from, engine, []string{code})
				require.True(t, ok)
				require.Equal(t, []any{engine, from.Gender}, []any{near.Engine, near.Gender})
				if language.Speaks(engine, code) {
					require.Contains(t, near.Languages, code, "%s in %s", from.Key, code)
				}
			}
			if from.Engine == engine {
				near, _ := voice.Nearest(from, engine, []string{from.PrimaryLanguage})
				require.Equal(t, from.PrimaryLanguage, near.PrimaryLanguage)
			}
		}
	}
	_, ok := voice.Nearest(voice.Studio()[0], "none", nil)
	require.False(t, ok)
}
