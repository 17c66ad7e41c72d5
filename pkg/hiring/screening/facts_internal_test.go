package screening

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/session"
)

// What a person has to judge was scored by nobody.
func TestFactsTellOfWhatWasScoredAlone(t *testing.T) {
	t.Parallel()
	i := Screening{State: Scored, Criteria: []Criterion{{Key: "judged", Score: new(2.0)}, {Key: "left"}}}
	facts := i.facts(session.Session{})
	require.Equal(t, []any{true, []string{"judged"}}, []any{facts["scored"], facts["factors"]})
	i.Criteria = i.Criteria[1:]
	facts = i.facts(session.Session{})
	require.Equal(t, []any{false, []string{}}, []any{facts["scored"], facts["factors"]})
}
