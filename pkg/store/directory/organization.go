package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/database"
)

// Organization is one organization's entry.
type Organization struct {
	ID           id.Org         `json:"id"`
	Name         string         `json:"name"`
	Slug         string         `json:"slug"`
	Region       string         `json:"region"`
	Timezone     string         `json:"timezone"`
	Shard        string         `json:"shard"`
	Epoch        int64          `json:"epoch"`
	Plan         string         `json:"plan"`
	Overrides    plan.Overrides `json:"overrides"`
	PausedAt     *time.Time     `json:"pausedAt"`
	PausedReason *string        `json:"pausedReason"`
	// ManagedBy is what changes the entry; empty for the API where one is entered.
	ManagedBy managed.By `json:"managedBy"`
	State     State      `json:"state"`
	CreatedAt time.Time  `json:"createdAt"`
}

// State is how far an organization's making or removal is.
type State string

// The states: its shard does not know it yet, it can be used, or everything that it
// owns is being removed.
const (
	Creating State = "creating"
	Active   State = "active"
	Deleting State = "deleting"
)

// ErrSlugTaken says that another organization has the slug.
var ErrSlugTaken = errors.New("another organization has this slug")

// OrganizationColumns are the columns of organization o that Fields takes, in
// its order.
const OrganizationColumns = `o.id, o.name, o.slug, o.region, o.timezone, o.shard, o.epoch, o.plan,
	o.overrides, o.paused_at, o.paused_reason, o.managed_by, o.state, o.created_at`

// Fields are where to scan OrganizationColumns.
func (o *Organization) Fields() []any {
	return []any{
		&o.ID, &o.Name, &o.Slug, &o.Region, &o.Timezone, &o.Shard, &o.Epoch, &o.Plan,
		&o.Overrides, &o.PausedAt, &o.PausedReason, &o.ManagedBy, &o.State, &o.CreatedAt,
	}
}

func scanOrganization(row pgx.CollectableRow) (Organization, error) {
	var o Organization
	err := row.Scan(o.Fields()...)
	return o, err
}

// Begin enters an organization that its shard does not know yet; Activate
// completes it. Between the two it can do nothing, and Begin may be repeated.
func (d *Directory) Begin(ctx context.Context, o Organization) error {
	_, err := d.DB.Exec(ctx, `
		INSERT INTO organization (id, name, slug, region, timezone, shard, epoch, plan, overrides, state, managed_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'creating', $10, $11)
		ON CONFLICT (id) DO NOTHING`,
		o.ID, o.Name, o.Slug, o.Region, o.Timezone, o.Shard, o.Epoch, o.Plan, o.Overrides, cmp.Or(o.ManagedBy, managed.API), o.CreatedAt)
	if database.Violates(err, "organization_slug_key") {
		return fmt.Errorf("slug %q: %w", o.Slug, ErrSlugTaken)
	}
	return err
}

// Activate opens an organization whose shard is ready for it. One that is being
// deleted stays closed.
func (d *Directory) Activate(ctx context.Context, org id.Org) error {
	return d.change(ctx, org, `
		UPDATE organization SET state = CASE state WHEN 'creating' THEN 'active' ELSE state END WHERE id = $1`, org)
}

// Organization finds an organization by its id.
func (d *Directory) Organization(ctx context.Context, org id.Org) (Organization, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+OrganizationColumns+` FROM organization o WHERE o.id = $1`, org)
	if err != nil {
		return Organization{}, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, scanOrganization)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, fmt.Errorf("organization %s: %w", org, ErrUnknown)
	}
	return o, err
}

// OrganizationsEnding are those whose ids end with 10 hexadecimal digits, as far as this process
// knows: none, or mostly one. It rides organization_by_code.
func (d *Directory) OrganizationsEnding(ctx context.Context, tail string) ([]id.Org, error) {
	return d.endings.Get(ctx, tail)
}

func (d *Directory) loadEnding(ctx context.Context, tail string) ([]id.Org, error) {
	rows, err := d.DB.Query(ctx, `SELECT id FROM organization WHERE right(id::TEXT, 10) = $1 AND state <> 'deleting' ORDER BY id`, tail)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.Org])
}

// OrganizationNamed finds an organization by its slug. The error is ErrUnknown.
func (d *Directory) OrganizationNamed(ctx context.Context, slug string) (Organization, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+OrganizationColumns+` FROM organization o WHERE o.slug = $1`, slug)
	if err != nil {
		return Organization{}, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, scanOrganization)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, fmt.Errorf("organization %q: %w", slug, ErrUnknown)
	}
	return o, err
}

// Organizations lists all organizations, oldest first.
func (d *Directory) Organizations(ctx context.Context) ([]Organization, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+OrganizationColumns+` FROM organization o ORDER BY o.created_at, o.id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanOrganization)
}

// SetPlan moves an organization to a plan.
func (d *Directory) SetPlan(ctx context.Context, org id.Org, key string) error {
	return d.change(ctx, org, `UPDATE organization SET plan = $2 WHERE id = $1`, org, key)
}

// SetOverrides replaces what an organization has instead of its plan's terms.
func (d *Directory) SetOverrides(ctx context.Context, org id.Org, o plan.Overrides) error {
	return d.change(ctx, org, `UPDATE organization SET overrides = $2 WHERE id = $1`, org, o)
}

// Pause stops an organization from starting sessions; Resume lets it again.
func (d *Directory) Pause(ctx context.Context, org id.Org, reason string) error {
	return d.change(ctx, org, `
		UPDATE organization SET paused_at = COALESCE(paused_at, $2), paused_reason = $3 WHERE id = $1`,
		org, d.clock.Now(), reason)
}

// Resume ends a pause.
func (d *Directory) Resume(ctx context.Context, org id.Org) error {
	return d.change(ctx, org, `UPDATE organization SET paused_at = NULL, paused_reason = NULL WHERE id = $1`, org)
}

// Declare makes of an organization what a resource that manages it says: its name,
// its time zone, its plan with what it has instead of the plan's terms, and whether
// it is paused. The reason of a pause that goes on stays. The error is ErrUnknown
// where the organization is another's to change.
func (d *Directory) Declare(ctx context.Context, o Organization, paused bool, reason string) error {
	return d.change(ctx, o.ID, `
		UPDATE organization SET name = $3, timezone = $4, plan = $5, overrides = $6,
			paused_at = CASE WHEN $7 THEN COALESCE(paused_at, $8) END,
			paused_reason = CASE WHEN $7 THEN COALESCE(paused_reason, $9) END
		WHERE id = $1 AND managed_by = $2`,
		o.ID, o.ManagedBy, o.Name, o.Timezone, o.Plan, o.Overrides, paused, d.clock.Now(), reason)
}

// HandOver gives an organization that from manages to another. The error is
// ErrUnknown where it is somebody else's by now.
func (d *Directory) HandOver(ctx context.Context, org id.Org, from, to managed.By) error {
	return d.change(ctx, org, `UPDATE organization SET managed_by = $3 WHERE id = $1 AND managed_by = $2`, org, from, to)
}

// Condemn closes an organization that is to be deleted: its keys open nothing from
// now on. The error is ErrUnknown where it is not by's to delete.
func (d *Directory) Condemn(ctx context.Context, org id.Org, by managed.By) error {
	return d.change(ctx, org, `UPDATE organization SET state = 'deleting' WHERE id = $1 AND managed_by = $2`, org, by)
}

// Remove deletes all that the directory has of an organization that was condemned.
// It may be repeated.
func (d *Directory) Remove(ctx context.Context, org id.Org) error {
	return d.DB.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		for _, sql := range []string{
			`DELETE FROM agent_term WHERE org_id IN (SELECT id FROM organization WHERE id = $1 AND state = 'deleting')`,
			`DELETE FROM agent WHERE org_id IN (SELECT id FROM organization WHERE id = $1 AND state = 'deleting')`,
			`DELETE FROM portal_address WHERE org_id IN (SELECT id FROM organization WHERE id = $1 AND state = 'deleting')`,
			`DELETE FROM api_key_secret WHERE key_id IN (
				SELECT k.id FROM api_key k JOIN organization o ON o.id = k.org_id WHERE o.id = $1 AND o.state = 'deleting')`,
			`DELETE FROM api_key WHERE org_id IN (SELECT id FROM organization WHERE id = $1 AND state = 'deleting')`,
			`DELETE FROM org_move WHERE org_id IN (SELECT id FROM organization WHERE id = $1 AND state = 'deleting')`,
			`DELETE FROM organization WHERE id = $1 AND state = 'deleting'`,
		} {
			if _, err := tx.Exec(ctx, sql, org); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *Directory) change(ctx context.Context, org id.Org, sql string, args ...any) error {
	tag, err := d.DB.Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() == 0 {
		return fmt.Errorf("organization %s: %w", org, ErrUnknown)
	}
	return err
}
