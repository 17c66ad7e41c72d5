package person

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// forgetIdentity deletes what somebody could come in by: the links that were mailed to
// them, the letters that wait for them, and who they are at identity providers. It
// rides mail_link_by_person and person_identity_by_person.
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
	if err := job.DeleteLetters(ctx, tx, which); err != nil {
		return err
	}
	return forgetSubjects(ctx, tx, which)
}

// name is a part of a row's key.
type name string

func (n name) String() string { return string(n) }

// forgetSubjects deletes who somebody is at identity providers.
func forgetSubjects(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM person_identity WHERE org_id = $1 AND person_id = $2 RETURNING connection_id, issuer, subject`, tx.Org, which)
	if err != nil {
		return err
	}
	type key struct {
		Connection      id.Connection
		Issuer, Subject string
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	for _, k := range keys {
		tx.Touch("person_identity", k.Connection, name(k.Issuer), name(k.Subject))
	}
	return err
}

// At is who somebody is at an identity provider.
type At struct {
	Connection id.Connection
	// Issuer is the provider's name of itself, Subject its name of the person.
	Issuer, Subject string
}

// ByIdentity finds somebody by who they are at an identity provider. It rides
// person_identity_pkey. The error is errdefs.NotFound or errdefs.Gone.
func ByIdentity(ctx context.Context, tx *tenant.Tx, at At) (Person, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM person_identity i JOIN person p ON p.org_id = i.org_id AND p.id = i.person_id
		WHERE i.org_id = $1 AND i.connection_id = $2 AND i.issuer = $3 AND i.subject = $4`, tx.Org, at.Connection, at.Issuer, at.Subject)
	if err != nil {
		return Person{}, err
	}
	found, err := pgx.CollectRows(rows, scan)
	return one(errdefs.NotFound{Noun: Noun}, found, err)
}

// ByExternalID finds somebody by the organization's own name for them. It rides
// person_by_external. The error is errdefs.NotFound or errdefs.Gone.
func ByExternalID(ctx context.Context, tx *tenant.Tx, name string) (Person, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM person p WHERE p.org_id = $1 AND p.external_id = $2`, tx.Org, name)
	if err != nil {
		return Person{}, err
	}
	found, err := pgx.CollectRows(rows, scan)
	return one(errdefs.NotFound{Noun: Noun}, found, err)
}

// ErrOtherIdentity says that somebody is another one at the identity provider: an
// address was given to a new owner there.
var ErrOtherIdentity = errors.New("the person is somebody else at the identity provider")

// Identify notes who somebody who is locked is at an identity provider. It rides
// person_identity_by_person. The error is ErrOtherIdentity.
func Identify(ctx context.Context, tx *tenant.Tx, who id.Person, at At, now time.Time) error {
	var others int
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM person_identity
		WHERE org_id = $1 AND person_id = $2 AND connection_id = $3 AND issuer = $4 AND subject <> $5`,
		tx.Org, who, at.Connection, at.Issuer, at.Subject).Scan(&others); err != nil {
		return err
	}
	if others > 0 {
		return ErrOtherIdentity
	}
	tx.Touch("person_identity", at.Connection, name(at.Issuer), name(at.Subject))
	_, err := tx.Exec(ctx, `
		INSERT INTO person_identity (org_id, connection_id, issuer, subject, person_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id, connection_id, issuer, subject) DO NOTHING`, tx.Org, at.Connection, at.Issuer, at.Subject, who, now)
	return err
}
