package organization

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/directory"
)

// ErrNoPlace says that there is no shard which takes any organisation.
var ErrNoPlace = errors.New("there is no shard that takes any organisation")

// Place is the shard where an organisation goes that names none: of the shared
// ones that with the fewest organisations. The error is ErrNoPlace.
func Place(ctx context.Context, d *directory.Directory) (shard string, err error) {
	err = d.DB.QueryRow(ctx, `
		SELECT s.name FROM shard s LEFT JOIN organization o ON o.shard = s.name
		WHERE s.tier = $1 GROUP BY s.name ORDER BY count(o.id), s.name LIMIT 1`, directory.Shared).Scan(&shard)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoPlace
	}
	return shard, err
}
