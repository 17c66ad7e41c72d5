package ats_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"context"
	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/provider/ashby/ashbytest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// assessment is the role as Ashby knows it.
func (b *bench) assessment() string {
	b.t.Helper()
	r, err := id.ParseRole(b.role)
	require.NoError(b.t, err)
	return uuid.UUID(r).String()
}

func values(updates []ashbytest.Update) (all []any) {
	for _, u := range updates {
		if u.Cancelled != nil {
			all = append(all, "cancelled")
			continue
		}
		all = append(all, u.Status)
	}
	return all
}

// The whole path: an assessment is started, and Ashby is told how it goes.
func TestAshby(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	tried := b.CallAs(t, "testConnection", b.connection, b.Acme.New, nil).Data(t)
	require.Equal(t, true, tried["ok"], "%v", tried)
	all, err := s.List()
	require.NoError(t, err)
	require.Equal(t, map[string]string{b.assessment(): "Rigger"}, all)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Partner+"/assessment.list", http.NoBody)
	require.NoError(t, err)
	req.SetBasicAuth(s.PartnerKey, "")
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, "its body need not be there")

	body := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
	which, first, err := s.Start(body)
	require.NoError(t, err)
	require.Equal(t, "Invited", first.Status)
	again, second, err := s.Start(body)
	require.NoError(t, err)
	require.Equal(t, which, again)
	require.Equal(t, first, second)
	require.Equal(t, 1, b.mails())
	require.Equal(t, "app-1", b.candidates()[0]["externalId"])
	require.Equal(t, map[string]any{"atsProfileUrl": "https://app.ashbyhq.com/candidates/c-app-1", "atsCandidateId": "c-app-1"}, b.candidates()[0]["metadata"])

	who := b.arrive()
	b.tell()
	_, err = b.StartInterview(t, b.Acme, who)
	require.NoError(t, err)
	b.tell()
	require.Equal(t, []any{"Opened", "Started"}, values(s.Updates()))
	cancelled, err := s.Ask("assessment.cancel", map[string]any{"assessment_id": which})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, cancelled.Status)
	require.Equal(t, false, cancelled.Body["success"])
	require.Equal(t, []any{"The interview has begun."}, cancelled.Body["errors"])
	require.Equal(t, "conflict", apitest.At(cancelled.Body, "errorInfo", "code"))
}

// What is released is told once, whatever fails in between, and nothing before.
func TestAshbyIsToldTheResult(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	which, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	who := b.arrive()
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.tell()
	last := s.Updates()[len(s.Updates())-1]
	require.Equal(t, "In review", last.Status)
	require.Nil(t, last.Result)

	var seen []string
	failing := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	s.Behave(failing, failing)
	b.review(who)
	require.Eventually(t, func() bool { b.tell(); return len(seen) == 2 && s.Updates()[len(s.Updates())-1].Result != nil }, 2*patience, step)
	last = s.Updates()[len(s.Updates())-1]
	require.Equal(t, which, last.Assessment)
	require.EqualValues(t, 100, last.Result)
	require.Equal(t, "numeric_score", last.ResultType)
	require.Equal(t, "https://people.example.com/candidates/"+who.String(), last.ProfileURL)
	require.Equal(t, []string{last.Key, last.Key}, seen, "the same to be told has the same key")
	require.NotContains(t, last.Raw, apitest.RightAnswer)
	for i, u := range s.Updates()[1:] {
		require.Greater(t, u.Timestamp, s.Updates()[i].Timestamp)
	}
	told := len(s.Updates())
	b.decide(who, "reject")
	b.tell()
	require.Len(t, s.Updates(), told)
}

// An assessment is cancelled from there, and started anew; a candidate who withdraws cancels it.
func TestAshbyCancels(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	body := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
	first, _, err := s.Start(body)
	require.NoError(t, err)
	for range 2 {
		u, err := s.Cancel(first)
		require.NoError(t, err)
		require.NotNil(t, u.Cancelled)
	}
	require.Zero(t, b.mails(), "it opens nothing any more")
	next, _, err := s.Start(body)
	require.NoError(t, err)
	require.NotEqual(t, first, next)
	who := b.arrive()
	require.NoError(t, b.Tenants.InTx(t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := screening.Withdraw(ctx, tx, who, apitest.Moment())
		return err
	}))
	b.tell()
	updates := s.Updates()
	require.Equal(t, "cancelled", values(updates)[len(updates)-1])
	require.Equal(t, next, updates[len(updates)-1].Assessment)
	none, err := s.Ask("assessment.cancel", map[string]any{"assessment_id": uuid.NewString()})
	require.NoError(t, err)
	require.Equal(t, false, none.Body["success"])
}

func TestAshbyIsRefused(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	start := func(body map[string]any) ashbytest.Answer {
		t.Helper()
		a, err := s.Ask("assessment.start", body)
		require.NoError(t, err)
		return a
	}
	good := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
	for _, wrong := range []map[string]any{
		ashbytest.Body(uuid.NewString(), "app-1", "kim@example.com"),
		ashbytest.Body(b.assessment(), "", "kim@example.com"),
		ashbytest.Body(b.assessment(), strings.Repeat("a", 201), "kim@example.com"),
		ashbytest.Body(b.assessment(), "app-1", "nobody"),
	} {
		a := start(wrong)
		require.Equal(t, http.StatusUnprocessableEntity, a.Status)
		require.NotEmpty(t, a.Body["message"])
	}
	_, _, err := s.Start(good)
	require.NoError(t, err)
	a := start(ashbytest.Body(b.assessment(), "app-2", "KIM@example.com"))
	require.Equal(t, http.StatusConflict, a.Status)
	require.Len(t, b.candidates(), 1)
	s.PartnerKey = ashbyKey
	require.Equal(t, http.StatusUnauthorized, start(good).Status)
	s.PartnerKey = ourKey
	closed := b.CallAs(t, "updateRole", b.role, b.Acme.New, map[string]any{"state": "closed"})
	require.Equal(t, http.StatusOK, closed.Status, "%s", closed.Raw)
	a = start(ashbytest.Body(b.assessment(), "app-3", "lee@example.com"))
	require.Equal(t, http.StatusUnprocessableEntity, a.Status)
	require.Equal(t, "The role is not open.", a.Body["message"])
}

// A key that Ashby does not take any more is told of; what was to be told is, once there is another.
func TestAshbyRefusesTheKey(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	require.Equal(t, true, b.CallAs(t, "testConnection", b.connection, b.Acme.New, nil).Data(t)["ok"])
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	s.Key = "another-key-of-ashby"
	who := b.arrive()
	b.tell()
	require.Empty(t, s.Updates())
	require.Len(t, b.Told(t, "connection.failed"), 1)
	failed := b.CallAs(t, "testConnection", b.connection, b.Acme.New, nil).Data(t)
	require.Equal(t, false, failed["ok"])

	changed := b.CallAs(t, "updateConnection", b.connection, b.Acme.New, map[string]any{"secret": ourKey + ":" + s.Key})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	require.Eventually(t, func() bool {
		b.tell()
		return len(s.Updates()) == 1
	}, patience, step)
	require.Equal(t, "Opened", s.Updates()[0].Status)
	require.Zero(t, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))

	// Nobody is told of a candidate who was erased.
	require.NoError(t, b.Tenants.InTx(t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := candidate.Withdraw(ctx, tx, who, apitest.Moment())
		return err
	}))
	erased := b.CallAs(t, "eraseCandidate", who.String(), b.Acme.New, nil)
	require.Equal(t, http.StatusAccepted, erased.Status, "%s", erased.Raw)
	b.tell()
	require.Len(t, s.Updates(), 1)
	require.Zero(t, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
}
