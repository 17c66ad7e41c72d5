package live_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/visits/live"
)

// A socket that comes to another process is brought to the session's own.
func TestASocketIsBroughtToItsProcess(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	minted, c := s.greeted(one, nil)
	moved := s.connect(two, minted.ID, c.resume)
	require.Equal(t, 4003, c.closed())
	moved.send("client-ready", nil)
	moved.ask()
	require.Equal(t, 1, one.Live())
	require.Zero(t, two.Live())

	// So is a team member's.
	staff := s.connect(two, minted.ID, s.invite(minted.ID, "takeover"))
	moved.await("notice", nil)
	staff.send("user-text", map[string]string{"text": "I take over."})
	moved.hear("I take over.")
	moved.send("user-text", map[string]string{"text": "When does the museum open?"})
	require.Eventually(t, func() bool { return strings.Count(strings.Join(s.turns(minted.ID), "\n"), "user:") == 2 }, 20*time.Second, 10*time.Millisecond)
	staff.Leave()
	moved.await("notice", nil)
	require.Contains(t, s.turns(minted.ID), "staff: I take over.")
	moved.ask()
	moved.send("end", nil)
	moved.ended()
	details, err := session.Details(context.Background(), s.tenants, s.org, []id.Session{minted.ID})
	require.NoError(t, err)
	require.Len(t, details[minted.ID].Staff, 1)
	require.NotNil(t, details[minted.ID].Staff[0].LeftAt)
}

// Only a process can say that it brought a socket, and of that session alone.
func TestNobodyElseBringsASocket(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	minted, token := s.mint(nil)
	c := s.connect(one, minted.ID, string(token))
	for _, seal := range []string{"", "1", strings.Repeat("0", 64)} {
		request := httptest.NewRequest(http.MethodGet, live.Path+minted.ID.String(), nil)
		request.Header.Set("Upgrade", "visavis-relay")
		request.Header.Set("X-Visavis-Relayed", seal)
		require.False(t, one.Relayed(request), "%q", seal)
	}
	// A socket that claims it is brought to the session's process all the same.
	socket, _, err := websocket.Dial(t.Context(), "ws://"+two.address+live.Path+minted.ID.String(), &websocket.DialOptions{
		Subprotocols: []string{live.Subprotocol, "token." + c.resume}, HTTPHeader: http.Header{"X-Visavis-Relayed": {"1"}},
	})
	require.NoError(t, err)
	defer socket.CloseNow()
	_, data, err := socket.Read(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(data), "session-ready")
	require.Equal(t, []int{1, 0}, []int{one.Live(), two.Live()})
}

// A process that ends gives its sessions back: clients go on elsewhere at once.
func TestAConversationGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer two.Stop()
	minted, c := s.greeted(one, nil)
	c.ask()
	before := s.turns(minted.ID)
	one.Stop()
	require.Equal(t, int(websocket.StatusServiceRestart), c.closed())
	require.EqualValues(t, 1, s.active(), "its place is kept")

	again := s.connect(two, minted.ID, c.resume)
	require.Len(t, again.said, len(before))
	again.send("client-ready", nil)
	again.ask()
	require.Equal(t, before, s.turns(minted.ID)[:len(before)])
	again.send("end", nil)
	again.ended()
	s.become(minted.ID, session.EndedByUser)
}

// A process that lost its lease writes nothing more, and its clients are sent on.
func TestAProcessThatWasSilentLosesItsSessions(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	minted, c := s.greeted(one, nil)
	s.sql(`UPDATE live_pod SET lease_until = now() - INTERVAL '1 second' WHERE address = $2 AND $1::UUID IS NOT NULL`, one.address)
	_, err := session.Sweep(context.Background(), s.tenants, "a", s.now())
	require.NoError(t, err)
	require.Zero(t, s.active(), "its place is free")
	require.Equal(t, int(websocket.StatusServiceRestart), c.closed())

	again := s.connect(two, minted.ID, c.resume)
	require.EqualValues(t, 1, s.active(), "and taken again")
	again.send("client-ready", nil)
	again.ask()
	require.Eventually(t, func() bool { return one.Live() == 0 }, 20*time.Second, 10*time.Millisecond)
}

// Somebody else took the place meanwhile.
func TestAPlaceThatIsTaken(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer two.Stop()
	minted, c := s.visitor(one, nil)
	one.Stop()
	c.closed()
	_, err := session.Sweep(context.Background(), s.tenants, "a", s.now().Add(session.PodLease+time.Second))
	require.NoError(t, err)
	s.mint(nil)
	s.mint(nil)
	refused, err := s.dial(two, minted.ID, c.resume)
	require.NoError(t, err)
	require.Equal(t, 4029, (&client{Client: refused, t: t}).closed())
}

// A client that does not come back has left when its connection was lost.
func TestAClientThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	minted, c := s.visitor(p, nil)
	p.Stop()
	c.closed()
	_, err := session.Sweep(context.Background(), s.tenants, "a", s.now().Add(session.ResumeWithin+time.Second))
	require.NoError(t, err)
	ended := s.become(minted.ID, session.ConnectionLost)
	require.LessOrEqual(t, *ended.BilledS, int64(5), "up to when the process ended")
}
