package portal_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
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

// Of those who were called the first who comes takes the place: the others' links say so, until they leave.
func TestALinkSaysThatSomebodyCameFirst(t *testing.T) {
	v := visit(t, clocktest.NewFakeClock(time.Now()))
	m := v.invite(map[string]any{"personaId": v.persona(), "channel": "chat", "idleTimeoutS": 1800})
	socket := "ws" + strings.TrimPrefix(v.origin, "http") + "/live/v1/" + m.Session.ID
	client, err := livetest.Dial(t.Context(), socket, m.Token)
	require.NoError(t, err)
	defer client.Drop()
	_, err = client.UntilType(t.Context(), "session-ready")
	require.NoError(t, err)
	called := func(name string) (token string) {
		which, err := id.ParseSession(m.Session.ID)
		require.NoError(t, err)
		require.NoError(t, v.made.Tenants.InTx(t.Context(), v.org, func(ctx context.Context, tx *tenant.Tx) error {
			s, err := session.Lock(ctx, tx, which)
			if err != nil {
				return err
			}
			made, err := session.Invite(ctx, tx, s, session.Colleague{ID: id.NewStaff(), Name: name, Mode: session.Takeover, Called: true},
				activity.Actor{By: "test", At: time.Now().UTC()})
			token = string(made)
			return err
		}))
		return token
	}
	kim, ida := called("Kim Lee"), called("Ida")
	page := v.origin + "/p/~staff/" + m.Session.ID + "#"
	for _, token := range []string{kim, ida} {
		code, _ := v.opens(page + token)
		require.Equal(t, http.StatusOK, code)
	}
	first, err := livetest.Dial(t.Context(), socket, kim)
	require.NoError(t, err)
	_, err = first.UntilType(t.Context(), "session-ready")
	require.NoError(t, err)
	code, told := v.opens(page + ida)
	require.Equal(t, []any{http.StatusConflict, "staff.attended"}, []any{code, told["code"]})
	require.Contains(t, told["message"], "Kim Lee is in the conversation already")
	late, err := livetest.Dial(t.Context(), socket, ida)
	require.NoError(t, err)
	refused, err := late.UntilType(t.Context(), "error")
	require.NoError(t, err)
	require.Contains(t, string(refused.Data), "already_attended")
	code, _ = v.opens(page + kim)
	require.Equal(t, http.StatusOK, code, "who came can load the page again")

	first.Leave()
	_, err = client.UntilType(t.Context(), "notice")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		code, _ := v.opens(page + ida)
		return code == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond)
}
