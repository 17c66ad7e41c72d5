package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/livekit/livekittest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/live/livetest"
)

// mediaServer is an organization's, with the connection to it.
type mediaServer struct {
	*livekittest.Server
	opened connection.Opened

	mu    sync.Mutex
	calls []string
}

// join tells a process of the server.
func (m *mediaServer) join(o *live.Options) {
	o.Egress = m.Guard()
	o.Media = func(_ context.Context, _ id.Org, which id.Connection) (connection.Opened, error) {
		if which != m.opened.ID {
			return connection.Opened{}, errdefs.NotFound{Noun: connection.Noun}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.opened, nil
	}
	o.MediaOutcome = func(_ id.Org, _ id.Connection, outcome connection.Outcome) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.calls = append(m.calls, strings.TrimSpace(outcome.Name+" "+string(outcome.Code)))
	}
}

func (m *mediaServer) called() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.calls...)
}

// withMedia makes a stage whose organization has a media server.
func withMedia(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, 600)
	m := &mediaServer{Server: livekittest.Start(t)}
	m.opened = connection.Opened{
		Connection: connection.Connection{
			ID: id.NewConnection(), Kind: connection.Media, Provider: connection.LiveKit, TimeoutMs: 5000,
			Config: connection.Config{"url": m.URL, "apiKey": m.Key.ID, "roomPrefix": "t-"},
		},
		Org: s.org, Secrets: []connection.Secret{connection.Secret(m.Key.Secret)},
	}
	s.media = m
	return s
}

// mintRoom starts a session over the media server.
func (s *stage) mintRoom() session.Session {
	s.t.Helper()
	minted, _ := s.mint(func(w *session.Session) { w.Transport, w.Media = session.LiveKit, s.media.opened.ID })
	return minted
}

// enter joins a session's room with a token.
func (s *stage) enter(token string) *client {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := livetest.Join(ctx, s.media.Guard(), s.media.URL, token)
	require.NoError(s.t, err)
	s.t.Cleanup(c.Drop)
	return &client{Client: c, t: s.t}
}

// visit joins a session's room as the visitor and waits until the persona is there.
func (s *stage) visit(which id.Session) *client {
	s.t.Helper()
	token, err := s.media.Key.VisitorToken(s.media.opened.MediaRoom(which), s.now(), time.Minute)
	require.NoError(s.t, err)
	c := s.enter(token)
	c.greeted()
	return c
}

// greeted waits until a client was told what it came into. It says that it is ready until
// the persona hears it.
func (c *client) greeted() {
	c.t.Helper()
	var d struct {
		ResumeToken string
		Turns       []struct{ Text string }
	}
	deadline, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		c.send("client-ready", nil)
		soon, again := context.WithTimeout(deadline, 300*time.Millisecond)
		m, err := c.UntilType(soon, "session-ready")
		again()
		if errors.Is(err, context.DeadlineExceeded) && deadline.Err() == nil {
			continue
		}
		require.NoError(c.t, err)
		require.NoError(c.t, json.Unmarshal(m.Data, &d))
		break
	}
	c.resume, c.said = d.ResumeToken, nil
	for _, turn := range d.Turns {
		c.said = append(c.said, turn.Text)
	}
}

func TestAConversationInARoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	minted := s.mintRoom()
	room := s.media.opened.MediaRoom(minted.ID)
	require.Eventually(t, func() bool { return s.hasRoom(room) }, 20*time.Second, 20*time.Millisecond, "the persona waits there")
	require.Equal(t, session.Created, s.session(minted.ID).State, "which costs nothing")

	c := s.visit(minted.ID)
	require.Equal(t, session.Live, s.session(minted.ID).State)
	c.send("client-ready", nil)
	c.hear("Welcome.")
	c.ask()
	c.send("user-text", map[string]string{"text": "Who won the war?"})
	c.hear("know")
	c.send("nonsense", nil)
	c.await("error", nil)
	c.send("end", nil)
	reason, _ := c.ended()
	require.Equal(t, session.EndedByUser, reason)
	ended := s.become(minted.ID, session.EndedByUser)
	require.Equal(t, *ended.DurationS, *ended.BilledS)
	require.Contains(t, s.turns(minted.ID), "user: When does the museum open?")
	require.Eventually(t, func() bool { return !s.hasRoom(room) && p.Live() == 0 }, 20*time.Second, 20*time.Millisecond, "the room is closed")
	require.Equal(t, []string{"join", "close"}, s.media.called())
}

func (s *stage) hasRoom(name string) bool {
	s.t.Helper()
	var rooms []livekit.Room
	// The server is asked over a connection that it may close just then.
	require.Eventually(s.t, func() bool {
		found, err := s.media.API().Rooms(context.Background(), time.Now())
		rooms = found
		return err == nil
	}, 20*time.Second, 50*time.Millisecond)
	for _, r := range rooms {
		if r.Name == name {
			return true
		}
	}
	return false
}

// visitedBy mints a session and comes into its room.
func (s *stage) visited() (session.Session, *client) {
	s.t.Helper()
	minted := s.mintRoom()
	c := s.visit(minted.ID)
	c.hear("Welcome.")
	return minted, c
}

func TestOrdersAndStaffReachARoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visited()
	s.order(minted.ID, session.Command{Kind: session.SayIt, Text: "We close early today.", Interrupt: true, Interruptible: true, Record: true})
	c.hear("We close early today.")

	kim := s.enter(s.staffToken(minted.ID, "takeover"))
	kim.greeted()
	kim.send("user-text", map[string]string{"text": "I take over."})
	c.hear("I take over.")
	kim.Leave()
	c.awaitKind("staff_left")

	// A page of ours joins over the socket, from any process.
	other := s.pod()
	defer other.Stop()
	lee, w := s.joins(other, minted, s.invite(minted.ID, "takeover"))
	require.True(t, w.Visitor)
	lee.send("user-text", map[string]string{"text": "I write from the office."})
	c.hear("I write from the office.")
	lee.Leave()
	c.awaitKind("staff_left")
	c.ask()
	require.NoError(t, s.end(minted.ID, session.EndedByAPI))
	reason, _ := c.ended()
	require.Equal(t, session.EndedByAPI, reason)
	require.Contains(t, s.turns(minted.ID), "staff: I take over.")
}

// awaitKind waits for a notice.
func (c *client) awaitKind(kind string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := c.Until(ctx, func(m livetest.Message) bool { return m.Type == "notice" && strings.Contains(string(m.Data), kind) })
	require.NoError(c.t, err, "waiting for %s", kind)
}

// staffToken invites a team member into a session's room.
func (s *stage) staffToken(which id.Session, mode string) string {
	s.t.Helper()
	kim := session.Colleague{ID: id.NewStaff(), Name: "Kim", Mode: mode}
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.Invite(ctx, tx, session.Session{ID: which}, kim, activity.Actor{By: "test", At: s.now()})
		return err
	}))
	token, err := s.media.Key.StaffToken(s.media.opened.MediaRoom(which), kim.ID, kim.Name, mode == "listen", s.now(), time.Minute)
	require.NoError(s.t, err)
	return token
}

// Only the session's visitor is heard as such, and only those who were invited as staff,
// whatever tokens the organization makes besides.
func TestOthersInARoomAreNotHeard(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visited()
	stranger := id.NewStaff()
	for _, identity := range []string{"intruder", "visitor ", stranger.String(), strings.ToUpper(stranger.String())} {
		token := s.media.Token(t, s.media.opened.MediaRoom(minted.ID), identity, livekit.Grant{CanPublish: true, CanPublishData: true, CanSubscribe: true})
		other := s.enter(token)
		other.send("user-text", map[string]string{"text": "I am somebody else."})
		other.send("end", nil)
	}
	listener := s.enter(s.staffToken(minted.ID, "listen"))
	listener.send("user-text", map[string]string{"text": "I only listen."})
	listener.await("session-ready", nil)
	listener.send("end", nil)
	c.ask()
	require.NotContains(t, strings.Join(s.turns(minted.ID), "\n"), "somebody else")
	require.NotContains(t, strings.Join(s.turns(minted.ID), "\n"), "I only listen")
	c.send("end", nil)
	reason, _ := c.ended()
	require.Equal(t, session.EndedByUser, reason)
}

// A visitor who leaves without a word may come back.
func TestAVisitorComesBackToTheRoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visited()
	c.ask()
	before := s.turns(minted.ID)
	c.Drop()
	again := s.visit(minted.ID)
	require.Len(t, again.said, len(before))
	again.ask()

	// So it is where the server closes the room under both.
	require.NoError(t, s.media.API().Delete(t.Context(), s.media.opened.MediaRoom(minted.ID), time.Now()))
	again.closed()
	third := s.visit(minted.ID)
	third.ask()
	require.Equal(t, before, s.turns(minted.ID)[:len(before)])
	require.Equal(t, 1, strings.Count(strings.Join(s.turns(minted.ID), "\n"), "Welcome."), "greeted once")
}

// A process that ends leaves its rooms to the others; the visitor stays where they are.
func TestAnotherProcessComesToTheRoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	one, two := s.pod(), s.pod()
	defer two.Stop()
	minted, c := s.visited()
	c.ask()
	if one.Live() == 0 {
		one, two = two, one
	}
	require.Equal(t, []int{1, 0}, []int{one.Live(), two.Live()}, "one persona")
	before := s.turns(minted.ID)
	one.Stop()
	c.await("session-ready", nil)
	c.ask()
	require.Equal(t, 1, two.Live())
	require.Equal(t, before, s.turns(minted.ID)[:len(before)])
	require.Equal(t, session.Live, s.session(minted.ID).State)
	require.EqualValues(t, 1, s.active())
	require.NoError(t, s.end(minted.ID, session.EndedByAPI))
	reason, _ := c.ended()
	require.Equal(t, session.EndedByAPI, reason)
}

// So it is with one that fell silent, once its lease has ended.
func TestASilentProcessLosesTheRoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	minted, c := s.visited()
	c.ask()
	s.sql(`UPDATE live_pod SET lease_until = now() - INTERVAL '1 second' WHERE id = $2 AND $1::UUID IS NOT NULL`, s.session(minted.ID).Owner)
	_, err := session.Sweep(context.Background(), s.tenants, "a", s.now())
	require.NoError(t, err)
	c.await("session-ready", nil)
	c.ask()
	require.Eventually(t, func() bool { return one.Live()+two.Live() == 1 }, 20*time.Second, 20*time.Millisecond)
}

// However many processes look, each room has one persona.
func TestOnePersonaARoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	const sessions = 8
	places := int64(sessions)
	s.terms.Limits[plan.MaxConcurrentSessions] = &places
	pods := []*pod{s.pod(), s.pod(), s.pod()}
	rooms := map[string]bool{}
	for range sessions {
		rooms[s.media.opened.MediaRoom(s.mintRoom().ID)] = true
	}
	require.Eventually(t, func() bool { return len(s.media.called()) >= sessions }, 20*time.Second, 20*time.Millisecond)
	for room := range rooms {
		require.True(t, s.hasRoom(room))
	}
	for _, p := range pods {
		p.Stop()
	}
	require.Len(t, s.media.called(), sessions, "none joined twice")
}

// Nobody came: the room is closed when the session expires, or is ended.
func TestARoomThatNobodyComesTo(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	for name, end := range map[string]func(session.Session) error{
		"expired": func(m session.Session) error {
			_, err := session.Sweep(context.Background(), s.tenants, "a", m.ConnectBy.Add(time.Second))
			return err
		},
		"ended": func(m session.Session) error { return s.end(m.ID, session.EndedByAPI) },
	} {
		t.Run(name, func(t *testing.T) {
			minted := s.mintRoom()
			room := s.media.opened.MediaRoom(minted.ID)
			require.Eventually(t, func() bool { return s.hasRoom(room) }, 20*time.Second, 20*time.Millisecond)
			require.NoError(t, end(minted))
			require.Eventually(t, func() bool { return !s.hasRoom(room) }, 20*time.Second, 50*time.Millisecond)
			require.Zero(t, *s.session(minted.ID).BilledS)
		})
	}
}

// A session in a room is not entered over a socket too.
func TestNoSocketForARoom(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(func(w *session.Session) { w.Transport, w.Media = session.LiveKit, s.media.opened.ID })
	refused, err := s.dial(p, minted.ID, string(token))
	require.NoError(t, err)
	require.Equal(t, 4001, (&client{Client: refused, t: t}).closed())
	require.Equal(t, session.Created, s.session(minted.ID).State)
}

// A server that cannot be reached is tried again, and its connection is told of it.
func TestAMediaServerThatIsAway(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	good := s.media.opened.Config
	s.media.opened.Config = connection.Config{"url": "wss://127.0.0.1:9", "apiKey": s.media.Key.ID}
	p := s.pod()
	defer p.Stop()
	minted := s.mintRoom()
	require.Eventually(t, func() bool { return len(s.media.called()) > 1 }, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "join unavailable", s.media.called()[0])
	s.media.mu.Lock()
	s.media.opened.Config = good
	s.media.mu.Unlock()
	c := s.visit(minted.ID)
	c.ask()
}

// A visitor who floods the room loses the persona for a while; the other sessions of the
// process go on.
func TestAFloodIsItsOwnSessionsTrouble(t *testing.T) {
	t.Parallel()
	s := withMedia(t)
	p := s.pod()
	defer p.Stop()
	_, noisy := s.visited()
	_, other := s.visited()
	for range 4000 {
		noisy.send("nonsense", nil)
	}
	other.ask()
	noisy.await("session-ready", nil)
	noisy.ask()
	other.ask()
}
