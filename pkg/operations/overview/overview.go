// Package overview is what those who run the platform see of it: every shard, every
// organization, and what is theirs, however it was made. It tells where endpoints are
// but not their addresses, which may hold tokens, and nothing that anybody said.
package overview

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
)

// View reads all of it.
type View struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Catalogue *plan.Catalogue
}

// Shard is a shard with its load.
type Shard struct {
	Name string `json:"name"`
	// Tier is Shared, or Dedicated for one that takes only organizations that name it.
	Tier string `json:"tier"`
	// Database is the host and the name, without user and password.
	Database      string `json:"database"`
	Organizations int64  `json:"organizations"`
	// SchemaVersion is the database's, SchemaWanted the one of this program.
	SchemaVersion int64 `json:"schemaVersion"`
	SchemaWanted  int64 `json:"schemaWanted"`
	// BacklogAgeS is how long the oldest due delivery or job has waited, in seconds.
	BacklogAgeS  float64 `json:"backlogAgeS"`
	LiveSessions int64   `json:"liveSessions"`
	// Problem says why the figures are missing; empty otherwise.
	Problem   string     `json:"problem,omitempty"`
	ManagedBy managed.By `json:"managedBy"`
	CreatedAt time.Time  `json:"createdAt"`
}

// Shards lists the shards by name. One whose database does not answer is listed with
// its problem.
func (v *View) Shards(ctx context.Context) ([]Shard, error) {
	rows, err := v.Directory.DB.Query(ctx, `
		SELECT s.name, s.tier, s.url, s.managed_by, s.created_at, (SELECT count(*) FROM organization o WHERE o.shard = s.name)
		FROM shard s ORDER BY s.name`)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Shard, error) {
		var s Shard
		err := row.Scan(&s.Name, &s.Tier, &s.Database, &s.ManagedBy, &s.CreatedAt, &s.Organizations)
		s.Database = place(s.Database)
		return s, err
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(found))
	byName := map[string]*Shard{}
	for i := range found {
		names[i], byName[found[i].Name] = found[i].Name, &found[i]
	}
	answers := pershard.Gather(ctx, names, answerWithin, func(ctx context.Context, shard string) (none struct{}, err error) {
		return none, v.load(ctx, byName[shard])
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, a := range answers {
		if a.Err != nil {
			byName[a.Shard].Problem = "its database does not answer"
		}
	}
	return found, nil
}

// answerWithin is how long a shard has to answer. All are asked at once, so that is how
// long an answer takes at most.
const answerWithin = 5 * time.Second

// load reads a shard's figures from its database.
func (v *View) load(ctx context.Context, s *Shard) error {
	db, err := v.Tenants.Shard(ctx, s.Name)
	if err != nil {
		return err
	}
	if s.SchemaVersion, s.SchemaWanted, err = db.Version(ctx, database.Shard); err != nil {
		return err
	}
	return db.QueryRow(ctx, `
		SELECT GREATEST(0, EXTRACT(EPOCH FROM now() - LEAST(
				(SELECT min(d.due_at) FROM delivery d JOIN org_fence f ON f.org_id = d.org_id AND f.state <> 'moved' WHERE d.due_at IS NOT NULL),
				(SELECT min(j.due_at) FROM job j JOIN org_fence f ON f.org_id = j.org_id AND f.state <> 'moved' WHERE j.due_at IS NOT NULL), now()
			)))::FLOAT8,
			(SELECT count(*) FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state <> 'moved' WHERE s.owner IS NOT NULL)`).Scan(&s.BacklogAgeS, &s.LiveSessions)
}

// place is a database's host and name.
func place(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "?"
	}
	return u.Host + u.Path
}

// Organization is an organization with who manages it.
type Organization struct {
	directory.Organization
	ManagedBy managed.By `json:"managedBy"`
}

// Organizations lists all organizations, oldest first.
func (v *View) Organizations(ctx context.Context) ([]Organization, error) {
	rows, err := v.Directory.DB.Query(ctx, `
		SELECT `+directory.OrganizationColumns+`, o.managed_by FROM organization o ORDER BY o.created_at, o.id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanOrganization)
}

func scanOrganization(row pgx.CollectableRow) (Organization, error) {
	var o Organization
	err := row.Scan(append(o.Fields(), &o.ManagedBy)...)
	return o, err
}

// Organization finds an organization by its id or its slug. The error is
// directory.ErrUnknown.
func (v *View) Organization(ctx context.Context, name string) (Organization, error) {
	which, err := id.ParseOrg(name)
	if err != nil {
		which = id.Org{}
	}
	rows, err := v.Directory.DB.Query(ctx, `
		SELECT `+directory.OrganizationColumns+`, o.managed_by FROM organization o WHERE o.id = $1 OR o.slug = $2`, which, name)
	if err != nil {
		return Organization{}, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, scanOrganization)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("organization %q: %w", name, directory.ErrUnknown)
	}
	return o, err
}

// Owner names an organization's row.
type Owner struct {
	Shard        string `json:"shard"`
	Organization id.Org `json:"organizationId"`
	Slug         string `json:"organization"`
}

// Missing says which shards did not answer. What came with it is whole but for theirs.
type Missing struct{ errs []error }

func (m *Missing) Error() string { return errors.Join(m.errs...).Error() }

// Unwrap implements errors.Is.
func (m *Missing) Unwrap() []error { return m.errs }

// Add notes why a shard did not answer.
func (m *Missing) Add(shard string, why error) {
	m.errs = append(m.errs, fmt.Errorf("shard %s did not answer: %w", shard, why))
}

// Err is the error of what was noted; nil where every shard answered.
func (m *Missing) Err() error {
	if len(m.errs) == 0 {
		return nil
	}
	return m
}

// onShards runs a query on the shards of organizations, and answers what each row is
// read to, at most limit of them. The error may be *Missing.
func onShards[T any](ctx context.Context, v *View, orgs []Organization, limit int, read func(pgx.CollectableRow, map[id.Org]Owner) (T, error), sql string) ([]T, error) {
	byShard := map[string][]id.Org{}
	owners := map[id.Org]Owner{}
	for _, o := range orgs {
		byShard[o.Shard] = append(byShard[o.Shard], o.ID)
		owners[o.ID] = Owner{o.Shard, o.ID, o.Slug}
	}
	answers := pershard.Gather(ctx, sortedKeys(byShard), answerWithin, func(ctx context.Context, shard string) ([]T, error) {
		return onShard(ctx, v, shard, func(row pgx.CollectableRow) (T, error) { return read(row, owners) },
			sql, byShard[shard], limit)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := []T{}
	var missing Missing
	for _, a := range answers {
		if a.Err != nil {
			missing.Add(a.Shard, a.Err)
		}
		found = append(found, a.Value...)
	}
	return found[:min(len(found), limit)], missing.Err()
}

// onShard runs a query on one shard.
func onShard[T any](ctx context.Context, v *View, shard string, read pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	db, err := v.Tenants.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, read)
}
