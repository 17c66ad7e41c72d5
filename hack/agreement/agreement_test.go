package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The sets are whole: 200 answers at least, each with a figure for every point, and some that
// nobody can be sure of.
func TestSets(t *testing.T) {
	questions, err := load()
	require.NoError(t, err)
	answers, doubtful := map[string]bool{}, 0
	for code, list := range questions {
		for _, q := range list {
			for _, a := range q.Answers {
				require.Len(t, a.Covers, len(q.Points), a.Said)
				require.False(t, answers[code+q.Question+a.Said], "twice: %s", a.Said)
				answers[code+q.Question+a.Said] = true
				if a.Doubtful {
					doubtful++
				}
			}
		}
	}
	require.GreaterOrEqual(t, len(answers), 200)
	require.GreaterOrEqual(t, doubtful, 20)
}

func TestKappa(t *testing.T) {
	full := []pair{{person: 0, machine: 0, most: 2}, {person: 1, machine: 1, most: 2}, {person: 2, machine: 2, most: 2}}
	require.InDelta(t, 1, kappa(full), 1e-9)
	// Whoever gives everybody the same agrees by chance alone.
	chance := []pair{{person: 0, machine: 1, most: 2}, {person: 1, machine: 1, most: 2}, {person: 2, machine: 1, most: 2}}
	require.InDelta(t, 0, kappa(chance), 1e-9)
	contrary := []pair{{person: 0, machine: 2, most: 2}, {person: 2, machine: 0, most: 2}}
	require.InDelta(t, -1, kappa(contrary), 1e-9)
	// 4 of 4 for 2 of 4 weighs four times 3 of 4 for 2 of 4.
	require.InDelta(t, 4*apart(2, 4, 3, 4), apart(2, 4, 4, 4), 1e-9)
}
