package portal

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/live"
)

// A gap counts every question, and has the words of those alone whose session may be read.
func TestGapsHaveNoWordsOfWhatNobodyReads(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	ask := func(s session.Session, text string) {
		s.ID, s.Persona = id.NewSession(), id.NewPersona()
		require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
			return recordGap(ctx, tx, live.Question{Session: s, Text: text, Language: "en", At: time.Now().UTC()})
		}))
	}
	ask(session.Session{Kind: "conversation"}, "Where can I park a lorry?")
	ask(session.Session{Kind: session.Practice}, "Why do knots hold?")
	ask(session.Session{Kind: "conversation", Withheld: new(session.LearnerConversation)}, "Do you know my secret?")
	ask(session.Session{Kind: session.Screening, Withheld: new(session.CandidateInterview)}, "What do you pay?")
	gaps, err := knowledge.ListGaps(t.Context(), tenants, org, knowledge.GapFilter{}, id.Gap{}, 10)
	require.NoError(t, err)
	require.Len(t, gaps, 4)
	var words []string
	for _, g := range gaps {
		words = append(words, g.Samples...)
	}
	require.ElementsMatch(t, []string{"Where can I park a lorry?", "Why do knots hold?"}, words)
}
