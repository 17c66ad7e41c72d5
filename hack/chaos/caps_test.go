package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/live/livetest"
)

const (
	// places are how many sessions may be live at once.
	places = int64(10)
	// clients want one of them at a time.
	clients = 100
	// crowdFor is how long they come and go, and crowdKill how often a process
	// is killed meanwhile.
	crowdFor  = time.Minute
	crowdKill = 4 * time.Second
)

// TestTheCapIsExact has a crowd come and go through three processes of each kind,
// of which one is killed now and then. Never are more places taken than there
// are, nor does a process run a session without one; in the end all are free.
func TestTheCapIsExact(t *testing.T) {
	if *kills < manyKills {
		t.Skip("it takes two minutes; make chaos runs it")
	}
	s := newStage(t, 3)
	most := places
	require.NoError(t, s.Directory.SetOverrides(t.Context(), s.Acme.ID, plan.Overrides{Limits: plan.Limits{plan.MaxConcurrentSessions: &most}}))
	requireLimit(t, s)

	watching, stopWatching := context.WithCancel(context.Background())
	var watch, crowd sync.WaitGroup
	w := &watcher{stage: s}
	watch.Go(func() { w.run(watching) })
	stopMinutes := s.watchMinutes()
	ctx, cancel := context.WithTimeout(context.Background(), crowdFor)
	defer cancel()
	c := &counts{}
	for range clients {
		crowd.Go(func() {
			for ctx.Err() == nil {
				s.visit(ctx, c)
			}
		})
	}
	died := s.killNowAndThen(ctx)
	crowd.Wait()
	s.awaitIdle()
	stopMinutes()
	stopWatching()
	watch.Wait()
	billed := s.requirePaidOnce()
	require.Equal(t, places, w.most, "the crowd filled every place")
	require.Greater(t, w.looks, int64(100))
	t.Logf("%d sessions minted, %d refused, %d came back, %d kills; at most %d of %d places taken in %d looks; %d seconds billed",
		c.minted.Load(), c.refused.Load(), c.back.Load(), died, w.most, places, w.looks, billed)
}

// requireLimit waits until the processes know of the cap.
func requireLimit(t *testing.T, s *stage) {
	t.Helper()
	for _, a := range s.apis {
		require.Eventually(t, func() bool {
			var ticket struct {
				Session struct{ ID string }
				Limits  struct{ MaxConcurrentSessions *int64 }
			}
			err := a.Call(t.Context(), http.MethodPost, "/sessions/tokens", map[string]any{"personaId": s.persona}, &ticket)
			if err != nil || a.Call(t.Context(), http.MethodPost, "/sessions/"+ticket.Session.ID+"/end", nil, nil) != nil {
				return false
			}
			return ticket.Limits.MaxConcurrentSessions != nil && *ticket.Limits.MaxConcurrentSessions == places
		}, time.Minute, time.Second, "the cap is not known")
	}
}

// counts are what the crowd did.
type counts struct{ minted, refused, back atomic.Int64 }

// visit is one try of one client's: most leave, some drop the connection, of
// whom some come back, some are ended by the API, and a few never connect. What
// fails since a process is down is left as it is.
func (s *stage) visit(ctx context.Context, c *counts) {
	pause := func(most time.Duration) { <-time.After(rand.N(most)) }
	a := s.apis[rand.IntN(len(s.apis))]
	ticket, err := a.Mint(context.WithoutCancel(ctx), s.persona, nil)
	var refused *livetest.Error
	if errors.As(err, &refused) && refused.Code == "concurrency_limit" {
		c.refused.Add(1)
	}
	if err != nil {
		pause(400 * time.Millisecond)
		return
	}
	c.minted.Add(1)
	chance := rand.IntN(100)
	if chance < 1 {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	client, token, err := s.enter(bounded, ticket.Session.ID, ticket.Token)
	if err != nil {
		return
	}
	pause(500 * time.Millisecond)
	switch {
	case chance < 5:
		client.Drop()
	case chance < 40:
		client.Drop()
		pause(200 * time.Millisecond)
		if client, _, err = s.enter(bounded, ticket.Session.ID, token); err == nil {
			c.back.Add(1)
			client.Leave()
		}
	case chance < 55:
		_ = a.Call(bounded, http.MethodPost, "/sessions/"+ticket.Session.ID+"/end", nil, nil)
	default:
		client.Leave()
	}
}

// enter connects to a session at any process that is up, and answers the token
// to come back by.
func (s *stage) enter(ctx context.Context, which, token string) (client *livetest.Client, resume string, err error) {
	all := s.addresses()
	for _, n := range rand.Perm(len(all)) {
		if client, err = livetest.Dial(ctx, "ws://"+all[n]+"/live/v1/"+which, token); err == nil {
			break
		}
	}
	if err != nil {
		return nil, "", err
	}
	ready, err := client.UntilType(ctx, "session-ready")
	var d struct{ ResumeToken string }
	if err == nil {
		err = json.Unmarshal(ready.Data, &d)
	}
	if err != nil {
		client.Drop()
	}
	return client, d.ResumeToken, err
}

// killNowAndThen kills one process after the other until the context ends, and
// answers how many.
func (s *stage) killNowAndThen(ctx context.Context) int {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return n
		case <-time.After(crowdKill/2 + rand.N(crowdKill)):
		}
		p := s.portals[s.addresses()[rand.IntN(len(s.portals))]]
		p.kill()
		<-time.After(rand.N(time.Second))
		p.start()
		p.await()
	}
}

// watcher looks all the time how many places are taken.
type watcher struct {
	*stage
	most, looks int64
}

func (w *watcher) run(ctx context.Context) {
	for ; ctx.Err() == nil; <-time.After(time.Millisecond) {
		var counted, taken, without int64
		err := w.Tenants.InTx(ctx, w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return tx.QueryRow(ctx, `
				SELECT COALESCE((SELECT value FROM org_counter WHERE org_id = $1 AND name = $2), 0)::BIGINT,
					count(*) FILTER (WHERE slot), count(*) FILTER (WHERE owner IS NOT NULL AND NOT slot)
				FROM session WHERE org_id = $1 AND state IN ('created', 'live')`, tx.Org, session.Counter).Scan(&counted, &taken, &without)
		})
		if err != nil {
			continue // the end of the test
		}
		w.looks, w.most = w.looks+1, max(w.most, taken)
		if counted != taken || taken > places || without > 0 {
			w.t.Errorf("%d of %d places are taken, %d are counted; %d sessions run without one", taken, places, counted, without)
			return
		}
	}
}
