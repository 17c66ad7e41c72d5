package live_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/live/livetest"
	"visavis.dev/pkg/visits/memory"
)

func TestAConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, nil)
	require.Equal(t, session.Live, s.session(minted.ID).State, "live once the client connected")
	c.send("client-ready", nil)
	c.hear("Welcome.")
	c.ask()
	c.send("user-text", map[string]string{"text": "Who won the war?"})
	c.hear("know")
	c.send("end", nil)
	reason, code := c.ended()
	require.Equal(t, session.EndedByUser, reason)
	require.Equal(t, int(websocket.StatusNormalClosure), code)

	ended := s.session(minted.ID)
	require.Equal(t, session.Ended, ended.State)
	require.Equal(t, *ended.DurationS, *ended.BilledS)
	require.Less(t, *ended.BilledS, int64(20), "what was paid ahead is given back")
	require.Zero(t, s.active())
	turns := s.turns(minted.ID)
	require.Equal(t, "avatar: Welcome.", turns[0])
	require.Contains(t, turns, "user: When does the museum open?")
	require.Contains(t, *ended.Summary, "When does the museum open? → The museum opens at nine.")
	_, err := s.dial(p, minted.ID, c.resume)
	require.NoError(t, err, "the socket opens, and is closed with the reason")
}

// A persona that remembers people is told what it remembers when it begins.
func TestAPersonIsRemembered(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(nil)
	s.connect(p, minted.ID, string(token))
	require.Nil(t, <-s.told, "another forgets")
	s.remembers = memory.ByPerson
	minted, token = s.mint(nil)
	s.connect(p, minted.ID, string(token))
	require.Equal(t, []string{"speaks with " + minted.Persona.String()}, <-s.told)
}

func TestALeaverLeaves(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, nil)
	c.Leave()
	s.become(minted.ID, session.Left)
}

// become waits until a session has ended for a reason.
func (s *stage) become(which id.Session, reason session.Reason) session.Session {
	s.t.Helper()
	var found session.Session
	require.Eventually(s.t, func() bool {
		found = s.session(which)
		return found.State.Over()
	}, 20*time.Second, 20*time.Millisecond, "%s does not end", which)
	require.Equal(s.t, reason, *found.EndReason)
	require.Zero(s.t, s.active())
	return found
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(func(w *session.Session) { w.AllowedOrigins = []string{"https://www.example.com"} })
	other, _ := s.mint(nil)
	refused := func(which id.Session, token string, code int, origin string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		socket, _, err := websocket.Dial(ctx, "ws://"+p.address+live.Path+which.String(), &websocket.DialOptions{
			Subprotocols: []string{live.Subprotocol, "token." + token}, HTTPHeader: http.Header{"Origin": {origin}},
		})
		require.NoError(t, err)
		defer socket.CloseNow()
		for err == nil {
			_, _, err = socket.Read(ctx)
		}
		require.Equal(t, code, int(websocket.CloseStatus(err)), "%v", err)
	}
	home := "https://www.example.com"
	refused(minted.ID, "nonsense", 4001, home)
	refused(minted.ID, string(token)+"x", 4001, home)
	refused(other.ID, string(token), 4001, home)
	refused(minted.ID, strings.Replace(string(token), s.org.Bare(), id.NewOrg().Bare(), 1), 4001, home)
	refused(minted.ID, string(token), 4001, "https://www.example.com.evil.example")
	refused(minted.ID, string(token), 4001, "")
	require.Equal(t, session.Created, s.session(minted.ID).State, "nobody came in")

	answer, err := http.Get("http://" + p.address + live.Path + "sess_nonsense")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNotFound, answer.StatusCode)

	require.NoError(t, s.end(other.ID, session.EndedByAPI))
	_, late := s.mint(nil)
	refused(other.ID, string(late), 4001, home)
}

// end ends a session as the API does.
func (s *stage) end(which id.Session, reason session.Reason) error {
	return s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: reason, At: s.now()})
		return err
	})
}

// A token can be the first message, for clients that cannot name subprotocols.
func TestATokenInTheFirstMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(nil)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, "ws://"+p.address+live.Path+minted.ID.String(), nil)
	require.NoError(t, err)
	defer socket.CloseNow()
	require.NoError(t, socket.Write(ctx, websocket.MessageText, []byte(`{"type":"auth","data":{"token":"`+string(token)+`"}}`)))
	_, data, err := socket.Read(ctx)
	require.NoError(t, err)
	require.Contains(t, string(data), `"type":"session-ready"`)
}

func TestASecondSocketSupersedesTheFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, first := s.greeted(p, nil)
	second := s.connect(p, minted.ID, first.resume)
	require.Equal(t, 4003, first.closed())
	require.Equal(t, []string{"Welcome."}, second.said)
	second.send("client-ready", nil)
	second.ask()
	require.Equal(t, 1, strings.Count(strings.Join(s.turns(minted.ID), "\n"), "Welcome."), "greeted once")
	require.EqualValues(t, 1, s.session(minted.ID).Reconnects)
}

func TestOrdersReachTheProcess(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, nil)
	said := s.order(minted.ID, session.Command{Kind: session.SayIt, Text: "We close early today.", Interrupt: true, Interruptible: true, Record: true})
	c.hear("We close early today.")
	asked := s.order(minted.ID, session.Command{Kind: session.RespondTo, Text: "When does the museum open?"})
	c.hear("nine")
	longest := int64(3600)
	s.order(minted.ID, session.Command{Kind: session.SteerIt, MaxDurationS: &longest})
	s.order(minted.ID, session.Command{Kind: session.Finish, Text: "That is all.", Reason: session.EndedByAPI})
	c.hear("That is all.")
	reason, code := c.ended()
	require.Equal(t, session.EndedByAPI, reason)
	require.Equal(t, 4002, code)
	require.Equal(t, "avatar: We close early today.", s.turn(minted.ID, said))
	require.Equal(t, "user: When does the museum open?", s.turn(minted.ID, asked), "its turn has the order's id")
	s.become(minted.ID, session.EndedByAPI)
	orders, err := session.Orders(context.Background(), s.tenants, "a", s.session(minted.ID).Owner.UUID)
	require.NoError(t, err)
	require.Empty(t, orders)
}

func TestAnEndThroughTheAPIClosesTheSocket(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, nil)
	require.NoError(t, s.end(minted.ID, session.ConcurrencyReclaimed))
	reason, code := c.ended()
	require.Equal(t, session.ConcurrencyReclaimed, reason)
	require.Equal(t, 4002, code)
	require.Eventually(t, func() bool { return p.Live() == 0 }, 20*time.Second, 10*time.Millisecond)
}

func TestTimesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seconds int64
		change  func(*session.Session)
		reason  session.Reason
		billed  int64
		code    int
	}{
		"longest duration": {600, func(w *session.Session) { w.MaxDurationS = 1 }, session.MaxDuration, 1, 4002},
		"minutes":          {2, nil, session.MinutesExhausted, 2, 4002},
		"idle":             {600, func(w *session.Session) { w.IdleTimeoutS = 1 }, session.Idle, 0, 4008},
		"sandbox":          {0, func(w *session.Session) { w.Sandbox, w.MaxDurationS = true, 1 }, session.MaxDuration, 0, 4002},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, c.seconds)
			p := s.pod()
			defer p.Stop()
			minted, client := s.visitor(p, c.change)
			reason, code := client.ended()
			require.Equal(t, []any{c.reason, c.code}, []any{reason, code})
			ended := s.become(minted.ID, c.reason)
			if c.billed > 0 || ended.Sandbox {
				require.Equal(t, c.billed, *ended.BilledS)
			}
		})
	}
}

// Sound is not understood, which is said once.
func TestSound(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	_, c := s.visitor(p, nil)
	for range 3 {
		require.NoError(t, c.SendSound(context.Background(), make([]byte, 640)))
	}
	c.send("ping", nil)
	told := 0
	_, err := c.Until(t.Context(), func(m livetest.Message) bool {
		if m.Type == "error" {
			require.Contains(t, string(m.Data), "no_recognition")
			told++
		}
		return m.Type == "pong"
	})
	require.NoError(t, err)
	require.Equal(t, 1, told)
}

func TestAPausedAccount(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(nil)
	now := s.now()
	s.paused = &now
	c, err := s.dial(p, minted.ID, string(token))
	require.NoError(t, err)
	joined := &client{Client: c, t: t}
	require.Equal(t, 4002, joined.closed())
	s.become(minted.ID, session.AccountPaused)
}
