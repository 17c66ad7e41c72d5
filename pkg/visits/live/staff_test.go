package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/session"
)

// welcome is what a team member is told first.
type welcome struct {
	Name, Mode, State, ResumeToken string
	Modes                          []string
	Visitor                        bool
	Turns                          []struct {
		Speaker, Text string
		Sources       []struct{ Title string }
	}
	Staff []struct{ Name string }
}

// joins brings a team member in.
func (s *stage) joins(p *pod, which session.Session, token string) (*client, welcome) {
	s.t.Helper()
	joined, err := s.dial(p, which.ID, token)
	require.NoError(s.t, err)
	s.t.Cleanup(joined.Drop)
	c := &client{Client: joined, t: s.t}
	var w welcome
	c.await("session-ready", &w)
	return c, w
}

func TestATeamMemberSeesTheConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, nil)
	c.ask()

	kim, w := s.joins(p, minted, s.invite(minted.ID, "takeover"))
	require.Equal(t, "Kim", w.Name)
	require.Equal(t, []string{"listen", "speak", "takeover"}, w.Modes)
	require.Equal(t, "listening", w.State)
	require.True(t, w.Visitor)
	require.Empty(t, w.Staff)
	require.Len(t, w.Turns, 3)
	require.Equal(t, "Visiting", w.Turns[2].Sources[0].Title)
	_, w = s.joins(p, minted, s.invite(minted.ID, "listen"))
	require.Equal(t, []string{"listen"}, w.Modes)
	require.Len(t, w.Staff, 1)

	kim.send("ping", nil)
	kim.await("pong", nil)
	c.Drop()
	require.Equal(t, "visitor_away", kim.notice("visitor_away"))
	_ = s.connect(p, minted.ID, c.resume)
	require.Equal(t, "visitor_here", kim.notice("visitor_here"))
}

// notice waits for a notice of a kind, and answers the kind.
func (c *client) notice(kind string) string {
	c.t.Helper()
	for {
		var n struct{ Kind string }
		if c.await("notice", &n); n.Kind == kind {
			return n.Kind
		}
	}
}

// refused waits for an error, and answers its code.
func (c *client) refused() string {
	c.t.Helper()
	var e struct{ Code string }
	c.await("error", &e)
	return e.Code
}

func TestAListenerOnlyListens(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, nil)
	listener, _ := s.joins(p, minted, s.invite(minted.ID, "listen"))
	listener.send("user-text", map[string]string{"text": "Psst."})
	require.Equal(t, "only_listens", listener.refused())
	listener.send("end", nil)
	require.Equal(t, "only_listens", listener.refused())
	for _, mode := range []string{"speak", "takeover", "", "own"} {
		listener.send("staff-mode", map[string]string{"mode": mode})
		require.Equal(t, "mode_not_allowed", listener.refused())
	}
	speaker, _ := s.joins(p, minted, s.invite(minted.ID, "speak"))
	speaker.send("staff-mode", map[string]string{"mode": "takeover"})
	require.Equal(t, "mode_not_allowed", speaker.refused())
	// A client is nobody of the staff.
	c.send("staff-mode", map[string]string{"mode": "takeover"})
	require.Equal(t, "unknown_type", c.refused())
	c.ask()
	require.NotContains(t, strings.Join(s.turns(minted.ID), "\n"), "Psst")
}

func TestAMemberSwitchesTheirMode(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, nil)
	kim, _ := s.joins(p, minted, s.invite(minted.ID, "takeover"))
	c.notice("staff_joined")
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	kim.await("user-transcription", nil)
	kim.send("staff-mode", map[string]string{"mode": "speak"})
	c.notice("staff_mode")
	c.hear("nine") // what nobody had answered
	kim.send("user-text", map[string]string{"text": "Quite so."})
	c.hear("Quite so.")
	kim.send("staff-mode", map[string]string{"mode": "takeover"})
	c.notice("staff_mode")
	kim.send("staff-mode", map[string]string{"mode": "listen"})
	c.notice("staff_mode")
	kim.send("user-text", map[string]string{"text": "Psst."})
	require.Equal(t, "only_listens", kim.refused())
	c.ask()
	require.Eventually(t, func() bool {
		in, err := session.Present(t.Context(), s.tenants, s.org, minted.ID)
		return err == nil && len(in) == 1 && in[0].Mode == "listen" && in[0].Most == "takeover"
	}, 20*time.Second, 10*time.Millisecond)
}

// Whose connection is lost has taken over still, and comes back by a token of their own.
func TestAMemberComesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer two.Stop()
	minted, token := s.mint(nil)
	c := s.connect(one, minted.ID, string(token))
	c.send("client-ready", nil)
	c.hear("Welcome.")
	link := s.invite(minted.ID, "takeover")
	kim, first := s.joins(one, minted, link)
	c.notice("staff_joined")
	kim.Drop()
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	kim, again := s.joins(two, minted, first.ResumeToken)
	require.Equal(t, "takeover", again.Mode)
	require.NotEqual(t, first.ResumeToken, again.ResumeToken)
	kim.send("user-text", map[string]string{"text": "At nine, I think."})
	var said struct{ Text string }
	c.await("staff-text", &said)
	require.Equal(t, "At nine, I think.", said.Text)
	require.Equal(t, []string{"avatar: Welcome.", "user: When does the museum open?", "staff: At nine, I think."}, s.turns(minted.ID))

	// The link is good for a moment more, in which its holder may not have got the other token.
	_, admitted, err := session.Admit(t.Context(), s.tenants, minted.ID, session.Token(link))
	require.NoError(t, err)
	require.False(t, admitted.Expired(s.now()))
	require.True(t, admitted.Expired(s.now().Add(session.ResumeWithin+time.Second)))

	// So they have in the process that goes on.
	one.Stop()
	require.Equal(t, 1012, c.closed())
	c = s.connect(two, minted.ID, c.resume)
	c.send("user-text", map[string]string{"text": "Does the museum open on Mondays?"})
	kim, again = s.joins(two, minted, again.ResumeToken)
	require.Equal(t, "takeover", again.Mode)
	require.Equal(t, "user", again.Turns[len(again.Turns)-1].Speaker)
	kim.Leave()
	c.notice("staff_left")
	c.hear("museum") // what nobody had answered
}

// Who does not come back has left, and the avatar goes on.
func TestAMemberWhoStaysAwayHasLeft(t *testing.T) {
	t.Parallel()
	s, clock := newClockedStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, nil)
	kim, _ := s.joins(p, minted, s.invite(minted.ID, "takeover"))
	c.notice("staff_joined")
	kim.Drop()
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	c.await("user-transcription", nil)
	passes(t, clock, 60*time.Second)
	defer ticks(clock)()
	c.notice("staff_left")
	c.hear("nine")
}
