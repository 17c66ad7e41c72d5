package hiring_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// What the page saw is kept as facts of the moment and the question, of who was told that it is; it is no part of any
// score, and goes with the words.
func TestWhatThePageSawIsAFactAndNoScore(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil) // whose notice tells of it
	var at time.Time
	see := func(who id.Candidate, in id.Session, s screening.Signal) error {
		return screening.Observe(t.Context(), w.Tenants, w.Acme.ID, who, in, s, at)
	}
	var held id.Session
	hold := func(who id.Candidate, signals ...screening.Signal) {
		w.InterviewWhile(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser, func(s session.Session) {
			at, held = s.CreatedAt.Add(time.Minute), s.ID
			for i, one := range signals {
				if i == 1 { // the question is put before the second of them
					w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
						asked := session.Turn{ID: id.NewTurn(), Index: 1, Speaker: session.Avatar, Text: s.Brief.Goals[0].Prompt, Language: "en", Origin: session.Say, StartedAt: at, EndedAt: &at}
						return session.Keep(ctx, tx, s, asked, at)
					})
				}
				require.NoError(t, see(who, s.ID, one))
				require.NoError(t, see(who, id.NewSession(), one), "of who has the link elsewhere nothing is noted")
			}
		})
	}
	seen, plain := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role)), w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	require.NoError(t, see(seen, id.NewSession(), screening.Signal{Kind: screening.Pasted, Characters: 9}), "there is no interview")
	hold(seen, screening.Signal{Kind: screening.Watching}, screening.Signal{Kind: screening.Pasted, Characters: 120},
		screening.Signal{Kind: screening.Left, DurationMs: 4500}, screening.Signal{Kind: screening.Left, DurationMs: 600})
	first := held
	hold(plain)
	require.NoError(t, see(seen, first, screening.Signal{Kind: screening.Pasted, Characters: 9}), "it is over")

	interview := read(t, w, "getCandidateInterview", seen.String())
	facts := interview["integrity"]
	require.Equal(t, []any{true, 1.0, 2.0, 5.0}, []any{
		apitest.At(facts, "pasteDetected"), apitest.At(facts, "pastes"), apitest.At(facts, "tabSwitches"), apitest.At(facts, "awayS"),
	})
	signals := apitest.At(facts, "signals").([]any)
	require.Len(t, signals, 3)
	require.Equal(t, []any{"pasted", "loop", 120.0, nil}, []any{
		apitest.At(signals[0], "kind"), apitest.At(signals[0], "questionKey"), apitest.At(signals[0], "characters"), apitest.At(signals[0], "durationMs"),
	})
	require.Equal(t, []any{"left", 4500.0, nil}, []any{apitest.At(signals[1], "kind"), apitest.At(signals[1], "durationMs"), apitest.At(signals[1], "characters")})
	require.Nil(t, read(t, w, "getCandidateInterview", plain.String())["integrity"], "no page watched")

	// They are scored alike, and nothing that is scored has a place for it.
	for _, who := range []id.Candidate{seen, plain} {
		require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": w.HiringManager(t, w.Acme)}).Status)
	}
	require.Equal(t, read(t, w, "getCandidate", plain.String())["scorecard"], read(t, w, "getCandidate", seen.String())["scorecard"])
	given, err := json.Marshal(screening.Words{Answers: map[string]rubric.Answer{"loop": {Text: "said"}}})
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(given, &members))
	require.Len(t, members, 3, "Language, Questions and Answers: all that is given to the scorer")
	for _, name := range []string{"paste", "signal", "integrity", "tab", "away"} {
		require.NotContains(t, strings.ToLower(string(given)), name)
	}

	// The record has it as words, which go with those of the interview.
	words := func() (found string) {
		var e record.Export
		require.NoError(t, json.Unmarshal(exported(t, w, seen.String()), &e))
		for _, one := range e.Entries {
			require.NotContains(t, one.Data, "durationMs")
			if one.Action == screening.SawSignals && one.Words != nil {
				found = one.Words.Text
			}
		}
		return found
	}
	require.Contains(t, words(), `"pastes":1`)
	eraser := candidate.Eraser{Silence: screening.Silence}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE candidate SET state = 'decided', silence_at = now() - INTERVAL '1 day' WHERE org_id = $1 AND id = $2`, tx.Org, seen)
		tx.Touch("candidate", seen)
		return err
	})
	_, err = eraser.Quiet(t.Context(), w.Tenants, shard, time.Now())
	require.NoError(t, err)
	require.Empty(t, words())
	require.Nil(t, read(t, w, "getCandidateInterview", seen.String())["integrity"])
	_, err = record.Verify(exported(t, w, seen.String()))
	require.NoError(t, err)
}

// Of who was not told that the page notes anything, nothing is; and what is no signal is refused.
func TestNothingIsNotedOfWhoWasNotTold(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	told := map[string]any{"required": []any{}, "text": map[string]any{"en": "An AI asks.", "de": "Eine KI fragt."}, "laws": []any{}}
	w.Invite(t, w.Acme, w.Role(t, w.Acme, nil))
	role := w.Role(t, w.Acme, map[string]any{"notice": told})
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.InterviewWhile(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser, func(s session.Session) {
		require.NoError(t, screening.Observe(t.Context(), w.Tenants, w.Acme.ID, who, s.ID, screening.Signal{Kind: screening.Pasted}, time.Now()))
		for _, wrong := range []screening.Signal{{Kind: "blinked"}, {Kind: screening.Left, DurationMs: -1}, {Kind: screening.Left, DurationMs: 1 << 40}, {Kind: screening.Pasted, Characters: -1}} {
			var invalid *errdefs.Invalid
			require.ErrorAs(t, screening.Observe(t.Context(), w.Tenants, w.Acme.ID, who, s.ID, wrong, time.Now()), &invalid)
		}
	})
	require.Nil(t, read(t, w, "getCandidateInterview", who.String())["integrity"])
	told["signals"] = map[string]any{"en": "The page notes what is pasted."}
	made := w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "paused", "notice": told})
	require.Equal(t, http.StatusOK, made.Status, "%s", made.Raw)
	refused := apitest.RequireError(t, w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "open"}), http.StatusUnprocessableEntity, "go_live_refused", "")
	require.Equal(t, "notice.signals.de", apitest.At(apitest.At(refused, "details", "problems").([]any)[0], "field"))
}
