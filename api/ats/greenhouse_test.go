package ats_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/ats"
	"visavis.dev/pkg/provider/greenhouse/greenhousetest"
	"visavis.dev/pkg/sessions/session"
)

const (
	patience = 20 * time.Second
	step     = 100 * time.Millisecond
)

// forget waits until what a process remembers of a connection is looked up again, and expects no error.
func (b *bench) forget(do func() error) {
	b.t.Helper()
	until := time.Now().Add(2500 * time.Millisecond)
	require.Eventually(b.t, func() bool { return do() == nil && time.Now().After(until) }, patience, step)
}

// The whole path: a candidate is sent, interviewed and reviewed, and Greenhouse learns of it.
func TestGreenhouse(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	tried := b.CallAs(t, "testConnection", b.connection, b.Acme.New, nil).Data(t)
	require.Equal(t, true, tried["ok"], "%v", tried)
	tests, err := s.ListTests()
	require.NoError(t, err)
	require.Equal(t, map[string]string{b.role: "Rigger"}, tests)

	instance, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	again, err := s.SendTest(s.Body(b.role, harry)) // from another button, with another address to call
	require.NoError(t, err)
	require.Equal(t, instance, again)
	require.Equal(t, 1, b.mails())
	x := b.candidates()[0]
	require.Equal(t, "Harry Kane", x["name"])
	require.Equal(t, "26234709", x["externalId"])
	require.Equal(t, map[string]any{"atsProfileUrl": "https://app.greenhouse.io/people/26235709?application_id=26234709"}, x["metadata"])

	at, err := s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "invited", at.Status)
	who := b.arrive()
	at, err = s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "opened", at.Status)
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.tell()
	at, err = s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "in_review", at.Status, "no person has read it")
	require.Nil(t, at.Score)
	require.Empty(t, s.Patched())

	b.review(who)
	at, err = s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "complete", at.Status)
	require.Equal(t, "https://people.example.com/candidates/"+who.String(), at.ProfileURL)
	require.EqualValues(t, 100, *at.Score)
	require.Equal(t, "strong", at.Metadata["Band"])
	b.tell()
	b.tell()
	require.Equal(t, []string{"/integrations/testing_partners/take_home_tests/2"}, s.Patched())

	// What follows here changes nothing there.
	b.decide(who, "reject")
	b.tell()
	after, err := s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, at, after)
	require.Len(t, s.Patched(), 1)
	again, err = s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	require.Equal(t, instance, again)
	require.Equal(t, 1, b.mails())

	calls := b.CallAs(t, "listConnectionCalls", b.connection, b.Acme.New, nil)
	require.NotContains(t, string(calls.Raw), "harry")

	// With the candidate goes what the system knew them by.
	erased := b.CallAs(t, "eraseCandidate", who.String(), b.Acme.New, nil)
	require.Equal(t, http.StatusAccepted, erased.Status, "%s", erased.Raw)
	b.EraseCandidates(t)
	require.Zero(t, b.count(`SELECT count(*) FROM candidate_application WHERE org_id = $1`))
	_, err = s.TestStatus(instance)
	require.Equal(t, http.StatusNotFound, status(t, err))
}

func TestGreenhouseIsRefused(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	body := s.Body(b.role, harry)
	send := func(change func(body, candidate map[string]any)) int {
		t.Helper()
		one := s.Body(b.role, harry)
		change(one, one["candidate"].(map[string]any))
		_, err := s.SendTest(one)
		return status(t, err)
	}
	other := b.Role(t, b.Acme, nil) // that the connection does not offer
	theirs := b.Role(t, b.Globex, nil)
	for _, test := range []string{other, theirs, "", "12345", b.Acme.ID.String()} {
		require.Equal(t, http.StatusNotFound, send(func(body, _ map[string]any) { body["partner_test_id"] = test }), test)
	}
	for _, change := range []func(body, candidate map[string]any){
		func(_, c map[string]any) { c["email"] = "nobody" },
		func(_, c map[string]any) { c["email"] = nil },
		func(_, c map[string]any) { c["first_name"], c["last_name"] = " ", nil },
		func(_, c map[string]any) { c["first_name"] = strings.Repeat("x", 300) },
		func(_, c map[string]any) { c["greenhouse_profile_url"] = nil },
		func(b, _ map[string]any) { b["url"] = "https://attacker.example.com/collect" },
		func(b, _ map[string]any) { b["url"] = "http://app.greenhouse.io/1" },
		func(b, _ map[string]any) { b["candidate"] = "Harry" },
	} {
		require.Equal(t, http.StatusBadRequest, send(change))
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, send(func(_, c map[string]any) { c["more"] = strings.Repeat("x", 70_000) }))
	_, err := s.Ask(http.MethodPost, "send_test", []any{1})
	require.Equal(t, http.StatusBadRequest, status(t, err))
	for _, instance := range []string{"", "1", "inv_0000000000000000000000", b.Acme.ID.String(), strings.Repeat("9", 3000)} {
		_, err := s.TestStatus(instance)
		require.Equal(t, http.StatusNotFound, status(t, err))
	}
	require.Empty(t, b.candidates())

	pause := b.CallAs(t, "updateRole", b.role, b.Acme.New, map[string]any{"state": "paused"})
	require.Equal(t, http.StatusOK, pause.Status, "%s", pause.Raw)
	_, err = s.SendTest(body)
	require.Equal(t, http.StatusNotFound, status(t, err))
	tests, err := s.ListTests()
	require.NoError(t, err)
	require.Empty(t, tests)
	b.CallAs(t, "updateRole", b.role, b.Acme.New, map[string]any{"state": "open"})

	require.NoError(t, b.Directory.Pause(context.Background(), b.Acme.ID, "tests"))
	require.Eventually(t, func() bool { _, err := s.ListTests(); return err != nil && status(t, err) == http.StatusForbidden }, patience, step)
	_, err = s.SendTest(body)
	require.Equal(t, http.StatusForbidden, status(t, err))
	require.NoError(t, b.Directory.Resume(context.Background(), b.Acme.ID))
	require.Eventually(t, func() bool { _, err := s.SendTest(body); return err == nil }, patience, step)
	require.Len(t, b.candidates(), 1)

	off := b.CallAs(t, "updateConnection", b.connection, b.Acme.New, map[string]any{"enabled": false})
	require.Equal(t, http.StatusOK, off.Status, "%s", off.Raw)
	require.Eventually(t, func() bool { _, err := s.ListTests(); return err != nil && status(t, err) == http.StatusUnauthorized }, patience, step)
}

// An invite that expired unused is sent again, once; one that was cancelled makes a new start, and what
// came of the first stays to be read.
func TestGreenhouseSendsAgain(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	first, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	require.Equal(t, 1, b.mails())
	b.exec(`UPDATE candidate_invite SET expires_at = now() - INTERVAL '1 day' WHERE org_id = $1`)
	for range 3 {
		again, err := s.SendTest(s.Body(b.role, harry))
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	require.Equal(t, 2, b.mails())

	cancelled := b.CallAs(t, "cancelInvite", first, b.Acme.New, nil)
	require.Equal(t, http.StatusOK, cancelled.Status, "%s", cancelled.Raw)
	at, err := s.TestStatus(first)
	require.NoError(t, err)
	require.Equal(t, "cancelled", at.Status)
	next, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	require.NotEqual(t, first, next)
	require.Equal(t, 3, b.mails())
	at, err = s.TestStatus(first)
	require.NoError(t, err)
	require.Equal(t, "cancelled", at.Status)
	at, err = s.TestStatus(next)
	require.NoError(t, err)
	require.Equal(t, "invited", at.Status)
}

// Whoever is decided on without an interview is complete without a score; scores stay here where the
// config says so; and trials are named as such.
func TestGreenhouseWithoutScores(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	s.Partner = b.connect("greenhouse", ourKey, map[string]any{"baseUrl": s.URL, "withoutScores": true, "sandbox": true})
	tests, err := s.ListTests()
	require.NoError(t, err)
	require.Equal(t, map[string]string{b.role: "Rigger (sandbox)"}, tests)
	instance, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	who := b.arrive()
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.review(who)
	at, err := s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "complete", at.Status)
	require.Nil(t, at.Score)
	require.NotContains(t, at.Metadata, "Band")

	lee := harry
	lee.Email, lee.Application = "lee@example.com", 2
	instance, err = s.SendTest(s.Body(b.role, lee))
	require.NoError(t, err)
	who = b.arrive()
	b.decide(who, "advance")
	at, err = s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "opened", at.Status, "they can be interviewed yet")
	b.decide(who, "hire")
	at, err = s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "complete", at.Status)
	require.Nil(t, at.Score)
}

// What Greenhouse finds wrong with answers shows with the connection, and no address is in the log.
func TestResponseErrors(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	_, err := s.Ask(http.MethodPost, "response_error", map[string]any{
		"api_call": "test_status", "errors": []any{"partner_profile url is missing"}, "partner_interview_id": 299506, "candidate_email": harry.Email,
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return strings.Contains(string(b.CallAs(t, "listConnectionCalls", b.connection, b.Acme.New, nil).Raw), "response_error test_status")
	}, patience, step)
	require.NotContains(t, b.log.String(), harry.Email)
}

// Greenhouse is told again until it takes it.
func TestGreenhouseIsAway(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	_, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	who := b.arrive()
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.review(who)
	s.Answer(http.StatusBadGateway, http.StatusTooManyRequests)
	require.Eventually(t, func() bool { b.tell(); return len(s.Patched()) == 1 }, 2*patience, step)
	require.Zero(t, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
}

// A connection takes so many requests a minute.
func TestAConnectionsLimit(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	for range 5 * ats.PerConnection { // a minute may begin meanwhile
		if _, err := s.ListTests(); err != nil {
			var refused *greenhousetest.StatusError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, http.StatusTooManyRequests, refused.Status)
			require.NotEmpty(t, refused.Header.Get("Retry-After"))
			return
		}
	}
	require.Fail(t, "there is no limit")
}

// A law's notice period refuses no invite, and Greenhouse shows how long it lasts.
func TestANoticePeriod(t *testing.T) {
	b := newBench(t)
	body := b.RoleBody(t, b.Acme)
	notice := body["notice"].(map[string]any)
	notice["leadDays"] = 5
	b.role = b.Role(t, b.Acme, map[string]any{"notice": notice})
	s := b.greenhouse()
	instance, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	who := b.arrive()
	at, err := s.TestStatus(instance)
	require.NoError(t, err)
	until, err := time.Parse(time.RFC3339, at.Metadata["Interview not before"].(string))
	require.NoError(t, err)
	require.Greater(t, time.Until(until), 4*24*time.Hour)
	_, err = b.StartInterview(t, b.Acme, who)
	require.Error(t, err)
	b.decide(who, "reject")
	at, err = s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "complete", at.Status)
	require.NotContains(t, at.Metadata, "Interview not before")
}
