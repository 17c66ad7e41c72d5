package live_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// newOutageStages are stages on the shards of an outage that has not begun, by shard.
func newOutageStages(t *testing.T) (*tenanttest.Outage, map[string]*stage) {
	t.Helper()
	o := tenanttest.NewOutage(t)
	two := int64(2)
	stages := map[string]*stage{}
	for _, name := range o.Names() {
		s := &stage{t: t, directory: o.Directory, tenants: o.Tenants, list: o.Shards, org: o.Orgs[name], clock: clock.RealClock{}, told: make(chan []string, 100)}
		s.terms.Limits = plan.Limits{plan.MaxConcurrentSessions: &two}
		require.NoError(t, usage.GrantMinutes(t.Context(), o.Tenants, s.org, uuid.New(), 60, s.now(), nil))
		stages[name] = s
	}
	return o, stages
}

// lease is until when a process holds its conversations on a shard, and what is left of that.
func lease(t *testing.T, o *tenanttest.Outage, shard, address string) (until time.Time, left time.Duration) {
	t.Helper()
	var now time.Time
	require.NoError(t, o.Behind(shard).QueryRow(t.Context(),
		`SELECT max(lease_until), now() FROM live_pod WHERE address = $1`, address).Scan(&until, &now))
	return until, until.Sub(now)
}

// Shards that do not answer, and a directory that does not, end no conversation of
// another shard: its lease is renewed, its orders are taken, and it is paid for.
func TestConversationsGoOnBesideShardsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	o, stages := newOutageStages(t)
	healthy := stages[tenanttest.Healthy]
	p := healthy.pod()
	clients, sessions := map[string]*client{}, map[string]id.Session{}
	for name, s := range stages {
		minted, token := s.mint(nil)
		sessions[name], clients[name] = minted.ID, s.connect(p, minted.ID, string(token))
		clients[name].send("client-ready", nil)
		clients[name].hear("Welcome.")
	}
	o.Begin()
	o.FreezeDirectory()
	c, which := clients[tenanttest.Healthy], sessions[tenanttest.Healthy]
	began, _ := lease(t, o, tenanttest.Healthy, p.address)
	renewed := began
	for said := range 5 {
		// By the database's clock it never ran out, however slow the machine.
		for before := renewed; !renewed.After(before); {
			var left time.Duration
			renewed, left = lease(t, o, tenanttest.Healthy, p.address)
			require.Positive(t, left)
		}
		words := fmt.Sprintf("Still here, %d.", said)
		healthy.order(which, session.Command{Kind: session.SayIt, Text: words, Interruptible: true})
		c.hear(words)
	}
	c.ask()

	minted, token := healthy.mint(nil)
	healthy.connect(p, minted.ID, string(token)).send("client-ready", nil)

	// Until the others' leases would have run out, and the first block is paid up.
	for renewed.Before(began.Add(session.PodLease + session.Beat)) {
		c.ask()
		renewed, _ = lease(t, o, tenanttest.Healthy, p.address)
	}
	_, left := lease(t, o, tenanttest.Healthy, p.address)
	require.Positive(t, left)
	p.Stop() // although what is frozen stays so
}

// A lease that was lost on one shard ends the conversations of that shard alone.
func TestALeaseLostOnOneShardEndsThatShardsConversations(t *testing.T) {
	t.Parallel()
	_, stages := newOutageStages(t)
	one, other := stages[tenanttest.Healthy], stages[tenanttest.Frozen] // which is well
	p := one.pod()
	defer p.Stop()
	join := func(s *stage) (id.Session, *client) {
		minted, c := s.greeted(p, nil)
		return minted.ID, c
	}
	lost, lostClient := join(one)
	kept, keptClient := join(other)
	require.NoError(t, one.tenants.InTx(t.Context(), one.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE live_pod SET lease_until = now() - INTERVAL '1 second'`)
		return err
	}))
	_, err := session.Sweep(t.Context(), one.tenants, tenanttest.Healthy, one.now())
	require.NoError(t, err)
	require.Equal(t, 1012, lostClient.closed())

	// The client comes back to the same process, which goes on there under another id.
	again := one.connect(p, lost, lostClient.resume)
	again.send("client-ready", nil)
	again.ask()
	keptClient.ask()
	require.Equal(t, 2, p.Live())
	for s, which := range map[*stage]id.Session{one: lost, other: kept} {
		s.order(which, session.Command{Kind: session.SayIt, Text: "For you.", Interruptible: true})
	}
	again.hear("For you.")
	keptClient.hear("For you.")
	require.NotEqual(t, one.session(lost).Owner, other.session(kept).Owner)
}

// While a shard does not answer its team members come and go, and once it answers again nobody stands there as present who is not:
// while they do, nobody else is called.
func TestWhoLeftDuringAnOutageIsGoneAfterIt(t *testing.T) {
	t.Parallel()
	o, stages := newOutageStages(t)
	s := stages[tenanttest.Frozen]
	p := s.pod()
	defer p.Stop()
	minted, c := s.greeted(p, nil)
	kim, _ := s.joins(p, minted, s.invite(minted.ID, session.Takeover))
	c.notice("staff_joined")
	present := func() (n int) {
		require.NoError(t, o.Behind(tenanttest.Frozen).QueryRow(t.Context(),
			`SELECT count(*) FROM session_staff WHERE session_id = $1 AND joined_at IS NOT NULL AND left_at IS NULL`, minted.ID).Scan(&n))
		return n
	}
	require.Equal(t, 1, present())
	o.Begin()
	// The conversation outlasts the outage, however slow the machine.
	_, err := o.Behind(tenanttest.Frozen).Exec(t.Context(), `UPDATE live_pod SET lease_until = now() + INTERVAL '10 minutes'`)
	require.NoError(t, err)
	kim.Leave()
	c.notice("staff_left")
	<-time.After(6 * time.Second) // longer than the leaving is tried at once
	require.Equal(t, 1, present())
	o.Thaw()
	require.Eventually(t, func() bool { return present() == 0 }, time.Minute, 100*time.Millisecond)
}
