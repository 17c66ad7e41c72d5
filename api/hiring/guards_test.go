package hiring_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// expire has an invite be over.
func expire(t *testing.T, w *apitest.World, invite map[string]any) {
	t.Helper()
	which, err := id.ParseInvite(invite["id"].(string))
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE candidate_invite SET expires_at = now() - INTERVAL '1 hour' WHERE org_id = $1 AND id = $2`, tx.Org, which)
		return err
	})
}

// come opens an invite, and answers what the browser holds.
func come(t *testing.T, w *apitest.World, role string, url any) func() error {
	t.Helper()
	_, token, _ := strings.Cut(url.(string), "#invite=")
	on := portalOf(t, w, role)
	in, err := w.Gate.ByInvite(t.Context(), w.Acme.ID, on, candidate.Token(token))
	require.NoError(t, err)
	return func() error {
		_, err := w.Gate.Find(t.Context(), on, in.Secret)
		return err
	}
}

// Whoever came by an invite that is over unused is out, and begins nothing.
func TestAnExpiredInviteShowsNothing(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	invite := w.Invite(t, w.Acme, role)
	visit := come(t, w, role, invite["url"])
	who := w.Arrive(t, w.Acme, invite)
	require.NoError(t, visit())
	expire(t, w, invite)
	require.ErrorContains(t, visit(), "expired")
	_, err := w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "has expired")

	cancelled := w.Invite(t, w.Acme, role)
	visit = come(t, w, role, cancelled["url"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "cancelInvite", cancelled["id"].(string), w.Acme.New, nil).Status)
	require.ErrorContains(t, visit(), "taken back")
	again := w.CallAs(t, "resendInvite", cancelled["id"].(string), w.Acme.New, map[string]any{})
	require.Equal(t, candidate.ReasonCancelled, apitest.Reason(t, again, "path.id"))
}

// A new link ends what was begun by the one before, whether somebody came to it or not.
func TestANewLinkEndsWhatTheOldOneBegan(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	invite := w.Invite(t, w.Acme, role)
	visit := come(t, w, role, invite["url"])
	who := w.Arrive(t, w.Acme, invite)
	for _, attached := range []bool{false, true} {
		s, err := w.StartInterview(t, w.Acme, who)
		require.NoError(t, err)
		if attached {
			w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := session.Attach(ctx, tx, s.ID, uuid.New(), plan.Terms{}, apitest.Moment())
				return err
			})
		}
		resent := w.CallAs(t, "resendInvite", invite["id"].(string), w.Acme.New, map[string]any{})
		require.Equal(t, http.StatusOK, resent.Status, "%s", resent.Raw)
		require.ErrorContains(t, visit(), "taken back")
		visit = come(t, w, role, resent.Data(t)["url"])
		s, err = session.Get(t.Context(), w.Tenants, w.Acme.ID, s.ID)
		require.NoError(t, err)
		require.True(t, s.State.Over(), "attached %v", attached)
		w.ScoreInterviews(t)
		require.Equal(t, "opened", read(t, w, "getCandidate", who.String())["state"], "it does not count")
	}
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser)
	used := w.CallAs(t, "cancelInvite", invite["id"].(string), w.Acme.New, nil)
	require.Equal(t, candidate.ReasonUsed, apitest.Reason(t, used, "path.id"))
	// Afterwards a new link leads to their page, and to no further interview.
	held := w.CallAs(t, "resendInvite", invite["id"].(string), w.Acme.New, map[string]any{})
	require.Equal(t, http.StatusOK, held.Status, "%s", held.Raw)
	require.ErrorContains(t, visit(), "taken back")
	require.NoError(t, come(t, w, role, held.Data(t)["url"])())
	_, err := w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "held already")
}

// The fourth interview that is cut off counts; those to which nobody came are none.
func TestTheFourthInterruptionCounts(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, w.Role(t, w.Acme, nil)))
	for range 4 { // each makes room for the next
		_, err := w.StartInterview(t, w.Acme, who)
		require.NoError(t, err)
	}
	for range 3 {
		w.Interview(t, w.Acme, who, "", session.ConnectionLost)
		require.Equal(t, "opened", read(t, w, "getCandidate", who.String())["state"])
	}
	w.Interview(t, w.Acme, who, "", session.ConnectionLost)
	require.Equal(t, "screened", read(t, w, "getCandidate", who.String())["state"])
}

// Whoever withdraws while they are interviewed is not decided on by what they said until then.
func TestWithdrawingEndsTheInterview(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	s, err := w.StartInterview(t, w.Acme, who)
	require.NoError(t, err)
	decision := map[string]any{"decision": "reject", "decidedBy": w.HiringManager(t, w.Acme), "reasonCode": "other"}
	decide := func() apitest.Answer { return w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, decision) }
	require.Equal(t, candidate.ReasonInInterview, apitest.Reason(t, decide(), "path.id"))
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.Attach(ctx, tx, s.ID, uuid.New(), plan.Terms{}, apitest.Moment())
		return err
	})
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := screening.Withdraw(ctx, tx, who, apitest.Moment())
		return err
	})
	w.ScoreInterviews(t)
	x := read(t, w, "getCandidate", who.String())
	require.Equal(t, []any{"withdrawn", "voided"}, []any{x["state"], apitest.At(x, "interview", "state")})
	require.Empty(t, w.Told(t, "candidate.screened"))
	require.Equal(t, candidate.ReasonWithdrawn, apitest.Reason(t, decide(), "path.id"))
	_, err = w.StartInterview(t, w.Acme, who)
	require.Error(t, err)
}

// Whoever is switched off reviews and decides on nobody.
func TestAManagerWhoIsSwitchedOffDecidesNothing(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, w.Role(t, w.Acme, nil)))
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	manager := w.HiringManager(t, w.Acme)
	off, err := id.ParsePerson(manager)
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`, tx.Org, off)
		return err
	})
	refused := w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager})
	apitest.RequireError(t, refused, http.StatusBadRequest, "invalid_request", "body.reviewerId")
}

// Nothing opens where it is not known which laws hold.
func TestARoleOpensNowhereUnknown(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	for field, place := range map[string]map[string]any{
		"location.country": {"city": "Springfield"}, "location.region": {"city": "Springfield", "country": "US"},
		"location.city": {"city": "Williamsburg", "region": "NY", "country": "US"},
	} {
		body := w.RoleBody(t, w.Acme)
		body["location"] = place
		made := w.CallAs(t, "createRole", "", w.Acme.New, body).Data(t)["id"].(string)
		refused := apitest.RequireError(t, w.CallAs(t, "updateRole", made, w.Acme.New, map[string]any{"state": "open"}), http.StatusUnprocessableEntity, "go_live_refused", "")
		require.Equal(t, field, apitest.At(apitest.At(refused, "details", "problems").([]any)[0], "field"))
		place["country"], place["region"], place["outsideNewYorkCity"] = "US", "NY", true
		opened := w.CallAs(t, "updateRole", made, w.Acme.New, map[string]any{"state": "open", "location": place})
		require.Equal(t, http.StatusOK, opened.Status, "%s", opened.Raw)
	}
}

// Until a person has decided, the organization's own id of a candidate of a blind role is
// nowhere: it may be a name.
func TestABlindRoleHidesTheOrganizationsOwnID(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"blind": true})
	invite := w.Invite(t, w.Acme, role)
	own := invite["externalId"]
	require.NotNil(t, own)
	who := w.Arrive(t, w.Acme, invite)
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	shown := func() []any {
		listed := w.CallAs(t, "listInvites", role, w.Acme.New, nil).JSON(t)["data"].([]any)[0]
		return []any{
			read(t, w, "getInvite", invite["id"].(string))["externalId"], apitest.At(listed, "externalId"),
			apitest.At(w.Told(t, "candidate.invited")[0], "data", "externalId"), read(t, w, "getCandidate", who.String())["externalId"],
		}
	}
	require.Equal(t, []any{nil, nil, nil, nil}, shown())
	decideOn(t, w, who, "advance", true)
	require.Equal(t, []any{own, own, own, own}, shown())
}

// A change of a role to what it is already is none.
func TestARoleThatStaysAsItIs(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made := w.Make(t, w.Acme, "createRole")
	which := made["id"].(string)
	before := w.CallAs(t, "getRole", which, w.Acme.New, nil)
	for _, body := range []map[string]any{{}, {"title": made["title"]}} {
		same := w.CallAs(t, "updateRole", which, w.Acme.New, body)
		require.Equal(t, before.Data(t), same.Data(t))
		require.Equal(t, before.Header.Get("ETag"), same.Header.Get("ETag"))
	}
	other := w.CallAs(t, "updateRole", which, w.Acme.New, map[string]any{"title": "Another"})
	require.NotEqual(t, before.Header.Get("ETag"), other.Header.Get("ETag"))
}
