package job

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// DropSealed drops the sealed addresses of letters that were written: whose they are
// cannot be seen, and nobody needs them any more. It rides job_by_state.
func DropSealed(ctx context.Context, tx *tenant.Tx) error {
	rows, err := tx.Query(ctx, `
		UPDATE job SET input = input - 'sealed'
		WHERE org_id = $1 AND kind IN ('mail_send', 'hiring_mail') AND finished_at IS NOT NULL AND input->'sealed' IS NOT NULL
		RETURNING id`, tx.Org)
	if err != nil {
		return err
	}
	var which id.Job
	_, err = pgx.ForEachRow(rows, []any{&which}, func() error {
		tx.Touch("job", which)
		return nil
	})
	return err
}

// TakeRejects takes from the imports of people that ended the files of the lines that they
// refused, for the caller to discard. Whose the lines are cannot be told: no ids are in them.
func TakeRejects(ctx context.Context, tx *tenant.Tx) (files []id.File, err error) {
	rows, err := tx.Query(ctx, `
		SELECT id, file_id FROM job WHERE org_id = $1 AND kind = 'people_import' AND finished_at IS NOT NULL AND file_id IS NOT NULL`, tx.Org)
	if err != nil {
		return nil, err
	}
	var (
		jobs []id.Job
		one  id.Job
		file id.File
	)
	if _, err := pgx.ForEachRow(rows, []any{&one, &file}, func() error {
		tx.Touch("job", one)
		jobs, files = append(jobs, one), append(files, file)
		return nil
	}); err != nil || len(jobs) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `UPDATE job SET file_id = NULL WHERE org_id = $1 AND id = ANY($2)`, tx.Org, jobs)
	return files, err
}

// DeleteLetters deletes the letters to a person that wait or were sent. It rides job_mail.
func DeleteLetters(ctx context.Context, tx *tenant.Tx, to id.Person) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM job WHERE org_id = $1 AND resource_id = $2 AND kind = 'mail_send' RETURNING id`, tx.Org, to.String())
	if err != nil {
		return err
	}
	var which id.Job
	_, err = pgx.ForEachRow(rows, []any{&which}, func() error {
		tx.Touch("job", which)
		return nil
	})
	return err
}
