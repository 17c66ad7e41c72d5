package voice

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Named finds the voices that bear a name, in whatever case: the studio's, or else
// the organization's own, at most two. It rides voice_by_age.
func Named(ctx context.Context, tx *tenant.Tx, name string) ([]id.Voice, error) {
	for _, v := range studio {
		if strings.EqualFold(v.Name, name) {
			return []id.Voice{v.ID}, nil
		}
	}
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Voice], `
		SELECT id FROM voice WHERE org_id = $1 AND lower(name) = lower($2) AND deleted_at IS NULL LIMIT 2`, tx.Org, name)
}
