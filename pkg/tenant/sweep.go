package tenant

import "context"

// SweepRows runs a statement that deletes expired rows of many organisations
// on a shard. The statement passes by organisations whose fence is not open.
func (t *Tenants) SweepRows(ctx context.Context, shard, sql string, args ...any) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	tag, err := db.Exec(ctx, sql, args...)
	return int(tag.RowsAffected()), err
}
