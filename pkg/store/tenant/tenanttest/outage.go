package tenanttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

// The shards of an Outage.
const (
	Healthy = "healthy"
	Frozen  = "frozen"
	Dead    = "dead"
	Slow    = "slow"
)

// SlowBy is how much longer the slow shard takes to answer.
const SlowBy = 2 * time.Second

// Outage is four shards with an organization each. All of them work until it begins;
// then one is frozen, one is gone, one is slow, the directory may be frozen, and the
// work for the healthy one must go on.
type Outage struct {
	Tenants   *tenant.Tenants
	Directory *directory.Directory
	// DirectoryURL is the directory's database, which freezes with it.
	DirectoryURL string
	// Orgs are the organizations, by their shard.
	Orgs map[string]id.Org

	shards    map[string]*databasetest.Front
	behind    map[string]*database.DB
	directory *databasetest.Front
}

// NewOutage makes an outage that has not begun.
func NewOutage(t *testing.T) *Outage {
	t.Helper()
	ctx := context.Background()
	o := &Outage{Orgs: map[string]id.Org{}, shards: map[string]*databasetest.Front{}, behind: map[string]*database.DB{}}
	o.directory = databasetest.NewFront(t, databasetest.URL(t, database.Directory))
	o.DirectoryURL = o.directory.URL
	db, err := database.Open(o.DirectoryURL, database.PoolOptions{MaxConns: 4})
	require.NoError(t, err)
	o.Directory = directory.New(db, directory.Options{Clock: clock.RealClock{}})
	o.Tenants = tenant.New(o.Directory, database.PoolOptions{MaxConns: 4})
	for _, name := range o.Names() {
		url := databasetest.URL(t, database.Shard)
		o.shards[name] = databasetest.NewFront(t, url)
		o.behind[name], err = database.Open(url, database.PoolOptions{MaxConns: 2})
		require.NoError(t, err)
		require.NoError(t, o.Directory.AddShard(ctx, name, o.shards[name].URL))
		o.Orgs[name] = id.NewOrg()
		require.NoError(t, organization.Create(ctx, o.Directory, o.Tenants,
			directory.Organization{ID: o.Orgs[name], Slug: o.Orgs[name].Bare(), Shard: name, Epoch: 1, CreatedAt: Now}))
		_, err = o.Tenants.ShardOf(ctx, o.Orgs[name]) // what a process knows goes on to be known
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		o.directory.Die() // nothing waits for what is frozen
		for _, f := range o.shards {
			f.Die()
		}
		o.Tenants.Close()
		db.Close()
		for _, b := range o.behind {
			b.Close()
		}
	})
	return o
}

// Names are the shards, the healthy one last: whoever asks one after the other never
// gets there.
func (*Outage) Names() []string { return []string{Dead, Frozen, Slow, Healthy} }

// Shards lists the shards by the directory, as processes do.
func (o *Outage) Shards(ctx context.Context) ([]string, error) {
	entries, err := o.Directory.Shards(ctx)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	// Theirs is the alphabet's order.
	slices.SortFunc(names, func(a, b string) int { return slices.Index(o.Names(), a) - slices.Index(o.Names(), b) })
	return names, err
}

// Behind is a shard's database by another way, on which nothing is the matter.
func (o *Outage) Behind(shard string) *database.DB { return o.behind[shard] }

// Begin makes the shards misbehave.
func (o *Outage) Begin() {
	o.shards[Frozen].Freeze()
	o.shards[Dead].Die()
	o.shards[Slow].Slow(SlowBy)
}

// FreezeDirectory makes the directory answer nothing.
func (o *Outage) FreezeDirectory() { o.directory.Freeze() }

// Thaw makes the frozen shard go on.
func (o *Outage) Thaw() { o.shards[Frozen].Thaw() }

// Beside does something again and again until it was done some times on end while nobody
// gave the frozen shard up. What takes turns with that shard never gets there, however
// fast the machine: each of its turns ends by giving the shard up.
func (o *Outage) Beside(t *testing.T, do func()) {
	t.Helper()
	const (
		onEnd  = 5 // more than the connections that a process has to a shard already
		atMost = 50
	)
	dials, undisturbed := o.shards[Frozen].Dials(), 0
	for range atMost {
		do()
		if now := o.shards[Frozen].Dials(); now != dials {
			dials, undisturbed = now, 0
			continue
		}
		if undisturbed++; undisturbed == onEnd {
			return
		}
	}
	require.FailNow(t, "it takes turns with the shard that does not answer")
}
