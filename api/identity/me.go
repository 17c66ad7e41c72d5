package identity

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/api/keys"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Me is who is calling and what they may have (spec, Other resources).
type Me struct {
	Key               keys.Key         `json:"key" doc:"The key that the request was made with."`
	Organization      Organization     `json:"organization" doc:"The organization that the key belongs to."`
	Plan              Plan             `json:"plan" doc:"What the organization pays for."`
	Limits            Limits           `json:"limits" doc:"The plan's limits and what of them is in use."`
	RateLimits        RateLimits       `json:"rateLimits" doc:"How many requests each class allows."`
	ZeroDataRetention bool             `json:"zeroDataRetention" doc:"Whether the organization keeps no words of conversations."`
	LatestAPIVersion  contract.Version `json:"latestApiVersion" doc:"The newest contract; a key of an older one may ask for it with Service-Version."`
}

// Organization is the calling organization.
type Organization struct {
	ID           id.Org    `json:"id" doc:"Id of the organization, with the prefix org_."`
	Name         string    `json:"name" doc:"What the organization is called, for people."`
	Slug         string    `json:"slug" doc:"Its name in addresses."`
	Region       string    `json:"region" doc:"Where its data is kept."`
	Timezone     string    `json:"timezone" doc:"The time zone that its days are counted in, as the IANA names it: Europe/Berlin."`
	Paused       bool      `json:"paused" doc:"Whether its account is paused: then no session starts."`
	PausedReason *string   `json:"pausedReason" doc:"Why it is paused; null while it is not."`
	CreatedAt    time.Time `json:"createdAt" doc:"When the organization was made, in UTC."`
}

// Plan is the organization's plan.
type Plan struct {
	Key      string   `json:"key" doc:"The plan's name in requests and refusals."`
	Name     string   `json:"name" doc:"The plan's name for people."`
	Status   string   `json:"status" enum:"active,paused" doc:"active, or paused: then no session starts."`
	Features []string `json:"features" doc:"What the plan includes, by key."`
}

// Count is how many of a thing there are and may be.
type Count struct {
	Used  int64  `json:"used" doc:"How many there are now."`
	Limit *int64 `json:"limit" doc:"null for no limit"`
}

// Limits are the plan's limits and what of them is in use.
type Limits struct {
	MaxConcurrentSessions *int64 `json:"maxConcurrentSessions" doc:"null for no limit. Anonymous visitors of widgets and portals hold all but a fifth at most, so that keys find a place."`
	ActiveSessions        int64  `json:"activeSessions" doc:"How many sessions are live or about to be."`
	MaxSessionS           *int64 `json:"maxSessionS" doc:"How long a session may last, in seconds; null for no limit of the plan's."`
	CustomAvatars         Count  `json:"customAvatars" doc:"Faces of your own that are there and that the plan has room for."`
	ClonedVoices          Count  `json:"clonedVoices" doc:"Cloned voices that are there and that the plan has room for."`
	KnowledgeBases        Count  `json:"knowledgeBases" doc:"Knowledge packs that are there and that the plan has room for."`
	DocumentsPerBase      *int64 `json:"documentsPerBase" doc:"How many documents a knowledge pack may hold; null for no limit of the plan's."`
	BytesPerBase          *int64 `json:"bytesPerBase" doc:"How large the originals of a knowledge pack's documents may be together, in bytes; null for no limit of the plan's."`
	DocumentBytes         *int64 `json:"documentBytes" doc:"How large one document may be, in bytes; null for no limit of the plan's."`
	Portals               Count  `json:"portals" doc:"Portals that are there and that the plan has room for."`
	Members               Count  `json:"members" doc:"People in portals that are there and that the plan has room for."`
	Webhooks              Count  `json:"webhooks" doc:"Webhooks that are there and that the plan has room for."`
}

// RateLimits are the requests a minute (spec, Limits).
type RateLimits struct {
	Read    RateLimit    `json:"read" doc:"For lists and single records."`
	Write   RateLimit    `json:"write" doc:"For making, changing and deleting."`
	Live    RateLimit    `json:"live" doc:"For starting a live session."`
	Heavy   RateLimit    `json:"heavy" doc:"For cloning a voice, planning or filling a portal, and exports."`
	Search  RateLimit    `json:"search" doc:"For searching knowledge and reading the event log."`
	Address AddressLimit `json:"address" doc:"For every request, by the address that it comes from."`
}

// RateLimit is one class's limits.
type RateLimit struct {
	PerKey          int64 `json:"perKey" doc:"Requests that one key may make in a window."`
	PerOrganization int64 `json:"perOrganization" doc:"Requests that all keys of the organization may make together in a window."`
	WindowS         int   `json:"windowS" doc:"The length of the window in seconds."`
}

// AddressLimit is the limit of one address.
type AddressLimit struct {
	PerAddress int64 `json:"perAddress" doc:"Requests that one network address may make in a window, whatever its keys."`
	WindowS    int   `json:"windowS" doc:"The length of the window in seconds."`
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

// counts reads what the organization has of each countable thing, and its settings.
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
		BytesPerBase:          t.Limits[plan.BytesPerBase],
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
