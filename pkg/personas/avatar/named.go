package avatar

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Named finds the faces that bear a name, in whatever case: the library's, or else
// the organization's own, at most two. It rides avatar_by_age.
func Named(ctx context.Context, tx *tenant.Tx, l *Library, name string) ([]id.Avatar, error) {
	for _, f := range l.Faces() {
		if strings.EqualFold(f.Name, name) {
			return []id.Avatar{f.ID}, nil
		}
	}
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Avatar], `
		SELECT id FROM avatar WHERE org_id = $1 AND lower(name) = lower($2) AND deleted_at IS NULL LIMIT 2`, tx.Org, name)
}
