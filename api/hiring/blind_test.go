package hiring_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// tellers are the operations whose answers to a key have a mark: each that reads something, of all that
// there is of a candidate.
func tellers(t *testing.T, w *apitest.World, key apikey.Secret, of map[string]string) (found []string) {
	t.Helper()
	asked := 0
	for _, o := range w.Service.Operations() {
		if o.Method != http.MethodGet {
			continue
		}
		path := o.Path
		for place, is := range of {
			if strings.HasPrefix(path, "/"+place+"/{id}") {
				path = strings.Replace(path, "{id}", is, 1)
			}
		}
		if strings.Contains(path, "{") {
			continue
		}
		answer := w.Call(t, o, apitest.Request{Path: path, Key: key})
		if answer.Status == http.StatusOK {
			asked++
		}
		if strings.Contains(strings.ToLower(string(answer.Raw)), strings.ToLower(apitest.Mark)) {
			found = append(found, o.ID)
		}
	}
	require.Greater(t, asked, 40, "so many operations answer")
	return found
}

// Who a candidate of a blind role is tells nobody and nothing before a person has decided on them: no
// operation, event, mail to the team, file or calendar.
func TestABlindRoleTellsNobodyWhoItIs(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"blind": true})
	invite := marked(t, w, role)
	who := w.Arrive(t, w.Acme, invite)
	w.Interview(t, w.Acme, who, "I, Kim "+apitest.Mark+", take the bowline", session.EndedByUser)
	request := w.Ask(t, w.Acme, who, candidate.Correction, "My name is "+apitest.Mark+".")
	manager := w.HiringManager(t, w.Acme)
	offered := w.CallAs(t, "offerInterview", who.String(), w.Acme.New, map[string]any{
		"mode": "video", "interviewerIds": []any{manager}, "timezone": "UTC", "slots": []any{apitest.InterviewSlot(1)},
	})
	require.Equal(t, http.StatusCreated, offered.Status, "%s", offered.Raw)
	meeting := offered.Data(t)["id"].(string)
	booked := w.CallAs(t, "updateInterview", meeting, w.Acme.New, map[string]any{"startsAt": apitest.InterviewSlot(1)["startsAt"]})
	require.Equal(t, http.StatusOK, booked.Status, "%s", booked.Raw)
	require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager}).Status)

	of := map[string]string{
		"roles": role, "candidates": who.String(), "invites": invite["id"].(string), "candidate-requests": request.String(), "interviews": meeting,
	}
	reviewer := w.Key(w.Acme, scope.Grant{Contract: contract.V20261001, FullAccess: true}) // without candidates:data
	require.Empty(t, tellers(t, w, reviewer, of))
	require.Equal(t, []string{"getCandidateCompliance"}, tellers(t, w, w.Acme.New, of), "the record holds words as they were hashed")
	said := read(t, w, "getCandidateInterview", who.String())
	require.Contains(t, apitest.At(said["transcript"].([]any)[0], "text"), "▇▇▇, take the bowline")

	address := addressOf(t, w, manager)
	letters := sentTo(t, w, address)
	require.NotEmpty(t, letters, "of what they ask for")
	for _, l := range letters {
		require.NotContains(t, strings.ToLower(l.Subject+l.Text+l.HTML), strings.ToLower(apitest.Mark))
	}
	which, err := id.ParseInterview(meeting)
	require.NoError(t, err)
	standing := func() (s appointment.Standing) {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) (err error) {
			s, _, err = candidate.Letters{}.Standing(ctx, tx, which)
			return err
		})
		return s
	}
	require.Empty(t, standing().Name)

	decideOn(t, w, who, "advance", false)
	require.Contains(t, standing().Name, apitest.Mark)
	require.Contains(t, tellers(t, w, reviewer, of), "getCandidate")
	require.Contains(t, tellers(t, w, reviewer, of), "listEvents", "the organization's own id")
}
