// Package resourcelink keeps by which links of learning platforms people came to subjects, as far
// as grades go back there (LTI Core 1.3, section 3.2; Assignment and Grade Services 2.0). Telling
// the platforms is package gradebook's.
package resourcelink

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// Noun is what errors call a link.
const Noun errdefs.Noun = "resource link"

// Key names a link of somebody's to a subject.
type Key struct {
	Person  id.Person  `json:"personId"`
	Subject id.Subject `json:"subjectId"`
	ID      uuid.UUID  `json:"id"`
}

// String is the key in few words.
func (k Key) String() string {
	return k.Person.String() + "/" + k.Subject.String() + "/" + k.ID.String()
}

// Link is one.
type Link struct {
	Key
	Connection id.Connection
	// User is the platform's name of the person, and LineItem where their scores go.
	User, LineItem string
	// Edition counts what is to be told, and Told is the last of it that was.
	Edition, Told int64
	// ChangedAt is when the person's results of the subject last changed. It only grows.
	ChangedAt time.Time
}

const columns = `person_id, subject_id, id, connection_id, user_id, line_item, edition, told, changed_at`

func scan(row pgx.CollectableRow) (l Link, err error) {
	err = row.Scan(&l.Person, &l.Subject, &l.ID, &l.Connection, &l.User, &l.LineItem, &l.Edition, &l.Told, &l.ChangedAt)
	return l, err
}

// MaxLinks bounds the links of somebody to one subject: the courses in which it is.
const MaxLinks = 50

// of is the id of a link: the same for the same line item of the same connection.
func of(c id.Connection, lineItem string) (made uuid.UUID) {
	sum := sha256.Sum256([]byte(c.String() + " " + lineItem))
	copy(made[:], sum[:])
	return made
}

// Keep notes that somebody came by a link whose scores go to a line item. What was not told yet
// of one that is known is told anew. It rides resource_link_pkey.
func Keep(ctx context.Context, tx *tenant.Tx, l Link, now time.Time) error {
	l.ID = of(l.Connection, l.LineItem)
	var others int
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM resource_link WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id <> $4`,
		tx.Org, l.Person, l.Subject, l.ID).Scan(&others); err != nil || others >= MaxLinks {
		return err
	}
	tx.Touch("resource_link", l.Person, l.Subject, l.ID)
	if err := tx.QueryRow(ctx, `
		INSERT INTO resource_link (org_id, person_id, subject_id, id, connection_id, user_id, line_item, edition, told, changed_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, $8)
		ON CONFLICT (org_id, person_id, subject_id, id) DO UPDATE SET user_id = EXCLUDED.user_id RETURNING edition, told`,
		tx.Org, l.Person, l.Subject, l.ID, l.Connection, l.User, l.LineItem, now).Scan(&l.Edition, &l.Told); err != nil {
		return err
	}
	if l.Edition == l.Told {
		return nil
	}
	return send(ctx, tx, l.Key, now)
}

// Follow has the platforms told, with the commit, by whose links somebody came to a subject: their
// results of it changed. What is told is read when it is. Moments of one link are a second apart:
// some platforms tell no less apart. It rides resource_link_pkey.
func Follow(ctx context.Context, tx *tenant.Tx, who id.Person, about id.Subject, now time.Time) error {
	links, err := tenant.AllIn(ctx, tx, pgx.RowTo[uuid.UUID], `
		UPDATE resource_link SET edition = edition + 1, changed_at = GREATEST(changed_at + INTERVAL '1 second', $4)
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 RETURNING id`, tx.Org, who, about, now)
	for _, link := range links {
		tx.Touch("resource_link", who, about, link)
		if err := send(ctx, tx, Key{who, about, link}, now); err != nil {
			return err
		}
	}
	return err
}

// send queues the telling of a link.
func send(ctx context.Context, tx *tenant.Tx, k Key, now time.Time) error {
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.GradeSend, ResourceKind: "subject", ResourceID: k.Subject.String(), Subject: k.Subject, Scope: scope.ResultsRead,
		CreatedBy: "platform", CreatedAt: now,
	}, k)
	return err
}

// Get finds a link. It rides resource_link_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, k Key) (Link, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(k), `
		SELECT `+columns+` FROM resource_link WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4`, org, k.Person, k.Subject, k.ID)
}

// Tell notes that a platform was told an edition. It answers
// false where there is a later one.
func Tell(ctx context.Context, tx *tenant.Tx, l Link) (bool, error) {
	tx.Touch("resource_link", l.Person, l.Subject, l.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE resource_link SET told = $5
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4 AND edition = $5`,
		tx.Org, l.Person, l.Subject, l.ID, l.Edition)
	return err == nil && tag.RowsAffected() > 0, err
}

// ForgetPerson deletes the links of somebody who is erased, and answers how many there were. It
// rides resource_link_pkey.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, who id.Person) (n int, err error) {
	rows, err := tx.Query(ctx, `DELETE FROM resource_link WHERE org_id = $1 AND person_id = $2 RETURNING subject_id, id`, tx.Org, who)
	if err != nil {
		return 0, err
	}
	var (
		about id.Subject
		which uuid.UUID
	)
	_, err = pgx.ForEachRow(rows, []any{&about, &which}, func() error {
		tx.Touch("resource_link", who, about, which)
		n++
		return nil
	})
	return n, err
}
