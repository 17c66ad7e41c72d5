package identity

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/api/keys"
	"visavis.dev/api/route"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/rate"
	"visavis.dev/pkg/setting"
	"visavis.dev/pkg/tenant"
)

// Me is who is calling and what they may have (spec, Other resources).
type Me struct {
	Key               keys.Key         `json:"key"`
	Organization      Organization     `json:"organization"`
	Plan              Plan             `json:"plan"`
	Limits            Limits           `json:"limits"`
	RateLimits        RateLimits       `json:"rateLimits"`
	ZeroDataRetention bool             `json:"zeroDataRetention"`
	LatestAPIVersion  contract.Version `json:"latestApiVersion"`
}

// Organization is the calling organisation.
type Organization struct {
	ID           id.Org    `json:"id"`
	Name         string    `json:"name"`
	Slug         string    `json:"slug"`
	Region       string    `json:"region"`
	Timezone     string    `json:"timezone"`
	Paused       bool      `json:"paused"`
	PausedReason *string   `json:"pausedReason"`
	CreatedAt    time.Time `json:"createdAt"`
}

// Plan is the organisation's plan.
type Plan struct {
	Key      string   `json:"key"`
	Name     string   `json:"name"`
	Status   string   `json:"status" enum:"active,paused"`
	Features []string `json:"features"`
}

// Count is how many of a thing there are and may be.
type Count struct {
	Used  int64  `json:"used"`
	Limit *int64 `json:"limit" doc:"null for no limit"`
}

// Limits are the plan's limits and what of them is in use.
type Limits struct {
	MaxConcurrentSessions *int64 `json:"maxConcurrentSessions" doc:"null for no limit"`
	ActiveSessions        int64  `json:"activeSessions"`
	MaxSessionS           *int64 `json:"maxSessionS"`
	CustomAvatars         Count  `json:"customAvatars"`
	ClonedVoices          Count  `json:"clonedVoices"`
	KnowledgeBases        Count  `json:"knowledgeBases"`
	DocumentsPerBase      *int64 `json:"documentsPerBase"`
	DocumentBytes         *int64 `json:"documentBytes"`
	Portals               Count  `json:"portals"`
	Members               Count  `json:"members"`
	Webhooks              Count  `json:"webhooks"`
}

// RateLimits are the requests a minute (spec, Limits).
type RateLimits struct {
	Read    RateLimit    `json:"read"`
	Write   RateLimit    `json:"write"`
	Live    RateLimit    `json:"live"`
	Heavy   RateLimit    `json:"heavy"`
	Search  RateLimit    `json:"search"`
	Address AddressLimit `json:"address"`
}

// RateLimit is one class's limits.
type RateLimit struct {
	PerKey          int64 `json:"perKey"`
	PerOrganization int64 `json:"perOrganization"`
	WindowS         int   `json:"windowS"`
}

// AddressLimit is the limit of one address.
type AddressLimit struct {
	PerAddress int64 `json:"perAddress"`
	WindowS    int   `json:"windowS"`
}

const (
	windowS = 60
	// activeSessions is the counter of live sessions.
	activeSessions = "activeSessions"
)

func (a *API) me(ctx context.Context, c *route.Call, _ *struct{}) (Me, error) {
	counts, set, err := a.counts(ctx, c.Org())
	if err != nil {
		return Me{}, err
	}
	org, terms := c.Principal.Org, set.Bound(c.Principal.Terms)
	me := Me{
		Key: keys.Show(c.Principal.Key, c.Now()),
		Organization: Organization{
			org.ID, org.Name, org.Slug, org.Region, org.Timezone, org.PausedAt != nil, org.PausedReason, org.CreatedAt.UTC(),
		},
		Plan:              Plan{terms.Plan.Key, terms.Plan.Name, "active", terms.Plan.Features},
		Limits:            limitsOf(terms, counts),
		RateLimits:        rateLimits(terms.Rates, a.PerAddress),
		ZeroDataRetention: set.On(setting.ZeroRetention),
		LatestAPIVersion:  contract.Latest,
	}
	if org.PausedAt != nil {
		me.Plan.Status = "paused"
	}
	return me, nil
}

// counts reads what the organisation has of each countable thing, and its settings.
func (a *API) counts(ctx context.Context, org id.Org) (counts map[string]int64, set setting.Values, err error) {
	err = a.Tenants.Read(ctx, org, func(r *tenant.Reads) {
		counts = map[string]int64{}
		r.Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var name string
				var value int64
				if err := rows.Scan(&name, &value); err != nil {
					return err
				}
				counts[name] = value
			}
			return rows.Err()
		}, `SELECT name, value FROM org_counter WHERE org_id = $1`, org)
		setting.QueueValues(r, org, setting.Place{}, &set)
	})
	return counts, set, err
}

func limitsOf(t plan.Terms, counts map[string]int64) Limits {
	count := func(l plan.Limit) Count { return Count{counts[string(l)], t.Limits[l]} }
	return Limits{
		MaxConcurrentSessions: t.Limits[plan.MaxConcurrentSessions],
		ActiveSessions:        counts[activeSessions],
		MaxSessionS:           t.Limits[plan.MaxSessionS],
		CustomAvatars:         count(plan.CustomAvatars),
		ClonedVoices:          count(plan.ClonedVoices),
		KnowledgeBases:        count(plan.KnowledgeBases),
		DocumentsPerBase:      t.Limits[plan.DocumentsPerBase],
		DocumentBytes:         t.Limits[plan.DocumentBytes],
		Portals:               count(plan.Portals),
		Members:               count(plan.Members),
		Webhooks:              count(plan.Webhooks),
	}
}

func rateLimits(r rate.Rates, perAddress int64) RateLimits {
	of := func(c rate.Class) RateLimit { return RateLimit{r[c].PerKey, r[c].PerOrganization, windowS} }
	return RateLimits{
		of(rate.Read), of(rate.Write), of(rate.Live), of(rate.Heavy), of(rate.Search),
		AddressLimit{perAddress, windowS},
	}
}
