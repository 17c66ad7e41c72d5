package portal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/hiring/candidate"
)

// What was decided before an interview is not said of it.
func TestTheStandingIsOfTheLastInterview(t *testing.T) {
	t.Parallel()
	screened := time.Date(2026, 7, 8, 10, 0, 0, 0, time.UTC)
	at := func(v candidate.Value, after time.Duration, c candidate.Candidate) string {
		c.Decision = &candidate.Decision{Value: v, At: screened.Add(after)}
		return standing(c)
	}
	held := candidate.Candidate{State: candidate.Screened, Attempts: 1, ScreenedAt: &screened}
	require.Empty(t, at(candidate.Advance, -time.Hour, held))
	require.Equal(t, "decided", at(candidate.Advance, time.Hour, held))
	require.Equal(t, "decided", at(candidate.Reject, time.Hour, held))
	require.Equal(t, "decided", at(candidate.Reject, time.Hour, candidate.Candidate{State: candidate.Decided}), "without an interview")
	held.ReviewedAt = &screened
	require.Equal(t, "read", at(candidate.Advance, -time.Hour, held))
}
