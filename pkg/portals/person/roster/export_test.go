package roster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
)

// RefuseAll is the file of every line of another, as if each had been refused.
func RefuseAll(data []byte) (rejects []byte, lines int, err error) {
	s, err := open(data)
	if err != nil {
		return nil, 0, err
	}
	all, _, err := s.read(s.start, MaxLines)
	if err != nil {
		return nil, 0, err
	}
	refused := make([]job.RefusedLine, len(all))
	for i, l := range all {
		refused[i] = job.RefusedLine{Line: l.Number, Message: "=No."}
	}
	rejects, err = s.rejects(refused)
	return rejects, len(all), err
}

// Cells are those of a file as they stand in it, one after another.
func Cells(t testing.TB, data []byte) (all []string) {
	t.Helper()
	s, err := open(data)
	require.NoError(t, err)
	lines, _, err := s.read(s.start, MaxLines+1)
	require.NoError(t, err)
	all = s.header
	for _, l := range lines {
		all = append(all, l.Cells...)
	}
	return all
}
