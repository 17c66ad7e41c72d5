package ats_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/ashby/ashbytest"
	"visavis.dev/pkg/provider/greenhouse/greenhousetest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// withdraw has a candidate take the application back.
func (b *bench) withdraw(who id.Candidate) {
	b.t.Helper()
	require.NoError(b.t, b.Tenants.InTx(b.t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := screening.Withdraw(ctx, tx, who, apitest.Moment())
		return err
	}))
}

// Whoever was dropped, or whose invite was cancelled after a decision, is not invited again: the same
// call is answered the same.
func TestTheSameAfterADecision(t *testing.T) {
	for name, end := range map[string]func(b *bench, who id.Candidate, invite string){
		"dropped": func(b *bench, who id.Candidate, _ string) { b.decide(who, "withdrawn") },
		"cancelled": func(b *bench, who id.Candidate, invite string) {
			b.decide(who, "advance")
			cancelled := b.CallAs(b.t, "cancelInvite", invite, b.Acme.New, nil)
			require.Equal(b.t, http.StatusOK, cancelled.Status, "%s", cancelled.Raw)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.greenhouse()
			body := s.Body(b.role, harry)
			first, err := s.SendTest(body)
			require.NoError(t, err)
			end(b, b.arrive(), first)
			for _, again := range []map[string]any{body, s.Body(b.role, harry)} {
				answer, err := s.SendTest(again)
				require.NoError(t, err)
				require.Equal(t, first, answer)
			}
			at, err := s.TestStatus(first)
			require.NoError(t, err)
			require.Equal(t, "cancelled", at.Status)
			require.Len(t, b.candidates(), 1)
		})
	}
	t.Run("of Ashby", func(t *testing.T) {
		b := newBench(t)
		s := b.ashby()
		body := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
		first, _, err := s.Start(body)
		require.NoError(t, err)
		b.decide(b.arrive(), "withdrawn")
		b.tell()
		for range 2 {
			u, err := s.Cancel(first)
			require.NoError(t, err)
			require.NotNil(t, u.Cancelled)
			again, u, err := s.Start(body)
			require.NoError(t, err)
			require.Equal(t, first, again)
			require.NotNil(t, u.Cancelled)
		}
		require.Len(t, b.candidates(), 1)
	})
}

// Who withdrew is invited anew where the system sends them once more, and not by a late repetition of a call
// before.
func TestALateRepetition(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	calls := []map[string]any{s.Body(b.role, harry), s.Body(b.role, harry)}
	first, err := s.SendTest(calls[0])
	require.NoError(t, err)
	_, err = s.SendTest(calls[1])
	require.NoError(t, err)
	b.withdraw(b.arrive())
	for _, late := range calls {
		again, err := s.SendTest(late)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	require.Equal(t, 1, b.mails())
	next, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	require.NotEqual(t, first, next)
	for _, late := range calls {
		again, err := s.SendTest(late)
		require.NoError(t, err)
		require.Equal(t, next, again)
	}
	require.Equal(t, 2, b.mails())

	// It is told where it asked last.
	who := b.arrive()
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.review(who)
	b.tell()
	require.Equal(t, []string{"/integrations/testing_partners/take_home_tests/3"}, s.Patched())
}

// Ashby names no call. One that comes before it knows that the candidate withdrew is a repetition.
func TestALateRepetitionOfAshby(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	body := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
	first, _, err := s.Start(body)
	require.NoError(t, err)
	b.withdraw(b.arrive())
	again, u, err := s.Start(body)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotNil(t, u.Cancelled)
	require.Equal(t, 1, b.mails())
	b.tell()
	again, _, err = s.Start(body)
	require.NoError(t, err)
	require.NotEqual(t, first, again)
	require.Equal(t, 2, b.mails())

	// What it does not take it does not know.
	b.withdraw(b.arrive())
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	b.tell()
	third, _, err := s.Start(body)
	require.NoError(t, err)
	require.Equal(t, again, third)

	// What it cancels itself it knows.
	_, err = s.Cancel(again)
	require.NoError(t, err)
	third, _, err = s.Start(body)
	require.NoError(t, err)
	require.NotEqual(t, again, third)
}

// disconnect deletes the connection that was made last.
func (b *bench) disconnect() {
	b.t.Helper()
	gone := b.CallAs(b.t, "deleteConnection", b.connection, b.Acme.New, nil)
	require.Equal(b.t, http.StatusOK, gone.Status, "%s", gone.Raw)
	which, err := id.ParseConnection(b.connection)
	require.NoError(b.t, err)
	require.Eventually(b.t, func() bool {
		_, err := b.Connections.Open(b.t.Context(), b.Acme.ID, which)
		return err != nil
	}, patience, step)
}

// A connection that is made anew goes on with what the one before it sent.
func TestAConnectionMadeAnew(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	body := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
	which, _, err := s.Start(body)
	require.NoError(t, err)
	b.disconnect()
	who := b.arrive()
	j := b.telling()
	require.NotZero(t, j.commit(j.prepare()), "there is nobody to be told yet")
	s.Partner = b.connect("ashby", ourKey+":"+ashbyKey, map[string]any{"baseUrl": strings.ToUpper(s.URL[:5]) + s.URL[5:] + "/"})
	again, _, err := s.Start(body)
	require.NoError(t, err)
	require.Equal(t, which, again)
	require.Equal(t, 1, b.mails())
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.review(who)
	b.tell()
	last := s.Updates()[len(s.Updates())-1]
	require.EqualValues(t, 100, last.Result)
	require.Equal(t, which, last.Assessment)
}

// A connection that was there beside one that is deleted can be another account's: it goes on with nothing.
func TestAConnectionThatWasThereBefore(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	first := b.connection
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	other := b.connect("ashby", ourKey+":"+ashbyKey, map[string]any{"baseUrl": s.URL})
	b.connection = first
	b.disconnect()
	b.arrive()
	j := b.telling()
	require.NotZero(t, j.commit(j.prepare()))
	require.Empty(t, s.Updates())
	s.Partner = other
	a, err := s.Ask("assessment.start", ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, a.Status)
}

// It finds whom the one before it sent, and a connection to another system does not.
func TestWhomADeletedConnectionSent(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	instance, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	b.disconnect()
	s.Partner = b.connect("greenhouse", ourKey, nil)
	_, err = s.TestStatus(instance)
	require.Equal(t, http.StatusNotFound, status(t, err))
	s.Partner = b.connect("greenhouse", ourKey, map[string]any{"baseUrl": s.URL})
	at, err := s.TestStatus(instance)
	require.NoError(t, err)
	require.Equal(t, "invited", at.Status)
}

// Greenhouse's usual address is the same whether or not it is given.
func TestTheUsualAddress(t *testing.T) {
	for _, config := range []connection.Config{
		{}, {"baseUrl": "https://app.greenhouse.io"}, {"baseUrl": "https://app.greenhouse.io/"}, {"baseUrl": "https://APP.greenhouse.io:443/x"},
	} {
		o := connection.Opened{Connection: connection.Connection{Kind: connection.ATS, Provider: connection.Greenhouse, Config: config}}
		require.Equal(t, "https://app.greenhouse.io", o.Address(), "%v", config)
		require.True(t, o.Calls("https://app4.Greenhouse.io/integrations/1"), "%v", config)
		require.True(t, o.Calls("https://app.greenhouse.io:443/integrations/1"), "%v", config)
		for _, elsewhere := range []string{"http://app4.greenhouse.io/1", "https://greenhouse.io.example.com/1", "https://k@app.greenhouse.io/1", "https://app4.greenhouse.io:8443/1"} {
			require.False(t, o.Calls(elsewhere), elsewhere)
		}
	}
	own := connection.Opened{Connection: connection.Connection{Provider: connection.Greenhouse, Config: connection.Config{"baseUrl": "https://hire.example.com"}}}
	require.False(t, own.Calls("https://app.greenhouse.io/1"))
	require.True(t, own.Calls("https://hire.example.com/1"))
}

// An id with a character that no id has is refused in words, before the database is asked.
func TestIDsThatNoneIs(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	for reference, want := range map[string]int{
		"app\x00-1": http.StatusBadRequest, "\x00": http.StatusBadRequest, // as of any text of the API
		"app\n1": http.StatusUnprocessableEntity, "app\u0085": http.StatusUnprocessableEntity,
	} {
		a, err := s.Ask("assessment.start", ashbytest.Body(b.assessment(), reference, "kim@example.com"))
		require.NoError(t, err)
		require.Equal(t, want, a.Status, "%q", reference)
	}
	g := greenhousetest.Start(b.connect("greenhouse", ourKey, nil), ourKey)
	t.Cleanup(g.Close)
	body := g.Body(b.role, harry)
	delete(body, "url")
	body["candidate"].(map[string]any)["greenhouse_profile_url"] = "https://app.greenhouse.io/people/1?application_id=2%00"
	_, err := g.SendTest(body)
	require.Equal(t, http.StatusBadRequest, status(t, err))
	_, err = g.TestStatus("\x00")
	require.Equal(t, http.StatusBadRequest, status(t, err))
	require.Empty(t, b.candidates())
}

// A connection that was there already goes on with what a deleted one did where it is named, and waits for nothing.
func TestAConnectionThatIsNamedToGoOn(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	first := b.connection
	body := ashbytest.Body(b.assessment(), "app-1", "kim@example.com")
	which, _, err := s.Start(body)
	require.NoError(t, err)
	s.Partner = b.connect("ashby", ourKey+":"+ashbyKey, map[string]any{"baseUrl": s.URL})
	next := b.connection
	b.connect("greenhouse", ourKey, map[string]any{"baseUrl": s.URL})
	remove := func(which, successor string) apitest.Answer {
		o := b.Operation(t, "deleteConnection")
		return b.Call(t, o, apitest.Request{Path: "/connections/" + which + "?successorId=" + successor, Key: b.Acme.New})
	}
	for _, wrong := range []string{first, b.connection, "con_0000000000000000000000"} {
		got := remove(first, wrong)
		require.Equal(t, http.StatusBadRequest, got.Status, "%s", got.Raw)
	}
	require.Equal(t, http.StatusOK, remove(first, next).Status)
	again, _, err := s.Start(body)
	require.NoError(t, err)
	require.Equal(t, which, again)
	b.arrive()
	b.tell()
	require.NotEmpty(t, s.Updates())
	require.Equal(t, 1, b.mails())
}
