package organization

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/directory"
)

// ErrNoShard says that there is no shard for an organization that names none.
var ErrNoShard = errors.New("there is no shard that takes any organization")

// Place is the shard that an organization which names none is to live on: of those
// that take any, the one with the fewest organizations. The error is ErrNoShard.
func Place(ctx context.Context, d *directory.Directory) (string, error) {
	var shard string
	err := d.DB.QueryRow(ctx, `
		SELECT s.name FROM shard s LEFT JOIN organization o ON o.shard = s.name
		WHERE s.tier = 'Shared'
		GROUP BY s.name ORDER BY count(o.id), s.name LIMIT 1`).Scan(&shard)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNoShard
	}
	return shard, err
}
