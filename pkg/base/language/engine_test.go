package language

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEngines(t *testing.T) {
	t.Parallel()

	engines := Engines()
	require.ElementsMatch(t, []string{"premier", "global"}, slices.Collect(maps.Keys(engines)))

	defaults := 0
	for key, engine := range engines {
		require.Equal(t, key, engine.Key)
		require.NotEmpty(t, engine.Name)
		require.NotEmpty(t, engine.Note)
		require.Equal(t, len(EngineLanguages(key)), engine.LanguageCount)
		if engine.Default {
			defaults++
		}
	}
	require.Equal(t, 1, defaults)
	require.Equal(t, len(Catalogue()), engines[Global].LanguageCount)
	require.Less(t, engines[Premier].LanguageCount, engines[Global].LanguageCount)
}

func TestEnginesIsACopy(t *testing.T) {
	t.Parallel()

	clear(Engines())
	require.Len(t, Engines(), 2)
}

func TestEngineLanguages(t *testing.T) {
	t.Parallel()

	var all, duo, beta []string
	for _, language := range Catalogue() {
		all = append(all, language.Code)
		if language.Duo {
			duo = append(duo, language.Code)
		}
		if language.Beta {
			beta = append(beta, language.Code)
		}
	}
	require.Equal(t, all, EngineLanguages(Global))
	require.Subset(t, EngineLanguages(Premier), duo)
	require.NotEmpty(t, beta)
	for _, code := range beta {
		require.NotContains(t, EngineLanguages(Premier), code)
	}
	require.Empty(t, EngineLanguages("other"))

	clear(EngineLanguages(Global))
	require.Equal(t, all, EngineLanguages(Global))
}

func TestSpeaks(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		engine, code string
		want         bool
	}{
		{Premier, "en", true},
		{Premier, "zh-Hant", true},
		{Premier, "sw", false},
		{Premier, "zu", false},
		{Premier, "tlh", false},
		{Global, "en", true},
		{Global, "sw", true},
		{Global, "zu", true},
		{Global, "tlh", false},
		{Global, "", false},
		{"other", "en", false},
		{"", "en", false},
	} {
		require.Equal(t, test.want, Speaks(test.engine, test.code), "%q, %q", test.engine, test.code)
	}
}
