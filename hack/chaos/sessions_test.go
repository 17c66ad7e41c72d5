package chaos

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/live/livetest"
	"visavis.dev/pkg/organization"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

// stage is two processes that hold conversations, an API and a worker, and an
// organisation with minutes and a persona.
type stage struct {
	*apitest.API
	t       *testing.T
	api     livetest.API
	persona string
	// portals are the processes that are killed, by their addresses.
	portals map[string]*process
	grantS  int64
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{API: apitest.New(t, apitest.Unlimited), t: t, portals: map[string]*process{}, grantS: 1000 * 60}
	binary := build(t)
	common := []string{"--database", s.Options.DirectoryURL, "--files", s.Options.FilesURL}
	var addresses []string
	for range 2 {
		addr, admin := address(t), address(t)
		s.portals[addr] = run(t, "http://"+admin+"/livez", append([]string{
			binary, "portal", "--addr", addr, "--admin-addr", admin, "--address-limit", "100000000",
		}, common...)...)
		addresses = append(addresses, addr)
	}
	addr, admin := address(t), address(t)
	api := run(t, "http://"+addr+"/v1/health", append([]string{
		binary, "api", "--addr", addr, "--admin-addr", admin, "--live-url", "ws://" + addresses[0],
		"--address-limit", "100000000", "--rates", "live=100000000/100000000,write=100000000/100000000,read=100000000/100000000",
	}, common...)...)
	worker := run(t, "http://"+admin+"/livez", append([]string{binary, "worker", "--admin-addr", address(t)}, common...)...)
	for _, p := range append([]*process{api, worker}, s.processes()...) {
		p.await()
	}
	s.api = livetest.API{Base: "http://" + addr + "/v1", Key: string(s.Acme.New)}
	require.NoError(t, organization.GrantMinutes(context.Background(), s.Tenants, s.Acme.ID, uuid.New(), s.grantS/60, time.Now().UTC(), nil))
	var err error
	s.persona, err = s.api.Persona(context.Background(), "Amara", map[string]string{"The museum": museum}, nil)
	require.NoError(t, err)
	return s
}

func (s *stage) processes() []*process {
	var all []*process
	for _, p := range s.portals {
		all = append(all, p)
	}
	return all
}

const museum = `The museum opens at nine in the morning and closes at six in the evening. On Mondays it stays closed.
A ticket costs twelve euros. Children under six years pay nothing. The guided tour begins at eleven and lasts fifty minutes.
The café on the second floor serves soup and cake. Dogs must wait outside.`

var questions = []string{"When does the museum open?", "How much is a ticket?", "When does the guided tour begin?", "What does the café serve?"}

// heard is what a client was told, by turn.
type heard map[string]string

// hear notes what a message says.
func (h heard) hear(m livetest.Message) {
	var d struct{ TurnID, Text string }
	if m.Type == "bot-text" && json.Unmarshal(m.Data, &d) == nil && d.Text != "" {
		h[d.TurnID] = strings.TrimSpace(h[d.TurnID] + " " + d.Text)
	}
}

// TestNoTurnIsLost kills the process that holds a conversation in the middle of
// a turn. What was heard is in the transcript, whether or not the client comes
// back; a place that nobody comes back to is free within twenty seconds; and
// every second is paid for once.
func TestNoTurnIsLost(t *testing.T) {
	s := newStage(t)
	told := map[string]heard{}
	var slowest time.Duration
	resumed := 0
	for n := range *kills {
		h := heard{}
		back, id, freed := s.round(n, h)
		told[id] = h
		if back {
			resumed++
		}
		slowest = max(slowest, freed)
	}
	s.settled()
	for id, h := range told {
		s.requireKept(id, h)
	}
	billed := s.requirePaidOnce()
	require.Less(t, slowest, 20*time.Second)
	t.Logf("%d kills in the middle of a turn, %d clients came back; the slowest place was free after %v; %d seconds billed", *kills, resumed, slowest.Round(time.Millisecond), billed)
}

// round holds a conversation, kills its process in the middle of a turn, and has
// the client come back every other time.
func (s *stage) round(n int, h heard) (back bool, which string, freed time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ticket, err := s.api.Mint(ctx, s.persona, nil)
	require.NoError(s.t, err)
	which = ticket.Session.ID
	at, other := s.addresses()
	c, err := livetest.Dial(ctx, "ws://"+at+"/live/v1/"+which, ticket.Token)
	require.NoError(s.t, err)
	ready, err := c.UntilType(ctx, "session-ready")
	require.NoError(s.t, err)
	var d struct{ ResumeToken string }
	require.NoError(s.t, json.Unmarshal(ready.Data, &d))
	require.NoError(s.t, c.Send(ctx, "client-ready", nil))
	require.NoError(s.t, c.Say(ctx, questions[n%len(questions)]))
	_, err = c.Until(ctx, func(m livetest.Message) bool {
		h.hear(m)
		return m.Type == "bot-text" && len(h) > 1 // the answer after the greeting
	})
	require.NoError(s.t, err)
	s.portals[at].kill()
	killed := time.Now()
	for m := range c.Messages() {
		h.hear(m)
	}
	if back = n%2 == 0; back {
		s.comeBack(ctx, other, which, d.ResumeToken, h)
	} else {
		require.Eventually(s.t, func() bool { return s.active() == 0 }, 30*time.Second, 50*time.Millisecond, "the place does not come back")
		freed = time.Since(killed)
	}
	s.portals[at].start()
	s.portals[at].await()
	return back, which, freed
}

// addresses are those of the two processes, in any order.
func (s *stage) addresses() (one, other string) {
	var all []string
	for addr := range s.portals {
		all = append(all, addr)
	}
	n := rand.IntN(len(all))
	return all[n], all[(n+1)%len(all)]
}

// comeBack goes on with the conversation elsewhere, and ends it.
func (s *stage) comeBack(ctx context.Context, at, which, token string, h heard) {
	c, err := livetest.Dial(ctx, "ws://"+at+"/live/v1/"+which, token)
	require.NoError(s.t, err)
	_, err = c.UntilType(ctx, "session-ready")
	require.NoError(s.t, err)
	require.NoError(s.t, c.Send(ctx, "client-ready", nil))
	before := len(h)
	require.NoError(s.t, c.Say(ctx, "Are dogs allowed?"))
	_, err = c.Until(ctx, func(m livetest.Message) bool {
		h.hear(m)
		return len(h) > before
	})
	require.NoError(s.t, err)
	require.NoError(s.t, s.api.Call(ctx, http.MethodPost, "/sessions/"+which+"/end", nil, nil))
	for m := range c.Messages() {
		h.hear(m)
	}
}

// active is how many places are taken.
func (s *stage) active() int64 {
	active, _, err := session.Places(context.Background(), s.Tenants, s.Acme.ID)
	require.NoError(s.t, err)
	return active
}

// settled waits until every session is over.
func (s *stage) settled() {
	require.Eventually(s.t, func() bool {
		live, err := session.List(context.Background(), s.Tenants, s.Acme.ID, session.Filter{States: []session.State{session.Created, session.Live}}, [16]byte{}, 1)
		return err == nil && len(live) == 0
	}, time.Minute, 100*time.Millisecond, "sessions do not end")
	require.Zero(s.t, s.active())
}

// requireKept requires that everything that was heard is in the transcript.
func (s *stage) requireKept(which string, h heard) {
	var transcript struct {
		State string
		Turns []struct{ ID, Text string }
	}
	require.NoError(s.t, s.api.Call(context.Background(), http.MethodGet, "/sessions/"+which+"/transcript?limit=200", nil, &transcript))
	require.Equal(s.t, "final", transcript.State)
	kept := map[string]string{}
	for _, turn := range transcript.Turns {
		kept[turn.ID] = turn.Text
	}
	for turn, text := range h {
		require.Contains(s.t, kept[turn], text, "turn %s of %s was heard and is not kept", turn, which)
	}
}

// requirePaidOnce requires that what is left of the minutes and what was billed
// make up what there was.
func (s *stage) requirePaidOnce() (billed int64) {
	ctx := context.Background()
	var left, blocks, overfull int64
	require.NoError(s.t, s.Tenants.InTx(ctx, s.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT (SELECT sum(remaining_s) FROM minute_grant WHERE org_id = $1)::BIGINT,
				(SELECT sum(seconds) FROM usage_block WHERE org_id = $1)::BIGINT,
				(SELECT sum(billed_s) FROM session WHERE org_id = $1)::BIGINT,
				(SELECT count(*) FROM session WHERE org_id = $1 AND billed_s > duration_s)`, tx.Org).Scan(&left, &blocks, &billed, &overfull)
	}))
	require.Equal(s.t, s.grantS, left+blocks, "every second is paid for once")
	require.Equal(s.t, blocks, billed, "what is billed is what was paid")
	require.Zero(s.t, overfull, "nobody is billed for more than there was")
	return billed
}
