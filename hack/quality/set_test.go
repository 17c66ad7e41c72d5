package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sets are whole: enough domains, questions and languages. Of the held-out ones
// nothing is shown but names.
func TestSets(t *testing.T) {
	var all []set
	for _, folder := range []string{"tuning", heldout} {
		sets, err := load(filepath.Join("sets", folder))
		require.NoError(t, err)
		all = append(all, sets...)
	}
	others := 0
	for _, s := range all {
		require.GreaterOrEqual(t, len(s.Questions), 100, s.domain)
		for _, class := range classes {
			require.True(t, slices.ContainsFunc(s.Questions, func(q question) bool { return q.Class == class }), "%s has no %s", s.domain, class)
		}
		if s.Language != "en" {
			others++
		}
	}
	require.GreaterOrEqual(t, len(all), 8)
	require.GreaterOrEqual(t, others, 4, "domains in other languages")
}

// What is to be known of a tuning set stands in its handbook: a fact that does not is
// a slip of the pen.
func TestFactsStandInTheHandbook(t *testing.T) {
	sets, err := load(filepath.Join("sets", "tuning"))
	require.NoError(t, err)
	visitors, err := load(filepath.Join("sets", "visitors"))
	require.NoError(t, err)
	sets = append(sets, visitors...)
	foreign := map[string]bool{}
	for _, s := range sets {
		var text []string
		for _, d := range s.documents {
			text = append(text, d)
		}
		said := normalize(strings.Join(text, "\n"))
		for _, q := range s.Questions {
			if q.Language != "" {
				foreign[q.Language] = true
			}
			// What is reasoned, or named back to the visitor, can be in other words.
			if q.Expect != expectKnow || q.Class == "reasoning" {
				continue
			}
			for _, group := range q.Facts {
				require.True(t, holdsAny(said, group), "%s/%s: nothing of %q", s.domain, q.ID, group)
			}
		}
	}
	for _, language := range spoken {
		require.True(t, foreign[language], "no question in %s", language)
	}
}

func TestFactsOfBareYAML(t *testing.T) {
	for text, want := range map[string]fact{"true": "yes", "false": "no", "9.5": "9.5", `"x \" y"`: `x " y`} {
		var f fact
		require.NoError(t, f.UnmarshalJSON([]byte(text)))
		require.Equal(t, want, f)
	}
}
