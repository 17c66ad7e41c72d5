package doors_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/mailer"
)

// testMails asks for mails: the door of members, invitations, and links to cases.
func testMails(t *testing.T, w *apitest.World) {
	own, err := id.ParsePortal(w.Entrance(t, w.Acme))
	require.NoError(t, err)
	open := func(open bool) apitest.Answer {
		return w.CallAs(t, "setMembersLinkDoor", own.String(), w.Acme.New, map[string]any{"open": open})
	}
	invited := map[string]any{
		"name": "Lou", "email": "lou@example.com", "sendInvite": true, "membership": map[string]any{"portalId": own.String(), "role": "learner"},
	}
	invite := func(change map[string]any) apitest.Answer {
		body := maps.Clone(invited)
		maps.Copy(body, change)
		return w.CallAs(t, "createPerson", "", w.Acme.New, body)
	}
	mailed := apitest.CaseLinkBody(9)
	mailed["channel"] = "email"
	send := func() apitest.Answer { return w.CallAs(t, "createCaseLink", own.String(), w.Acme.New, mailed) }

	require.Equal(t, "door_closed", apitest.Reason(t, invite(nil), "body.sendInvite"))
	door := open(true)
	require.Equal(t, http.StatusOK, door.Status, "%s", door.Raw)
	require.Equal(t, []any{"members_link", true}, []any{door.Data(t)["key"], door.Data(t)["open"]})
	require.NotNil(t, door.Data(t)["url"])
	apitest.RequireError(t, invite(map[string]any{"email": nil}), http.StatusBadRequest, "invalid_request", "body.email")
	first := invite(nil)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Raw)
	require.Equal(t, "invited", first.Data(t)["state"])
	for range 4 {
		again := invite(nil)
		require.Equal(t, http.StatusOK, again.Status, "%s", again.Raw)
	}
	apitest.RequireError(t, invite(nil), http.StatusTooManyRequests, "rate_limited", "")

	made := send()
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Equal(t, []any{"email", nil, "created"}, []any{made.Data(t)["channel"], made.Data(t)["sentTo"], made.Data(t)["state"]})
	mailed["contact"] = map[string]any{"name": "Kim", "email": nil}
	apitest.RequireError(t, send(), http.StatusBadRequest, "invalid_request", "body.contact.email")
	mailed["contact"] = map[string]any{"email": "Kim <kim@example.com>"}
	apitest.RequireError(t, send(), http.StatusBadRequest, "invalid_request", "body.contact.email")

	post := w.Gate.Mails
	defer func() { w.Gate.Mails = post }()
	w.Gate.Mails = (*mailer.Outbox)(nil)
	require.Equal(t, http.StatusOK, open(false).Status, "what needs no mail goes on")
	require.Equal(t, "no_mail", apitest.Reason(t, open(true), "body.open"))
	require.Equal(t, "no_mail", apitest.Reason(t, invite(nil), "body.sendInvite"))
	require.Equal(t, "no_mail", apitest.Reason(t, send(), "body.channel"))
}
