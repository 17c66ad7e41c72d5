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

// Admit finds somebody by who they are at an identity provider, and else adds them, by whom nobody
// vouches for an address: what is wanted has none, and no external id. Whoever comes twice at once is
// one person. They are locked until the commit. The error is errdefs.Gone or ErrFull.
func Admit(ctx context.Context, tx *tenant.Tx, at At, w Wanted) (who Person, added bool, err error) {
	for {
		found, err := ByIdentity(ctx, tx, at)
		if err == nil {
			who, err = Lock(ctx, tx, found.ID)
			return who, false, err
		}
		if !errdefs.IsNotFound(err, Noun) {
			return who, false, err
		}
		err = tx.Attempt(ctx, func(ctx context.Context) error {
			if who, _, err = FindOrAdd(ctx, tx, w); err != nil {
				return err
			}
			kept, err := identify(ctx, tx, who.ID, at, w.At)
			if err == nil && !kept {
				err = errIdentified
			}
			return err
		})
		if !errors.Is(err, errIdentified) {
			return who, err == nil, err
		}
	}
}

// errIdentified says that somebody else was added with the identity a moment ago.
var errIdentified = errors.New("the identity was just added")

// Identify notes who somebody who is locked is at an identity provider. It rides
// person_identity_by_person. The error is ErrOtherIdentity.
func Identify(ctx context.Context, tx *tenant.Tx, who id.Person, at At, now time.Time) error {
	_, err := identify(ctx, tx, who, at, now)
	return err
}

// identify is Identify, and says whether the identity was noted, or was somebody's already.
func identify(ctx context.Context, tx *tenant.Tx, who id.Person, at At, now time.Time) (bool, error) {
	var others int
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM person_identity
		WHERE org_id = $1 AND person_id = $2 AND connection_id = $3 AND issuer = $4 AND subject <> $5`,
		tx.Org, who, at.Connection, at.Issuer, at.Subject).Scan(&others); err != nil {
		return false, err
	}
	if others > 0 {
		return false, ErrOtherIdentity
	}
	tx.Touch("person_identity", at.Connection, name(at.Issuer), name(at.Subject))
	tag, err := tx.Exec(ctx, `
		INSERT INTO person_identity (org_id, connection_id, issuer, subject, person_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id, connection_id, issuer, subject) DO NOTHING`, tx.Org, at.Connection, at.Issuer, at.Subject, who, now)
	return err == nil && tag.RowsAffected() > 0, err
}

// IdentitiesAt are who somebody is at identity providers. It rides person_identity_by_person.
func IdentitiesAt(ctx context.Context, tx *tenant.Tx, who id.Person) ([]At, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[At], `
		SELECT connection_id, issuer, subject FROM person_identity WHERE org_id = $1 AND person_id = $2`, tx.Org, who)
}
