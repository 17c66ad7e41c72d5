package page_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/web/page"
)

func TestAConversationIsForWhoIsSignedIn(t *testing.T) {
	b := setup(t)
	about := b.site.Subjects[0].ID
	w := b.post(home+"/sessions", url.Values{"subject": {about.String()}})
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.JSONEq(t, `{"code": "refused.visit", "message": "Please come in first."}`, w.Body.String())
	require.Equal(t, "/p/harbour/sign-in?subject="+about.String(), b.get(home+"/talk?subject="+about.String()).Header().Get("Location"))

	visit := b.signedIn()
	w = b.post(home+"/sessions", url.Values{"subject": {about.String()}}, visit, "Accept-Language: de")
	require.Equal(t, http.StatusCreated, w.Code)
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	var ticket page.Ticket
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &ticket))
	require.NotEmpty(t, ticket.Token)
	require.Equal(t, "wss://live.example.com/x", ticket.Transport.URL)
	started := b.conversations.Started[0]
	require.Equal(t, about, started.Subject)
	require.Equal(t, "de", started.Language)
	require.Equal(t, "https://portal.example.com", started.Origin)
	require.Equal(t, http.StatusNotFound, b.post(home+"/sessions", url.Values{"subject": {"sub_x"}}, visit).Code)
}

func TestWhyNoConversationBeginsIsSaid(t *testing.T) {
	for code, want := range map[problem.Code]string{
		problem.ConcurrencyLimit: "All places are taken right now.", problem.InsufficientMinutes: "No conversation can start here at the moment.",
		problem.FeatureNotInPlan: "No conversation can start here at the moment.", problem.FaceNotReady: "That is not possible right now.",
		problem.ServerError: "Something went wrong.",
	} {
		b := setup(t)
		visit := b.signedIn()
		b.conversations.Refusal = problem.New(code, "told to nobody")
		w := b.post(home+"/sessions", nil, visit)
		require.Equal(t, code.Status(), w.Code)
		require.Contains(t, w.Body.String(), want)
		require.NotContains(t, w.Body.String(), "told to nobody")
	}
}

func TestRatingsArePassedOn(t *testing.T) {
	b := setup(t)
	rate := func(session, token, body string) int {
		r := request(http.MethodPost, home+"/sessions/"+session+"/rating", "Sec-Fetch-Site: same-origin", "X-Session-Token: "+token)
		r.Body = io.NopCloser(strings.NewReader(body))
		return b.do(r).Code
	}
	session := id.NewSession().String()
	require.Equal(t, http.StatusNoContent, rate(session, "token", `{"score": 4, "scale": 5, "comment": "Nice"}`))
	require.Equal(t, page.Rating{Score: 4, Scale: 5, Comment: new("Nice")}, b.conversations.Ratings[0])
	for _, body := range []string{``, `{}`, `[]`, `{"score": 6, "scale": 5}`, `{"score": 0, "scale": 5}`, `{"score": 3, "scale": 4}`, `{"score": 1, "scale": 5, "comment": "` + strings.Repeat("a", 2001) + `"}`} {
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, rate(session, "token", body), body)
	}
	require.Equal(t, http.StatusNotFound, rate(session, "", `{"score": 4, "scale": 5}`))
	require.Equal(t, http.StatusNotFound, rate("nothing", "token", `{"score": 4, "scale": 5}`))
	require.Len(t, b.conversations.Ratings, 1)
}

func TestTheConversationsPageSaysWhatItNeeds(t *testing.T) {
	b := setup(t)
	body := b.get(home+"/talk?subject="+b.site.Subjects[0].ID.String(), b.signedIn(), "Accept-Language: ar").Body.String()
	require.Contains(t, body, `<html lang="ar" dir="rtl"`)
	require.Contains(t, body, "Knots that hold")
	require.Contains(t, body, "أنا ذكاء اصطناعي", "people are told that it is an AI")
	require.Contains(t, body, "<noscript>")
	require.Contains(t, body, "https://example.com/privacy")
	require.Contains(t, body, `src="/p/harbour/portrait?`)
	require.Contains(t, body, `data-face="/p/harbour/face/{side}.{kind}?`)
	require.Contains(t, body, "كتم الصوت")
	require.Equal(t, 5, strings.Count(body, `type="radio"`))
}
