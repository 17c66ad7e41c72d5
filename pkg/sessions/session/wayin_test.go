package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/session"
)

// Nobody is mailed a way into what nobody of the team may read, or that is over.
func TestHasWayIn(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*session.Session)
		want   bool
	}{
		"live":                {func(*session.Session) {}, true},
		"zero data retention": {func(s *session.Session) { s.Withheld = new(session.ZeroRetention) }, true},
		"a young learner's":   {func(s *session.Session) { s.Withheld = new(session.LearnerConversation) }, false},
		"a candidate's":       {func(s *session.Session) { s.Kind = session.Screening }, false},
		"a room":              {func(s *session.Session) { s.Transport = session.LiveKit }, true},
		"over":                {func(s *session.Session) { s.State = session.Ended }, false},
	} {
		s := session.Session{State: session.Live}
		tt.change(&s)
		require.Equal(t, tt.want, s.HasWayIn(), name)
	}
}
