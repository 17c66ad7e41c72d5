package portal_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

const host = "learn.example.com"

// zone is a DNS with records under one name.
type zone struct {
	mu      sync.Mutex
	records []string
	away    bool
}

func (z *zone) LookupTXT(_ context.Context, name string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	switch {
	case z.away:
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	case len(z.records) == 0:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return z.records, nil
}

func (z *zone) set(records ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.records = records
}

// proofs is two organizations and the DNS.
type proofs struct {
	*portal.Addresses
	t        *testing.T
	clock    *clocktest.FakeClock
	dns      *zone
	one, two id.Org
}

func newProofs(t *testing.T) *proofs {
	t.Helper()
	tenants, found, one, two := tenanttest.NewDirected(t)
	p := &proofs{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), dns: &zone{}, one: one, two: two}
	p.Addresses = &portal.Addresses{
		Directory: found, Tenants: tenants, Clock: p.clock, Proof: &portal.Prover{Secret: []byte("the deployment's"), Resolver: p.dns},
	}
	return p
}

// portal makes one that wants the host.
func (p *proofs) portal(org id.Org) id.Portal {
	p.t.Helper()
	return portaltest.Portal(p.t, p.Tenants, org, id.NewPersona(), func(made *portal.Portal) { made.Host = host }).ID
}

func (p *proofs) get(org id.Org, which id.Portal) portal.Portal {
	p.t.Helper()
	found, err := portal.Get(p.t.Context(), p.Tenants, org, which)
	require.NoError(p.t, err)
	return found
}

// record is what proves the host of a portal now.
func (p *proofs) record(org id.Org, which id.Portal) string {
	return p.Proof.Record(org, which, host, p.get(org, which).HostRound).Value
}

func (p *proofs) prove(org id.Org, which id.Portal) {
	p.t.Helper()
	require.NoError(p.t, p.Prove(p.t.Context(), org, p.get(org, which)))
}

// has says whether a portal has the host: on its shard, and in the directory.
func (p *proofs) has(org id.Org, which id.Portal) (proven, found bool) {
	p.t.Helper()
	c, err := p.Directory.Claimed(p.t.Context(), directory.Address{Kind: directory.Host, Name: host})
	require.NoError(p.t, err)
	return p.get(org, which).HostProvenAt != nil, c.Org == org && c.Portal == which
}

func (p *proofs) keeps(org id.Org, which id.Portal) {
	p.t.Helper()
	proven, found := p.has(org, which)
	require.Equal(p.t, []bool{true, true}, []bool{proven, found})
	require.Zero(p.t, p.told(org, which))
}

// told is how often it was told of a portal that it lost a host: in the activity log and
// by an event.
func (p *proofs) told(org id.Org, which id.Portal) (entries int) {
	p.t.Helper()
	entries = p.entries(org, which, "portal.host_lost")
	require.Len(p.t, eventtest.Log(p.t, p.Tenants, org, event.PortalUpdated), entries)
	return entries
}

// entries is how many entries of an action the activity log has of a portal.
func (p *proofs) entries(org id.Org, which id.Portal, action string) (n int) {
	p.t.Helper()
	require.NoError(p.t, p.Tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM activity WHERE org_id = $1 AND target_id = $2 AND action = $3`, org, which.String(), action).Scan(&n)
	}))
	return n
}

// lost says that a portal lost the host, and that it was told so once.
func (p *proofs) lost(org id.Org, which id.Portal, why string) {
	p.t.Helper()
	now := p.get(org, which)
	require.Nil(p.t, now.HostProvenAt)
	require.Equal(p.t, why, now.HostLost)
	require.Equal(p.t, 1, p.told(org, which))
}

// days lets so many go by, with a look at the end of each and two in between.
func (p *proofs) days(n int) {
	p.t.Helper()
	for range n {
		for range 3 {
			p.clock.Step(8*time.Hour + time.Minute)
			_, err := p.Recheck(p.t.Context(), "a")
			require.NoError(p.t, err)
		}
	}
}

// A host whose proof is gone for a week is lost, and the old record brings it back no more.
func TestAProofThatIsGoneLapses(t *testing.T) {
	p := newProofs(t)
	school := p.portal(p.one)
	p.dns.set(p.record(p.one, school))
	p.prove(p.one, school)
	p.days(30)
	p.keeps(p.one, school)

	old := p.record(p.one, school)
	p.dns.set("v=spf1 -all")
	p.days(5)
	require.NotNil(t, p.get(p.one, school).HostMissedAt, "so the check before going live warns")
	require.Equal(t, 1, p.entries(p.one, school, "portal.host_proof_missing"))
	p.dns.set(old)
	p.days(1)
	p.keeps(p.one, school)
	require.Nil(t, p.get(p.one, school).HostMissedAt)
	p.dns.set()
	p.days(6)
	p.keeps(p.one, school)
	p.days(2)
	p.lost(p.one, school, portal.Lapsed)

	p.dns.set(old)
	p.days(2)
	p.prove(p.one, school)
	p.lost(p.one, school, portal.Lapsed)
	p.dns.set(p.record(p.one, school))
	p.prove(p.one, school)
	proven, found := p.has(p.one, school)
	require.True(t, proven && found)
	require.Empty(t, p.get(p.one, school).HostLost)
}

// While the DNS does not answer nobody loses a host, also not with what was missed before.
func TestAnOutageOfTheDNSClosesNothing(t *testing.T) {
	p := newProofs(t)
	school := p.portal(p.one)
	p.dns.set(p.record(p.one, school))
	p.prove(p.one, school)
	record := p.record(p.one, school)
	p.dns.set()
	p.days(5)
	p.dns.away = true
	p.days(60)
	p.keeps(p.one, school)
	// It flaps.
	p.dns.away = false
	for range 10 {
		p.dns.set(record)
		p.days(1)
		p.dns.set()
		p.days(3)
	}
	p.keeps(p.one, school)
	// Processes that were all away for a month found nothing missing meanwhile.
	p.dns.set()
	p.clock.Step(30 * 24 * time.Hour)
	p.days(2)
	p.keeps(p.one, school)
}

// The newest proof has the host at once, and the older one's record, which may still be
// there, does not take it back.
func TestTheNewestProofHasTheHost(t *testing.T) {
	p := newProofs(t)
	agency, owner := p.portal(p.one), p.portal(p.two)
	left := p.record(p.one, agency)
	p.dns.set(left)
	p.prove(p.one, agency)
	p.prove(p.two, owner)
	p.keeps(p.one, agency)

	p.dns.set(left, p.record(p.two, owner))
	p.prove(p.two, owner)
	p.keeps(p.two, owner)
	p.lost(p.one, agency, portal.Overtaken)
	for range 3 {
		p.prove(p.one, agency)
		p.days(1)
	}
	p.keeps(p.two, owner)
	p.lost(p.one, agency, portal.Overtaken)

	p.dns.set(p.record(p.one, agency))
	p.prove(p.one, agency)
	proven, found := p.has(p.one, agency)
	require.True(t, proven && found)
	p.lost(p.two, owner, portal.Overtaken)
}

// Of those that prove it at the same time one has it, as the directory says too.
func TestProofsAtTheSameTime(t *testing.T) {
	p := newProofs(t)
	orgs, portals, records := []id.Org{p.one, p.two, p.one, p.two}, make([]id.Portal, 4), make([]string, 4)
	for i, org := range orgs {
		portals[i] = p.portal(org)
		records[i] = p.record(org, portals[i])
	}
	p.dns.set(records...)
	var group sync.WaitGroup
	for i, org := range orgs {
		wanted := p.get(org, portals[i])
		group.Go(func() { _ = p.Prove(context.Background(), org, wanted) }) // ErrTaken of those that came too late
	}
	group.Wait()
	p.days(2)
	winners := 0
	for i, org := range orgs {
		proven, found := p.has(org, portals[i])
		require.Equal(t, found, proven, "%d", i)
		if proven {
			winners++
		}
	}
	require.Equal(t, 1, winners)
}

// A process that ends while a host goes from one to another leaves it to neither for long.
func TestAProofThatBrokeOff(t *testing.T) {
	address := directory.Address{Kind: directory.Host, Name: host}
	takeOver := func(p *proofs, org id.Org, to id.Portal) {
		p.clock.Step(time.Second)
		was, err := p.Directory.Claimed(t.Context(), address)
		require.NoError(t, err)
		done, err := p.Directory.TakeOver(t.Context(), address, was, directory.Claim{Org: org, Portal: to, At: p.clock.Now().UTC()})
		require.NoError(t, err)
		require.True(t, done)
	}
	t.Run("before it was written", func(t *testing.T) {
		p := newProofs(t)
		agency, owner := p.portal(p.one), p.portal(p.two)
		p.dns.set(p.record(p.one, agency))
		p.prove(p.one, agency)
		p.clock.Step(25 * time.Hour)
		takeOver(p, p.two, owner)
		_, err := p.Recheck(t.Context(), "a")
		require.NoError(t, err)
		_, found := p.has(p.one, agency)
		require.False(t, found, "the request may be under way")
		p.clock.Step(11 * time.Minute)
		_, err = p.Recheck(t.Context(), "a")
		require.NoError(t, err)
		p.keeps(p.one, agency)
	})
	t.Run("before the one who lost it was told", func(t *testing.T) {
		p := newProofs(t)
		agency, owner := p.portal(p.one), p.portal(p.two)
		p.dns.set(p.record(p.one, agency))
		p.prove(p.one, agency)
		takeOver(p, p.two, owner)
		p.dns.set(p.record(p.one, agency), p.record(p.two, owner))
		p.prove(p.two, owner)
		p.days(1)
		p.keeps(p.two, owner)
		p.lost(p.one, agency, portal.Overtaken)
	})
}

// While the directory is away a host stays whose it is, and nothing is counted.
func TestTheDirectoryIsAway(t *testing.T) {
	p := newProofs(t)
	school := p.portal(p.one)
	p.dns.set(p.record(p.one, school))
	p.prove(p.one, school)
	there := p.Directory
	db := databasetest.Open(t, database.Directory)
	p.Directory = directory.New(db, directory.Options{Clock: p.clock})
	db.Close()
	p.dns.set()
	for range 20 {
		p.clock.Step(25 * time.Hour)
		_, err := p.Recheck(t.Context(), "a")
		require.Error(t, err)
	}
	p.Directory = there
	p.keeps(p.one, school)
	require.Nil(t, p.get(p.one, school).HostMissedAt)
}
