package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/session"
)

const (
	// manyKills are enough for a long run, in which the loyal client's session
	// outlasts what it pays for at a time.
	manyKills    = 30
	betweenKills = 2 * time.Second
)

// TestNoTurnIsLost kills the process that holds conversations in the middle of
// their turns. What was heard is in the transcript, whether or not the client
// comes back; what the API promised to say is said, once; a place that nobody
// comes back to is free within twenty seconds; every second is paid for once,
// and no more than there is. One client comes back each time, so that its
// session is paid for by one process after the other.
func TestNoTurnIsLost(t *testing.T) {
	s := newStage(t, 2)
	o := &outcome{}
	stop := s.watchMinutes()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	loyal := s.newTalker(ctx, s.otherThan(""))
	talkers := []*talker{loyal}
	killed := min(*kills, manyKills)
	for n := range killed {
		if killed == manyKills {
			<-time.After(betweenKills)
		}
		talkers = append(talkers, s.round(ctx, n, loyal, o)...)
	}
	loyal.end(ctx)
	o.watching.Wait()
	s.awaitIdle()
	stop()
	for _, k := range talkers {
		k.requireKept()
	}
	billed := s.requirePaidOnce()
	require.Less(t, o.slowest, 20*time.Second)
	if killed == manyKills {
		held, err := session.Get(ctx, s.Tenants, s.Acme.ID, loyal.which)
		require.NoError(t, err)
		require.Greater(t, *held.BilledS, int64(usage.BlockS), "one session is paid for by several processes")
	}
	t.Logf("%d kills, with %d turns open; of %d sessions %d clients came back, one of them each time; %d orders said once; the slowest place was free after %v; %d seconds billed",
		killed, o.open, len(talkers), o.back, o.orders, o.slowest.Round(time.Millisecond), billed)
}

// outcome is what the rounds brought about.
type outcome struct {
	open, back, orders int
	watching           sync.WaitGroup
	mu                 sync.Mutex
	slowest            time.Duration
}

// round kills the process of the loyal client while it and others are being
// answered. The first of the others was also promised something, and comes back;
// the second does not, the third may.
func (s *stage) round(ctx context.Context, n int, loyal *talker, o *outcome) []*talker {
	at := s.ownerOf(loyal.which)
	others := []*talker{s.newTalker(ctx, at), s.newTalker(ctx, at), s.newTalker(ctx, at)}
	question := questions[n%len(questions)]
	for _, k := range append(others, loyal) {
		k.ask(ctx, question)
	}
	// Now and then the answer has not begun.
	early := n%3 == 2
	if early {
		require.NoError(s.t, others[2].client.Say(ctx, "And on Mondays?"))
	}
	others[0].order(ctx, fmt.Sprintf("We close in %d minutes.", n), n%2 == 0)
	<-time.After(time.Duration(rand.IntN(30)) * time.Millisecond)
	s.portals[at].kill()
	killed := time.Now()
	for _, k := range append(others, loyal) {
		k.drain()
	}
	o.open += s.requireOpen(others[1], loyal)
	if n%2 == 0 { // they come back to another process, or to the one that took its place
		defer s.portals[at].await()
		defer s.portals[at].start()
	} else {
		s.portals[at].start()
		s.portals[at].await()
	}
	o.watch(killed, others[1])
	loyal.comeBack(ctx, s.otherThan(at))
	others[0].comeBack(ctx, s.otherThan(at))
	others[0].end(ctx)
	o.back, o.orders = o.back+2, o.orders+1
	if early {
		others[2].comeBack(ctx, s.otherThan(at))
		others[2].end(ctx)
		o.back++
	} else {
		o.watch(killed, others[2])
	}
	return others
}

// watch measures how soon the places of those who do not come back are free.
func (o *outcome) watch(killed time.Time, gone ...*talker) {
	for _, k := range gone {
		o.watching.Go(func() {
			freed := k.freed(killed)
			o.mu.Lock()
			defer o.mu.Unlock()
			o.slowest = max(o.slowest, freed)
		})
	}
}

// requireOpen requires that a turn of each was under way when its process was
// killed, and counts them.
func (s *stage) requireOpen(talkers ...*talker) int {
	for _, k := range talkers {
		turns := s.turns(k.which)
		require.Nil(s.t, turns[len(turns)-1].EndedAt, "the process was not killed in the middle of a turn of %s", k.which)
	}
	return len(talkers)
}

// watchMinutes requires until it is stopped that no more minutes are used than
// there are.
func (s *stage) watchMinutes() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			if n, err := s.overdrawn(ctx); err == nil && n > 0 {
				s.t.Errorf("%d grants are overdrawn", n)
				return
			}
			<-time.After(20 * time.Millisecond)
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}
