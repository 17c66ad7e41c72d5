package overview

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/webhook"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Webhook is a webhook of some organization.
type Webhook struct {
	Owner
	ID id.Webhook `json:"id"`
	// Endpoint is the scheme and the host of its address.
	Endpoint     string     `json:"endpoint"`
	Events       []string   `json:"events"`
	Active       bool       `json:"active"`
	FailingSince *time.Time `json:"failingSince"`
	PausedAt     *time.Time `json:"pausedAt"`
	// Waiting counts the deliveries whose next attempt is still to come.
	Waiting   int64      `json:"waiting"`
	ManagedBy managed.By `json:"managedBy"`
	CreatedAt time.Time  `json:"createdAt"`
}

// Webhooks lists the webhooks of organizations, those made through the API too, at
// most limit of them; only those that fail or are paused where failing says so. The
// error may be *Missing. It rides webhook_pkey and delivery_due.
func (v *View) Webhooks(ctx context.Context, orgs []Organization, failing bool, limit int) ([]Webhook, error) {
	only := ""
	if failing {
		only = ` AND (w.failing_since IS NOT NULL OR w.paused_at IS NOT NULL)`
	}
	return onShards(ctx, v, orgs, limit, func(row pgx.CollectableRow, owners map[id.Org]Owner) (Webhook, error) {
		var (
			w   Webhook
			org id.Org
		)
		err := row.Scan(&org, &w.ID, &w.Endpoint, &w.Events, &w.Active, &w.FailingSince, &w.PausedAt, &w.ManagedBy, &w.CreatedAt, &w.Waiting)
		w.Owner, w.Endpoint = owners[org], webhook.Place(w.Endpoint)
		return w, err
	}, `
		SELECT w.org_id, w.id, w.url, w.events, w.active, w.failing_since, w.paused_at, w.managed_by, w.created_at,
			(SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL)
		FROM webhook w JOIN org_fence f ON f.org_id = w.org_id AND f.state <> 'moved'
		WHERE w.org_id = ANY($1) AND w.deleted_at IS NULL`+only+`
		ORDER BY w.org_id, w.id LIMIT $2`)
}

// Portal is a portal of some organization.
type Portal struct {
	Owner
	ID   id.Portal `json:"id"`
	Name string    `json:"name"`
	Slug string    `json:"slug"`
	// Host is one of its own, or empty.
	Host             string     `json:"host"`
	State            string     `json:"state"`
	PublishedVersion *int64     `json:"publishedVersion"`
	DraftVersion     int64      `json:"draftVersion"`
	ManagedBy        managed.By `json:"managedBy"`
	CreatedAt        time.Time  `json:"createdAt"`
}

// Portals lists the portals of organizations that are not archived, at most limit of
// them. The error may be *Missing. It rides portal_pkey.
func (v *View) Portals(ctx context.Context, orgs []Organization, limit int) ([]Portal, error) {
	return onShards(ctx, v, orgs, limit, func(row pgx.CollectableRow, owners map[id.Org]Owner) (Portal, error) {
		var (
			p   Portal
			org id.Org
		)
		err := row.Scan(&org, &p.ID, &p.Name, &p.Slug, &p.Host, &p.State, &p.PublishedVersion, &p.DraftVersion, &p.ManagedBy, &p.CreatedAt)
		p.Owner = owners[org]
		return p, err
	}, `
		SELECT p.org_id, p.id, p.name, p.slug, p.host, p.state, p.published_version, p.draft_version, p.managed_by, p.created_at
		FROM portal p JOIN org_fence f ON f.org_id = p.org_id AND f.state <> 'moved'
		WHERE p.org_id = ANY($1) AND p.archived_at IS NULL ORDER BY p.org_id, p.id LIMIT $2`)
}

// Limit is one limit of an organization.
type Limit struct {
	Name string `json:"name"`
	// Value is what holds; nil for no limit.
	Value *int64 `json:"value"`
	// Plan is what the plan has; nil for no limit.
	Plan *int64 `json:"plan"`
	// Own says that the organization has one of its own.
	Own bool `json:"own"`
	// Used is how much of it is in use; nil where nothing counts it.
	Used *int64 `json:"used"`
}

// Limits lists an organization's limits by name.
func (v *View) Limits(ctx context.Context, o Organization) ([]Limit, error) {
	db, err := v.Tenants.Shard(ctx, o.Shard)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `SELECT name, value FROM org_counter WHERE org_id = $1`, o.ID)
	if err != nil {
		return nil, err
	}
	used := map[string]int64{}
	var (
		name  string
		value int64
	)
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		used[name] = value
		return nil
	}); err != nil {
		return nil, err
	}
	terms := v.Catalogue.Terms(o.Plan, o.Overrides)
	limits := []Limit{}
	for _, name := range slices.Sorted(maps.Keys(terms.Limits)) {
		l := Limit{Name: string(name), Value: terms.Limits[name], Plan: terms.Plan.Limits[name]}
		_, l.Own = o.Overrides.Limits[name]
		if n, counted := used[string(name)]; counted {
			l.Used = &n
		}
		limits = append(limits, l)
	}
	return append(limits, rates(terms, o)...), nil
}

// rates are the rate limits, each class per key and per organization.
func rates(t plan.Terms, o Organization) []Limit {
	limits := []Limit{}
	for _, class := range slices.Sorted(maps.Keys(t.Rates)) {
		_, own := o.Overrides.Rates[class]
		r, of := t.Rates[class], t.Plan.Rates[class]
		limits = append(limits,
			Limit{Name: string(class) + " requests/min per key", Value: &r.PerKey, Plan: &of.PerKey, Own: own},
			Limit{Name: string(class) + " requests/min", Value: &r.PerOrganization, Plan: &of.PerOrganization, Own: own})
	}
	return limits
}
