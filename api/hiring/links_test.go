package hiring_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// A link that is mailed ends none before. A new link ends all of them, and another address those that
// were mailed; a mail that waits meanwhile goes out with one that is good.
func TestALinkThatIsMailedEndsNoOther(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	invite := w.Invite(t, w.Acme, role)
	who := w.Arrive(t, w.Acme, invite)
	address := read(t, w, "getCandidate", who.String())["email"].(string)
	asked := func(k candidate.RequestKind) {
		require.Equal(t, http.StatusOK, answer(t, w, w.Ask(t, w.Acme, who, k, ""), "done", "Yes.").Status)
	}
	linkTo := func(address string) string {
		letters := sentTo(t, w, address)
		require.Len(t, letters, 1)
		return "#invite=" + tokenOf.FindStringSubmatch(letters[0].Text)[1]
	}
	first := invite["url"].(string)
	asked(candidate.Accommodation)
	require.NoError(t, enter(t, w, role, first), "the mail waits")
	second := linkTo(address)
	require.NoError(t, enter(t, w, role, first))
	require.NoError(t, enter(t, w, role, second))

	asked(candidate.DataAccess)
	again := w.CallAs(t, "resendInvite", invite["id"].(string), w.Acme.New, map[string]any{})
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Raw)
	require.Error(t, enter(t, w, role, first))
	require.Error(t, enter(t, w, role, second))
	third := linkTo(address)
	require.NoError(t, enter(t, w, role, third))

	asked(candidate.Correction)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateCandidate", who.String(), w.Acme.New, map[string]any{"email": "other@example.com"}).Status)
	require.Error(t, enter(t, w, role, third))
	require.NoError(t, enter(t, w, role, again.Data(t)["url"].(string)), "the organization sent it")
	require.NoError(t, enter(t, w, role, linkTo("other@example.com")))

	// Where the invite was mailed its own link is ended as well.
	box := &postbox{}
	role = w.Role(t, w.Acme, nil)
	begun, letter := mailed(t, w, role, box)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateCandidate", begun["candidateId"].(string), w.Acme.New, map[string]any{"email": "new@example.com"}).Status)
	require.Error(t, enter(t, w, role, "#invite="+tokenOf.FindStringSubmatch(letter.Text)[1]))
}

// enter opens an invitation by a link.
func enter(t *testing.T, w *apitest.World, role, url string) error {
	t.Helper()
	_, token, _ := strings.Cut(url, "#invite=")
	_, err := w.Gate.ByInvite(t.Context(), w.Acme.ID, portalOf(t, w, role), candidate.Token(token))
	return err
}

// full has as many mails of a holder in this hour and the next as may go out.
func full(t *testing.T, w *apitest.World, holder string) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		for n := range 2 {
			if _, err := tx.Exec(ctx, `
				INSERT INTO mail_count (org_id, holder, hour, taken) VALUES ($1, $2, $3, 1000000)
				ON CONFLICT (org_id, holder, hour) DO UPDATE SET taken = 1000000`,
				tx.Org, holder, time.Now().UTC().Truncate(time.Hour).Add(time.Duration(n)*time.Hour)); err != nil {
				return err
			}
		}
		return nil
	})
}

// The hiring team's mails are counted apart from the inbox's, and wait where they are too many; an
// answer is taken all the same, and mailed later. Old processes leave both to new ones.
func TestMailsWaitForRoom(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	team := addressOf(t, w, w.HiringManager(t, w.Acme))
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	address := read(t, w, "getCandidate", who.String())["email"].(string)
	full(t, w, "inbox_team")
	help := w.Ask(t, w.Acme, who, candidate.Accommodation, "")
	var kinds int
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'hiring_mail'`, tx.Org).Scan(&kinds)
	})
	require.Equal(t, 1, kinds)
	require.Len(t, sentTo(t, w, team), 1)
	full(t, w, "hiring_team")
	w.Ask(t, w.Acme, who, candidate.DataAccess, "")
	require.Empty(t, sentTo(t, w, team))
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM mail_count WHERE org_id = $1`, tx.Org)
		return err
	})
	require.Len(t, sentTo(t, w, team), 1)

	full(t, w, "candidates")
	require.Equal(t, http.StatusOK, answer(t, w, help, "done", "Yes.").Status)
	box := &postbox{}
	w.Post(t, box)
	require.Empty(t, box.sent, "not in this hour")
	require.Len(t, sentTo(t, w, address), 1)
}

// Whoever is no hiring manager any more is told nothing, and of who was erased nothing is due.
func TestNobodyElseIsTold(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	team := addressOf(t, w, w.HiringManager(t, w.Acme))
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Ask(t, w.Acme, who, candidate.Accommodation, "")
	changed := w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"hiringManagerIds": []any{w.Learner(t, w.Acme)}})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	require.Empty(t, sentTo(t, w, team))

	require.Equal(t, http.StatusAccepted, w.CallAs(t, "eraseCandidate", who.String(), w.Acme.New, nil).Status)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE candidate SET explain_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, who, apitest.Moment())
		return err
	})
	for _, want := range []int{1, 0} {
		found, err := candidate.WatchExplanations(t.Context(), w.Tenants, shard, apitest.Moment().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, found)
	}
}

// Who is decided on for now alone is kept as long as a new link is good; and what is looked at again
// is decided before it is explained.
func TestWhatIsOpenIsKeptAndNotExplained(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	invite := w.Invite(t, w.Acme, role)
	who := w.Arrive(t, w.Acme, invite)
	decideOn(t, w, who, "hold", false)
	kept := timeOf(t, read(t, w, "getCandidate", who.String()), "retentionUntil")
	require.Equal(t, http.StatusOK, w.CallAs(t, "resendInvite", invite["id"].(string), w.Acme.New, map[string]any{"expiresInDays": 180}).Status)
	require.InDelta(t, 180*24, timeOf(t, read(t, w, "getCandidate", who.String()), "retentionUntil").Sub(kept).Hours(), 30)

	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	decideOn(t, w, who, "reject", true)
	require.Equal(t, http.StatusOK, answer(t, w, w.Ask(t, w.Acme, who, candidate.Appeal, ""), "granted", "We look again.").Status)
	require.Equal(t, candidate.ReasonUndecided, apitest.Reason(t, w.CallAs(t, "explainDecision", who.String(), w.Acme.New, map[string]any{
		"explainedBy": w.HiringManager(t, w.Acme), "explanation": "Because.",
	}), "path.id"))
}

// Of two who are given an address at the same moment one gets it.
func TestAnAddressIsGivenOnce(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	statuses := make([]int, 4)
	var wait sync.WaitGroup
	for i := range statuses {
		who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
		wait.Go(func() {
			statuses[i] = w.CallAs(t, "updateCandidate", who.String(), w.Acme.New, map[string]any{"email": "same@example.com"}).Status
		})
	}
	wait.Wait()
	require.ElementsMatch(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusBadRequest, http.StatusBadRequest}, statuses)
}
