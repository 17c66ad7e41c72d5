// Package directory reads and writes the directory database: the shards, the
// organizations, and on which shard each organization lives since which epoch.
// Keys are package apikey's, although their rows stand here too.
package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/store/database"
)

// Directory is the directory database.
type Directory struct {
	DB      *database.DB
	clock   clock.PassiveClock
	routes  *readthrough.Cache[id.Org, Route]
	portals *readthrough.Cache[Address, Claim]
	urls    *readthrough.Cache[string, string]
	endings *readthrough.Cache[string, []id.Org]
}

// Route says where an organization lives, as of an epoch that grows with each move.
type Route struct {
	Shard string
	Epoch int64
}

// Options shape a Directory.
type Options struct {
	// CachedRoutes is the largest number of routes kept; zero means 100,000.
	CachedRoutes int
	Clock        clock.PassiveClock
}

const (
	// routeFresh can be generous: the fence catches a route that went stale.
	routeFresh = 30 * time.Second
	// urlFresh bounds how long a new connection goes by a password that was changed.
	urlFresh = 5 * time.Second
	// routeStale: pods go on answering from the last known route while the
	// directory is away.
	routeStale = 24 * time.Hour
)

// maxURLs bounds the shards whose URLs are remembered.
const maxURLs = 10_000

// ErrUnknown says that the directory has no such organization or shard.
var ErrUnknown = errors.New("not in the directory")

// New reads routes through a cache of its own.
func New(db *database.DB, o Options) *Directory {
	if o.CachedRoutes == 0 {
		o.CachedRoutes = 100_000
	}
	d := &Directory{DB: db, clock: o.Clock}
	d.routes = readthrough.New(readthrough.Options[id.Org, Route]{
		Size: o.CachedRoutes, Fresh: routeFresh, Stale: routeStale, Outage: database.Unavailable,
		Load: d.loadRoute, Name: id.Org.String, Clock: o.Clock,
	})
	d.portals = readthrough.New(readthrough.Options[Address, Claim]{
		Size: o.CachedRoutes, Fresh: routeFresh, Stale: routeStale, Outage: database.Unavailable,
		Load: d.Claimed, Name: Address.String, Clock: o.Clock,
	})
	d.endings = readthrough.New(readthrough.Options[string, []id.Org]{
		Size: o.CachedRoutes, Fresh: routeFresh, Stale: routeStale, Outage: database.Unavailable,
		Load: d.loadEnding, Name: func(tail string) string { return tail }, Clock: o.Clock,
	})
	d.urls = readthrough.New(readthrough.Options[string, string]{
		Size: maxURLs, Fresh: urlFresh, Stale: routeStale, Outage: database.Unavailable,
		Load: d.loadURL, Name: func(shard string) string { return shard }, Clock: o.Clock,
	})
	return d
}

// Route is where the organization lives as far as this process knows.
func (d *Directory) Route(ctx context.Context, org id.Org) (Route, error) {
	return d.routes.Get(ctx, org)
}

// Learn notes a route that a shard reported.
func (d *Directory) Learn(org id.Org, r Route) { d.routes.Put(org, r) }

// Forget makes the next Route ask the directory.
func (d *Directory) Forget(org id.Org) { d.routes.Forget(org) }

func (d *Directory) loadRoute(ctx context.Context, org id.Org) (Route, error) {
	var r Route
	err := d.DB.QueryRow(ctx, `
		SELECT shard, epoch FROM organization WHERE id = $1`, org).Scan(&r.Shard, &r.Epoch)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, fmt.Errorf("organization %s: %w", org, ErrUnknown)
	}
	return r, err
}

// Secret is a random secret of the deployment that every pod shares. It is
// made by whoever asks first.
func (d *Directory) Secret(ctx context.Context, name string, fresh func() []byte) ([]byte, error) {
	if _, err := d.DB.Exec(ctx, `
		INSERT INTO deployment_secret (name, value, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO NOTHING`, name, fresh(), d.clock.Now()); err != nil {
		return nil, err
	}
	var value []byte
	err := d.DB.QueryRow(ctx, `SELECT value FROM deployment_secret WHERE name = $1`, name).Scan(&value)
	return value, err
}
