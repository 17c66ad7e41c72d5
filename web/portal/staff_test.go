package portal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/visits/live/livetest"
)

// A team member's link opens their session alone, until it was used or its time is up.
func TestATeamMembersLinkOpensTheConversation(t *testing.T) {
	clock := clocktest.NewFakeClock(time.Now())
	v := visit(t, clock)
	m := v.invite(map[string]any{"personaId": v.persona(), "channel": "chat", "externalId": "order-42", "idleTimeoutS": 1800})
	socket := "ws" + strings.TrimPrefix(v.origin, "http") + "/live/v1/" + m.Session.ID
	client, err := livetest.Dial(t.Context(), socket, m.Token)
	require.NoError(t, err)
	defer client.Drop()
	_, err = client.UntilType(t.Context(), "session-ready")
	require.NoError(t, err)

	invited := func(mode string) (made minted) {
		v.call(http.MethodPost, "/sessions/"+m.Session.ID+"/staff-token", map[string]any{"staffName": "Kim\u202e \x07Lee\n", "mode": mode}, &made)
		return made
	}
	kim, ida := invited("takeover"), invited("listen")
	require.Equal(t, v.origin+"/p/~staff/"+m.Session.ID+"#"+kim.Token, *kim.JoinURL)
	code, told := v.opens(*kim.JoinURL)
	require.Equal(t, http.StatusOK, code, told)
	require.Equal(t, []any{"Kim Lee", "takeover", "Amara", "", kim.Token}, []any{told["name"], told["mode"], told["speaker"], told["endReason"], told["token"]})
	visitor := told["visitor"].(map[string]any)
	require.Equal(t, []any{"order-42", "api", "chat", nil}, []any{visitor["externalId"], visitor["source"], visitor["channel"], visitor["email"]})

	// A visitor's token opens no team member's page, nor theirs a visitor's, nor another session's.
	join := v.origin + "/p/~join/" + m.Session.ID
	for _, link := range []string{
		strings.ReplaceAll(*kim.JoinURL, kim.Token, m.Token), join + "#" + kim.Token, strings.ReplaceAll(*kim.JoinURL, kim.Token, "vst_x"),
		strings.ReplaceAll(*kim.JoinURL, m.Session.ID, id.NewSession().String()),
	} {
		code, told = v.opens(link)
		require.Equal(t, http.StatusNotFound, code, link)
		require.NotContains(t, told, "visitor")
	}

	// Once it was used it opens nothing more, apart from a moment in which the page may load again.
	member, err := livetest.Dial(t.Context(), socket, kim.Token)
	require.NoError(t, err)
	defer member.Drop()
	_, err = member.UntilType(t.Context(), "session-ready")
	require.NoError(t, err)
	clock.Step(45 * time.Second)
	code, told = v.opens(*kim.JoinURL)
	require.Equal(t, []any{http.StatusGone, "staff.used"}, []any{code, told["code"]})
	code, _ = v.opens(*ida.JoinURL)
	require.Equal(t, http.StatusOK, code)
	clock.Step(10 * time.Minute)
	code, told = v.opens(*ida.JoinURL)
	require.Equal(t, []any{http.StatusGone, "staff.expired"}, []any{code, told["code"]})
	v.call(http.MethodPost, "/sessions/"+m.Session.ID+"/end", map[string]any{}, nil)
	_, told = v.opens(*ida.JoinURL)
	require.Equal(t, []any{"ended_by_api", nil}, []any{told["endReason"], told["visitor"].(map[string]any)["externalId"]}, "of what is over only why")
	require.NotContains(t, v.log.String(), kim.Token, "no log has what opens a session")
}
