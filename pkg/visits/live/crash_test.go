package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// crash makes the session's process one that died: its lease has run out, and it says
// nothing any more.
func (s *stage) crash(which id.Session) {
	s.t.Helper()
	dead := uuid.New()
	s.sql(`INSERT INTO live_pod (id, address, seen_at, lease_until) SELECT $2, '127.0.0.1:1', now(), now() - INTERVAL '1 second' WHERE $1::UUID IS NOT NULL`, dead)
	s.sql(`UPDATE session SET owner = $2, epoch = epoch + 1 WHERE org_id = $1 AND id = $3`, dead, which)
	s.sql(`UPDATE session_command SET owner = $2 WHERE org_id = $1 AND session_id = $3`, dead, which)
}

// queued asks for a say behind another one, which takes long to say aloud, so that the process
// can die meanwhile. To who reads it is told at once.
func (s *stage) queued(p *pod) (session.Session, *client, id.Turn) {
	s.t.Helper()
	minted, c := s.greeted(p, aloud)
	s.order(minted.ID, session.Command{Kind: session.SayIt, Text: strings.Repeat("A long sentence is being said. ", 20), Interrupt: true, Interruptible: true, Record: true})
	c.hear("A long sentence")
	second := s.order(minted.ID, session.Command{Kind: session.SayIt, Text: "This waited.", Interruptible: true, Record: true})
	return minted, c, second
}

// turnsOf counts the turns with an id.
func (s *stage) turnsOf(which id.Session, turn id.Turn) (n int) {
	s.t.Helper()
	turns, err := session.Turns(s.t.Context(), s.tenants, s.org, which, 0, 1000)
	require.NoError(s.t, err)
	for _, t := range turns {
		if t.ID == turn {
			n++
		}
	}
	return n
}

// What was acknowledged is said by the next process to a client that resumed, whether or
// not it says again that it is ready, and once.
func TestASayThatWaitedIsSaidAfterACrash(t *testing.T) {
	t.Parallel()
	for _, ready := range []bool{false, true} {
		t.Run(fmt.Sprintf("ready again: %v", ready), func(t *testing.T) {
			s := newStage(t, 600)
			one, two := s.pod(), s.pod()
			defer one.Stop()
			defer two.Stop()
			minted, c, second := s.queued(one)
			s.crash(minted.ID)
			again := s.connect(two, minted.ID, c.resume)
			if ready {
				again.send("client-ready", nil)
			}
			again.hear("This waited.")
			require.Equal(t, 1, s.turnsOf(minted.ID, second))
			again.send("end", nil)
			again.ended()
			require.Equal(t, 1, s.turnsOf(minted.ID, second), "it reached the transcript once")
		})
	}
}

// Where the session ends first, the transcript says that it was not said.
func TestASayThatNobodyHeardIsRecorded(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one := s.pod()
	defer one.Stop()
	minted, _, second := s.queued(one)
	s.crash(minted.ID)
	require.NoError(t, s.end(minted.ID, session.EndedByAPI))
	turns, err := session.Turns(t.Context(), s.tenants, s.org, minted.ID, 0, 1000)
	require.NoError(t, err)
	last := turns[len(turns)-1]
	require.Equal(t, []any{second, "This waited.", "", true, session.Say}, []any{last.ID, last.Text, last.Spoken, last.Interrupted, last.Origin})
	require.Equal(t, 1, s.turnsOf(minted.ID, second))
	require.EqualValues(t, len(turns), s.session(minted.ID).TurnCount)
}

// A client that comes back after a crash is shown the last turns, and what is said then
// comes behind them.
func TestTheLastTurnsAreShownAfterACrash(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	minted, c := s.greeted(one, nil)
	const more = 250
	s.sql(`
		INSERT INTO turn (org_id, session_id, ordinal, id, speaker, name, text, spoken, language, origin, started_at, ended_at,
			interrupted, redacted, sources, tool_calls, timing)
		SELECT $1, $2, n, gen_random_uuid(), 'staff', 'Ann', 'turn ' || n, 'turn ' || n, 'en', 'typed', now(), now(), false, false, '[]', '[]', '{}'
		FROM generate_series(1, $3::BIGINT) AS g (n)`, minted.ID, more)
	s.sql(`UPDATE session SET turn_count = $3 WHERE org_id = $1 AND id = $2`, minted.ID, more+1)
	s.crash(minted.ID)
	again := s.connect(two, minted.ID, c.resume)
	require.Len(t, again.said, 20)
	require.Equal(t, "turn 231", again.said[0])
	require.Equal(t, "turn 250", again.said[19])
	again.ask()
	require.Eventually(t, func() bool { return s.session(minted.ID).TurnCount >= more+3 }, 20*time.Second, 10*time.Millisecond)
	turns, err := session.Turns(t.Context(), s.tenants, s.org, minted.ID, more-1, 10)
	require.NoError(t, err)
	require.Equal(t, "turn 250", turns[1].Text, "nothing is written over")
	require.Equal(t, "When does the museum open?", turns[2].Text)
}
