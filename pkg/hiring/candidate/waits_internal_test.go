package candidate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing of an interview is deleted by the clock before somebody has decided on it, also where
// it is a further one.
func TestInterviewsWaitForADecision(t *testing.T) {
	for state, waits := range map[State]bool{
		Invited: false, Opened: false, InProgress: true, Screened: true, Reviewed: true, Decided: false, Withdrawn: false, Erased: false,
	} {
		for name, decided := range map[string]*Decision{"the first": nil, "a further one": new(Decision)} {
			c := Candidate{State: state, Decision: decided}
			require.Equal(t, waits, c.waits(), "%s, %s", state, name)
		}
	}
}
