package ats_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/provider/ashby/ashbytest"
	"visavis.dev/pkg/sessions/session"
)

// appeal has a candidate appeal against a decision, which a person grants.
func (b *bench) appeal(who id.Candidate) {
	b.t.Helper()
	asked := b.Ask(b.t, b.Acme, who, candidate.Appeal, "Please look again.")
	granted := b.CallAs(b.t, "updateCandidateRequest", asked.String(), b.Acme.New, map[string]any{
		"state": "granted", "decidedBy": b.HiringManager(b.t, b.Acme), "answer": "We do.",
	})
	require.Equal(b.t, http.StatusOK, granted.Status, "%s", granted.Raw)
}

// A system that was told of a decision is told that it is reopened, and of the one after it, each once.
func TestADecisionThatIsReopened(t *testing.T) {
	for _, value := range []string{"reject", "withdrawn"} {
		t.Run("of Ashby: "+value, func(t *testing.T) {
			b := newBench(t)
			s := b.ashby()
			_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
			require.NoError(t, err)
			who := b.arrive()
			b.tell()
			before := len(s.Updates())
			told := func() []any {
				b.tell()
				b.tell()
				return values(s.Updates()[before:])
			}
			first := map[string]any{"reject": "Complete", "withdrawn": "cancelled"}[value]
			b.decide(who, value)
			require.Equal(t, []any{first}, told())
			b.appeal(who)
			require.Equal(t, []any{first, "Reopened"}, told())
			b.Ask(b.t, b.Acme, who, candidate.Correction, "") // what is not told changes nothing
			require.Equal(t, []any{first, "Reopened"}, told())
			b.decide(who, value)
			require.Equal(t, []any{first, "Reopened", first}, told())
			b.appeal(who)
			b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
			b.review(who)
			all := told()
			require.Equal(t, "Complete", all[len(all)-1])
			last := s.Updates()[len(s.Updates())-1]
			require.EqualValues(t, 100, last.Result)
			keys := map[string]bool{}
			for i, u := range s.Updates() {
				require.False(t, keys[u.Key], "nothing is told twice")
				keys[u.Key] = true
				require.True(t, i == 0 || u.Timestamp > s.Updates()[i-1].Timestamp)
			}
		})
	}
	t.Run("of Greenhouse", func(t *testing.T) {
		b := newBench(t)
		s := b.greenhouse()
		which, err := s.SendTest(s.Body(b.role, harry))
		require.NoError(t, err)
		who := b.arrive()
		stands := func(patched int) string {
			b.tell()
			b.tell()
			require.Len(t, s.Patched(), patched)
			at, err := s.TestStatus(which)
			require.NoError(t, err)
			return at.Status
		}
		b.decide(who, "reject")
		require.Equal(t, "complete", stands(1))
		b.appeal(who)
		require.Equal(t, "reopened", stands(2))
		b.decide(who, "hire")
		require.Equal(t, "complete", stands(3))
	})
	t.Run("that it was not told of", func(t *testing.T) {
		b := newBench(t)
		s := b.ashby()
		_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
		require.NoError(t, err)
		who := b.arrive()
		b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
		b.review(who)
		b.tell()
		told := len(s.Updates())
		b.decide(who, "reject")
		b.appeal(who)
		b.decide(who, "hire")
		b.tell()
		require.Len(t, s.Updates(), told)
	})
}
