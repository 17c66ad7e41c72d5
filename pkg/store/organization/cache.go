package organization

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
)

// Cache remembers organizations, and what they may have, as briefly as keys are
// remembered, so that a pause ends live sessions soon.
type Cache struct {
	known *readthrough.Cache[id.Org, entitled]
}

// entitled is an organization with what it may have.
type entitled struct {
	organization directory.Organization
	terms        plan.Terms
}

// NewCache makes a cache of the directory's organizations.
func NewCache(d *directory.Directory, plans *plan.Catalogue, c clock.PassiveClock) *Cache {
	return &Cache{readthrough.New(readthrough.Options[id.Org, entitled]{
		Size: 50_000, Fresh: time.Second, Stale: 5 * time.Minute, Outage: database.Unavailable, Name: id.Org.String, Clock: c,
		Load: func(ctx context.Context, org id.Org) (entitled, error) {
			o, err := d.Organization(ctx, org)
			return entitled{o, plans.Terms(o.Plan, o.Overrides)}, err
		},
	})}
}

// Get finds an organization and what it may have.
func (c *Cache) Get(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error) {
	found, err := c.known.Get(ctx, org)
	return found.organization, found.terms, err
}

// Terms are what an organization may have.
func (c *Cache) Terms(ctx context.Context, org id.Org) (plan.Terms, error) {
	_, terms, err := c.Get(ctx, org)
	return terms, err
}
