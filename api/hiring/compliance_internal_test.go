package hiring

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/record"
)

// A record without questions has no field that programs do not know which verify the first form alone.
func TestTheFormOfARecord(t *testing.T) {
	t.Parallel()
	x, now := candidate.Candidate{ID: id.NewCandidate()}, time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	shown := func(asked ...question.Set) (fields map[string]any) {
		text, err := json.Marshal(showRecord(id.NewOrg(), x, nil, nil, asked, now))
		require.NoError(t, err)
		_, err = record.Verify(text)
		require.Equal(t, len(asked) > 0, err != nil, "no entry names them")
		require.NoError(t, json.Unmarshal(text, &fields))
		return fields
	}
	without := shown()
	require.Equal(t, "visavis-candidate-record-1", without["format"])
	require.NotContains(t, without, "questionSets")
	with := shown(question.Set{Hash: question.Hash("{}"), Text: "{}"})
	require.Equal(t, "visavis-candidate-record-2", with["format"])
	require.Len(t, with["questionSets"], 1)
}
