package api_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/letter"
)

// testMails asks for mails: the door of members, invitations, and links to cases.
func testMails(t *testing.T, w *world) {
	own, err := id.ParsePortal(w.entrance(t, w.Acme))
	require.NoError(t, err)
	open := func(open bool) apitest.Answer {
		return w.do(t, "setMembersLinkDoor", own.String(), w.Acme.New, map[string]any{"open": open})
	}
	invited := map[string]any{
		"name": "Lou", "email": "lou@example.com", "sendInvite": true, "membership": map[string]any{"portalId": own.String(), "role": "learner"},
	}
	invite := func(change map[string]any) apitest.Answer {
		body := maps.Clone(invited)
		maps.Copy(body, change)
		return w.do(t, "createPerson", "", w.Acme.New, body)
	}
	mailed := caseLinkBody(9)
	mailed["channel"] = "email"
	send := func() apitest.Answer { return w.do(t, "createCaseLink", own.String(), w.Acme.New, mailed) }

	require.Equal(t, "door_closed", reason(t, invite(nil), "body.sendInvite"))
	door := open(true)
	require.Equal(t, http.StatusOK, door.Status, "%s", door.Raw)
	require.Equal(t, []any{"members_link", true}, []any{door.Data(t)["key"], door.Data(t)["open"]})
	require.NotNil(t, door.Data(t)["url"])
	requireError(t, invite(map[string]any{"email": nil}), http.StatusBadRequest, "invalid_request", "body.email")
	first := invite(nil)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Raw)
	require.Equal(t, "invited", first.Data(t)["state"])
	for range 4 {
		again := invite(nil)
		require.Equal(t, http.StatusOK, again.Status, "%s", again.Raw)
	}
	requireError(t, invite(nil), http.StatusTooManyRequests, "rate_limited", "")

	made := send()
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Equal(t, []any{"email", nil, "created"}, []any{made.Data(t)["channel"], made.Data(t)["sentTo"], made.Data(t)["state"]})
	mailed["contact"] = map[string]any{"name": "Kim", "email": nil}
	requireError(t, send(), http.StatusBadRequest, "invalid_request", "body.contact.email")
	mailed["contact"] = map[string]any{"email": "Kim <kim@example.com>"}
	requireError(t, send(), http.StatusBadRequest, "invalid_request", "body.contact.email")

	post := w.Gate.Post
	defer func() { w.Gate.Post = post }()
	w.Gate.Post = (*letter.Post)(nil)
	require.Equal(t, http.StatusOK, open(false).Status, "what needs no mail goes on")
	require.Equal(t, "no_mail", reason(t, open(true), "body.open"))
	require.Equal(t, "no_mail", reason(t, invite(nil), "body.sendInvite"))
	require.Equal(t, "no_mail", reason(t, send(), "body.channel"))
}
