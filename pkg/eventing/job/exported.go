package job

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Exported is how far an export got.
type Exported struct {
	// Parts are files with what was read, in order.
	Parts []id.File `json:"parts,omitempty"`
	// After is the last record that was read, and Read says that there are no more.
	After uuid.UUID `json:"after"`
	Read  bool      `json:"read,omitempty"`
}

// DropExports deletes the files of all exports, because somebody is erased who may be in one,
// and has those that are under way begin anew. It rides job_pkey.
func DropExports(ctx context.Context, tx *tenant.Tx) error {
	rows, err := tx.Query(ctx, `
		SELECT id, file_id, progress FROM job
		WHERE org_id = $1 AND kind = 'export' AND (file_id IS NOT NULL OR finished_at IS NULL) ORDER BY id FOR UPDATE`, tx.Org)
	if err != nil {
		return err
	}
	var (
		which    id.Job
		of       id.File
		progress json.RawMessage
		jobs     []id.Job
		files    []id.File
	)
	if _, err := pgx.ForEachRow(rows, []any{&which, &of, &progress}, func() error {
		var so Exported
		if err := json.Unmarshal(progress, &so); err != nil {
			return err
		}
		jobs, files = append(jobs, which), append(files, so.Parts...)
		if !of.IsZero() {
			files = append(files, of)
		}
		tx.Touch("job", which)
		return nil
	}); err != nil || len(jobs) == 0 {
		return err
	}
	if err := file.Drop(ctx, tx, files...); err != nil {
		return err
	}
	// A step that is under way loses its claim.
	_, err = tx.Exec(ctx, `
		UPDATE job SET file_id = NULL, progress = '{}', done = 0, owner = NULL, due_at = CASE WHEN finished_at IS NULL THEN created_at END
		WHERE org_id = $1 AND id = ANY($2)`, tx.Org, jobs)
	return err
}
