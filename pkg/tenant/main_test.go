package tenant_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/database/databasetest"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/organization"
	"visavis.dev/pkg/tenant"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test takes place.
var now = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

// world is a directory with the shards a and b.
type world struct {
	directory *directory.Directory
	*tenant.Tenants
	a, b *database.DB
	orgs atomic.Int32
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{directory: directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: clock.NewFakeClock(now)})}
	w.Tenants = tenant.New(w.directory, database.PoolOptions{})
	for name, db := range map[string]**database.DB{"a": &w.a, "b": &w.b} {
		require.NoError(t, w.directory.AddShard(ctx, name, databasetest.URL(t, database.Shard)))
		var err error
		*db, err = w.Shard(ctx, name)
		require.NoError(t, err)
	}
	t.Cleanup(w.Close)
	return w
}

// organization makes an organisation on shard a at epoch 1.
func (w *world) organization(t *testing.T) id.Org {
	t.Helper()
	org := id.New[interface{ Prefix() string }]
	_ = org
	return id.Org{}
}
