package published

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Options shape a Store.
type Options struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Clock     clock.PassiveClock
	// Size is the largest number of sites kept; zero means 2,000.
	Size int
}

const (
	// checked is how long a site is shown without asking whether it still holds.
	// A check is one small read, and two seconds is what a publish may take.
	checked = time.Second
	// routed can be generous: the portal's row says whether it carries the name.
	routed = 30 * time.Second
	// absent is how long a name that nobody has is taken for that. A portal that
	// is published under it must be seen soon.
	absent = time.Second
	// stale is how long visitors see what was last known while a database is away.
	stale = 24 * time.Hour
)

// Store finds sites. It is safe for concurrent use.
type Store struct {
	o         Options
	addresses *readthrough.Cache[directory.Address, place]
	sites     *readthrough.Cache[place, *Site]
	// missing are names that nobody had when they were last asked for: a flood of
	// made-up ones costs memory for so many and no more.
	missing lru.Cache[directory.Address, time.Time]
}

// place is where a portal lives.
type place struct {
	org    id.Org
	portal id.Portal
}

// NewStore makes a store.
func NewStore(o Options) *Store {
	if o.Size == 0 {
		o.Size = 2000
	}
	s := &Store{o: o}
	s.missing, _ = lru.New[directory.Address, time.Time](4 * o.Size) // fails on sizes below one alone
	s.addresses = readthrough.New(readthrough.Options[directory.Address, place]{
		Size: 4 * o.Size, Fresh: routed, Stale: stale, Outage: tenant.Unavailable, Clock: o.Clock,
		Name: directory.Address.String,
		Load: func(ctx context.Context, a directory.Address) (place, error) {
			c, err := o.Directory.Claimed(ctx, a)
			return place{c.Org, c.Portal}, err
		},
	})
	s.sites = readthrough.New(readthrough.Options[place, *Site]{
		Size: o.Size, Fresh: checked, Stale: stale, Outage: tenant.Unavailable, Clock: o.Clock,
		Name: func(p place) string { return p.portal.String() },
		Load: s.load,
	})
	return s
}

// Site finds what is published at an address. The error is ErrNone or ErrGone
// where nothing is.
func (s *Store) Site(ctx context.Context, a directory.Address) (*Site, error) {
	if since, ok := s.missing.Get(a); ok && s.o.Clock.Since(since) < absent {
		return nil, ErrNone
	}
	site, err := s.find(ctx, a)
	if errors.Is(err, directory.ErrUnknown) {
		err = ErrNone
	}
	if errors.Is(err, ErrNone) {
		s.missing.Add(a, s.o.Clock.Now())
	}
	return site, err
}

func (s *Store) find(ctx context.Context, a directory.Address) (*Site, error) {
	for range 2 {
		at, err := s.addresses.Get(ctx, a)
		if err != nil {
			return nil, err
		}
		site, err := s.sites.Get(ctx, at)
		switch {
		case err == nil && carries(site, a):
			return site, nil
		case err != nil && !errors.Is(err, ErrNone):
			return nil, err
		}
		// Somebody else may have the name by now.
		s.addresses.Forget(a)
	}
	return nil, ErrNone
}

// carries says whether a site has the name it was found by, or had the slug.
func carries(site *Site, a directory.Address) bool {
	if a.Kind == directory.Host {
		return site.Host == a.Name
	}
	return site.Slug == a.Name || slices.Contains(site.FormerSlugs, a.Name)
}

// load answers the site that is known where it still holds: the whole of it is
// read after a change alone.
func (s *Store) load(ctx context.Context, p place) (*Site, error) {
	known, ok := s.sites.Peek(p)
	if !ok {
		return read(ctx, s.o.Tenants, p.org, p.portal)
	}
	now, err := readStanding(ctx, s.o.Tenants, p.org, p.portal)
	if err == nil {
		err = now.refusal()
	}
	if err != nil {
		return nil, err
	}
	if now.Stamp == known.Stamp && now.Slug == known.Slug && now.Host == known.Host {
		return known, nil
	}
	return read(ctx, s.o.Tenants, p.org, p.portal)
}
