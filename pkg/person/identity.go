package person

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// forgetIdentity deletes what somebody could come in by: the links that were mailed to
// them, the letters that wait for them, and who they are at identity providers. It
// rides mail_link_by_person, job_mail and person_identity_by_person.
func forgetIdentity(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	links, err := tx.Query(ctx, `DELETE FROM mail_link WHERE org_id = $1 AND person_id = $2 RETURNING hash`, tx.Org, which)
	if err != nil {
		return err
	}
	hashes, err := pgx.CollectRows(links, pgx.RowTo[[]byte])
	if err != nil {
		return err
	}
	for _, h := range hashes {
		tx.Touch("mail_link", digest(h))
	}
	letters, err := tx.Query(ctx, `
		DELETE FROM job WHERE org_id = $1 AND resource_id = $2 AND kind = 'mail_send' RETURNING id`, tx.Org, which.String())
	if err != nil {
		return err
	}
	jobs, err := pgx.CollectRows(letters, pgx.RowTo[id.Job])
	if err != nil {
		return err
	}
	for _, j := range jobs {
		tx.Touch("job", j)
	}
	return forgetSubjects(ctx, tx, which)
}

// name is a part of a row's key.
type name string

func (n name) String() string { return string(n) }

// forgetSubjects deletes who somebody is at identity providers.
func forgetSubjects(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM person_identity WHERE org_id = $1 AND person_id = $2 RETURNING connection_id, subject`, tx.Org, which)
	if err != nil {
		return err
	}
	type key struct {
		Connection id.Connection
		Subject    string
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	for _, k := range keys {
		tx.Touch("person_identity", k.Connection, name(k.Subject))
	}
	return err
}
