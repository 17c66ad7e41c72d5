package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/database"
)

// Tier is which organizations a shard takes.
type Tier string

// The tiers: any organization may be placed there, or only those that name it.
const (
	Shared    Tier = "Shared"
	Dedicated Tier = "Dedicated"
)

// Shard is one shard's entry.
type Shard struct {
	Name      string     `json:"name"`
	URL       string     `json:"-"`
	Tier      Tier       `json:"tier"`
	ManagedBy managed.By `json:"managedBy"`
	CreatedAt time.Time  `json:"createdAt"`
}

// shardNoun is what errors call a shard.
const shardNoun errdefs.Noun = "shard"

// ErrInhabited says that organizations live on a shard.
var ErrInhabited = errors.New("organizations live on it")

// AddShard enters a shared shard that no resource declares, or gives a known one a
// new URL. The error may be a *managed.Error.
func (d *Directory) AddShard(ctx context.Context, name, url string) error {
	return d.PutShard(ctx, Shard{Name: name, URL: url, Tier: Shared, ManagedBy: managed.API})
}

// PutShard enters a shard, or gives a known one the URL and the tier. The error is
// a *managed.Error where something else manages it than s.ManagedBy.
func (d *Directory) PutShard(ctx context.Context, s Shard) error {
	tag, err := d.DB.Exec(ctx, `
		INSERT INTO shard (name, url, tier, managed_by, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (name) DO UPDATE SET url = excluded.url, tier = excluded.tier
		WHERE shard.managed_by = excluded.managed_by`, s.Name, s.URL, s.Tier, s.ManagedBy, d.clock.Now())
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	known, err := d.Shard(ctx, s.Name)
	if err != nil {
		return err
	}
	return known.ManagedBy.Check(s.ManagedBy, shardNoun, s.Name)
}

// HandShard makes another the manager of a shard, unless it changed hands meanwhile;
// then the error is a *managed.Error.
func (d *Directory) HandShard(ctx context.Context, name string, from, to managed.By) error {
	tag, err := d.DB.Exec(ctx, `UPDATE shard SET managed_by = $3 WHERE name = $1 AND managed_by = $2`, name, from, to)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	known, err := d.Shard(ctx, name)
	if err != nil {
		return err
	}
	return known.ManagedBy.Check(to, shardNoun, name)
}

// RemoveShard takes a shard off the directory; one that it does not have is no
// error. The error is ErrInhabited while organizations live there or are on their way
// there, and a *managed.Error where something else manages it.
func (d *Directory) RemoveShard(ctx context.Context, name string, by managed.By) error {
	coming, err := d.Coming(ctx, name)
	if err == nil && coming > 0 {
		return fmt.Errorf("shard %q: %w", name, ErrInhabited)
	}
	if err != nil {
		return err
	}
	tag, err := d.DB.Exec(ctx, `DELETE FROM shard WHERE name = $1 AND managed_by = $2`, name, by)
	switch {
	case database.Violates(err, "organization_shard_fkey"):
		return fmt.Errorf("shard %q: %w", name, ErrInhabited)
	case err != nil || tag.RowsAffected() > 0:
		return err
	}
	known, err := d.Shard(ctx, name)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	return known.ManagedBy.Check(by, shardNoun, name)
}

const shardColumns = `name, url, tier, managed_by, created_at`

// Shard finds a shard's entry. The error is ErrUnknown.
func (d *Directory) Shard(ctx context.Context, name string) (Shard, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+shardColumns+` FROM shard WHERE name = $1`, name)
	if err != nil {
		return Shard{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Shard])
	if errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("shard %q: %w", name, ErrUnknown)
	}
	return s, err
}

// Shards lists the shards by name.
func (d *Directory) Shards(ctx context.Context) ([]Shard, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+shardColumns+` FROM shard ORDER BY name`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Shard])
}

// ShardNames lists the names of the shards.
func (d *Directory) ShardNames(ctx context.Context) ([]string, error) {
	shards, err := d.Shards(ctx)
	names := make([]string, len(shards))
	for i, s := range shards {
		names[i] = s.Name
	}
	return names, err
}

// ShardURL is where a shard's database is, as far as this process knows. The error is
// ErrUnknown.
func (d *Directory) ShardURL(ctx context.Context, name string) (string, error) {
	return d.urls.Get(ctx, name)
}

// ForgetShard makes the next ShardURL ask the directory.
func (d *Directory) ForgetShard(name string) { d.urls.Forget(name) }

func (d *Directory) loadURL(ctx context.Context, name string) (string, error) {
	s, err := d.Shard(ctx, name)
	return s.URL, err
}

// Inhabitants is how many organizations live on a shard. It rides
// organization_by_shard.
func (d *Directory) Inhabitants(ctx context.Context, shard string) (int64, error) {
	var n int64
	err := d.DB.QueryRow(ctx, `SELECT count(*) FROM organization WHERE shard = $1`, shard).Scan(&n)
	return n, err
}

// Inhabitant is an organization of a shard.
type Inhabitant struct {
	ID    id.Org
	Epoch int64
}

// Inhabiting lists the active organizations of a shard by their ids, after one of them;
// the zero id for the first. It rides organization_by_shard.
func (d *Directory) Inhabiting(ctx context.Context, shard string, after id.Org, limit int) ([]Inhabitant, error) {
	rows, err := d.DB.Query(ctx, `
		SELECT id, epoch FROM organization
		WHERE shard = $1 AND state = 'active' AND ($2::UUID IS NULL OR id > $2) ORDER BY id LIMIT $3`, shard, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Inhabitant])
}

// Coming is how many organizations are on their way to a shard. It rides org_move_due.
func (d *Directory) Coming(ctx context.Context, shard string) (int64, error) {
	var n int64
	err := d.DB.QueryRow(ctx, `
		SELECT count(*) FROM org_move m JOIN organization o ON o.id = m.org_id
		WHERE m.to_shard = $1 AND m.due_at IS NOT NULL AND o.shard <> m.to_shard`, shard).Scan(&n)
	return n, err
}
