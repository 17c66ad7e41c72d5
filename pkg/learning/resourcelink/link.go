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

// Origin is the platform that a link is of: its line item is never shown to another one.
type Origin struct{ Issuer, ClientID, Deployment string }

// Link is one.
type Link struct {
	Key
	Connection id.Connection
	Origin     Origin
	// User is the platform's name of the person, and LineItem where their scores go.
	User, LineItem string
	// Edition counts what is to be told, and Told is the last of it that was.
	Edition, Told int64
	// Trouble is why what is untold is not being told; empty while it is.
	Trouble string
	// Job tells it; zero for none.
	Job id.Job
	// ChangedAt is when the person's results of the subject last changed. It only grows.
	ChangedAt time.Time
}

const columns = `person_id, subject_id, id, connection_id, issuer, client_id, deployment_id, user_id, line_item, edition, told, trouble, job_id, changed_at`

func scan(row pgx.CollectableRow) (l Link, err error) {
	err = row.Scan(&l.Person, &l.Subject, &l.ID, &l.Connection, &l.Origin.Issuer, &l.Origin.ClientID, &l.Origin.Deployment, &l.User, &l.LineItem,
		&l.Edition, &l.Told, &l.Trouble, &l.Job, &l.ChangedAt)
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
	l, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(l.Key), `
		INSERT INTO resource_link (org_id, person_id, subject_id, id, connection_id, issuer, client_id, deployment_id, user_id, line_item,
			edition, told, trouble, changed_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, '', $11, $11)
		ON CONFLICT (org_id, person_id, subject_id, id) DO UPDATE
		SET issuer = EXCLUDED.issuer, client_id = EXCLUDED.client_id, deployment_id = EXCLUDED.deployment_id, user_id = EXCLUDED.user_id
		RETURNING `+columns,
		tx.Org, l.Person, l.Subject, l.ID, l.Connection, l.Origin.Issuer, l.Origin.ClientID, l.Origin.Deployment, l.User, l.LineItem, now)
	if err != nil || l.Edition == l.Told {
		return err
	}
	return l.send(ctx, tx, now)
}

// Follow has the platforms told, with the commit, by whose links somebody came to a subject: their
// results of it changed. What is told is read when it is. Moments of one link are a second apart:
// some platforms tell no less apart. It rides resource_link_pkey.
func Follow(ctx context.Context, tx *tenant.Tx, who id.Person, about id.Subject, now time.Time) error {
	links, err := tenant.AllIn(ctx, tx, scan, `
		UPDATE resource_link SET edition = edition + 1, changed_at = GREATEST(changed_at + INTERVAL '1 second', $4)
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 RETURNING `+columns, tx.Org, who, about, now)
	for _, l := range links {
		tx.Touch("resource_link", who, about, l.ID)
		if err := l.send(ctx, tx, now); err != nil {
			return err
		}
	}
	return err
}

// send queues the telling of a link, whose row is locked, unless that is queued already: a job that
// ends looks at the row first.
func (l *Link) send(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if queued, err := job.Waits(ctx, tx, l.Job); err != nil || queued {
		return err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.GradeSend, ResourceKind: "subject", ResourceID: l.Subject.String(), Subject: l.Subject, Connection: l.Connection, Scope: scope.ResultsRead,
		CreatedBy: "platform", CreatedAt: now,
	}, l.Key)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE resource_link SET job_id = $5, trouble = '' WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4`,
		tx.Org, l.Person, l.Subject, l.ID, j.ID)
	return err
}

// atOnce is how much that is stopped is taken up by one commit.
const atOnce = 100

// ResumeSome takes up some of what is stopped of a connection, and says whether there may be more. It
// rides resource_link_untold.
func ResumeSome(ctx context.Context, tx *tenant.Tx, c id.Connection, now time.Time) (bool, error) {
	stopped, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM resource_link
		WHERE org_id = $1 AND connection_id = $2 AND edition > told AND trouble <> '' ORDER BY changed_at LIMIT $3 FOR UPDATE`, tx.Org, c, atOnce)
	for _, l := range stopped {
		tx.Touch("resource_link", l.Person, l.Subject, l.ID)
		if err := l.send(ctx, tx, now); err != nil {
			return false, err
		}
	}
	return len(stopped) == atOnce, err
}

// Get finds a link. It rides resource_link_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, k Key) (Link, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(k), `
		SELECT `+columns+` FROM resource_link WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4`, org, k.Person, k.Subject, k.ID)
}

// MaxUntold bounds what Untold answers.
const MaxUntold = 100

// Untold are the links of a connection of which something was not told yet, those that changed last
// first. It rides resource_link_untold.
func Untold(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection) ([]Link, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM resource_link
		WHERE org_id = $1 AND connection_id = $2 AND edition > told ORDER BY changed_at DESC LIMIT $3`, org, c, MaxUntold)
}

// Tell notes that a platform was told an edition. It answers
// false where there is a later one.
func Tell(ctx context.Context, tx *tenant.Tx, l Link) (bool, error) {
	tx.Touch("resource_link", l.Person, l.Subject, l.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE resource_link SET told = $5, trouble = '', job_id = NULL
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4 AND edition = $5`,
		tx.Org, l.Person, l.Subject, l.ID, l.Edition)
	return err == nil && tag.RowsAffected() > 0, err
}

// Stop notes why an edition is not told. It answers false where there is a later one, which may be.
func Stop(ctx context.Context, tx *tenant.Tx, l Link, why string) (bool, error) {
	tx.Touch("resource_link", l.Person, l.Subject, l.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE resource_link SET trouble = $6, job_id = NULL
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4 AND edition = $5`,
		tx.Org, l.Person, l.Subject, l.ID, l.Edition, why)
	return err == nil && tag.RowsAffected() > 0, err
}

// Abandon notes why a link is told nothing by a job any more.
func Abandon(ctx context.Context, tx *tenant.Tx, k Key, by id.Job, why string) error {
	tx.Touch("resource_link", k.Person, k.Subject, k.ID)
	_, err := tx.Exec(ctx, `
		UPDATE resource_link SET trouble = $6, job_id = NULL
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4 AND job_id = $5`,
		tx.Org, k.Person, k.Subject, k.ID, by, why)
	return err
}

// ForgetPerson deletes the links of somebody who is erased, and answers how many there were. It
// rides resource_link_pkey.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, who id.Person) (n int, err error) {
	return forget(ctx, tx, `DELETE FROM resource_link WHERE org_id = $1 AND person_id = $2`, who)
}

// ForgetOne deletes a link.
func ForgetOne(ctx context.Context, tx *tenant.Tx, k Key) error {
	_, err := forget(ctx, tx, `DELETE FROM resource_link WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND id = $4`, k.Person, k.Subject, k.ID)
	return err
}

// ForgetConnection deletes links of a connection that is deleted, as many as one commit should have;
// the rest goes with Sweep. It rides resource_link_by_connection.
func ForgetConnection(ctx context.Context, tx *tenant.Tx, c id.Connection) error {
	_, err := forget(ctx, tx, `
		DELETE FROM resource_link WHERE org_id = $1 AND (person_id, subject_id, id) IN (
			SELECT person_id, subject_id, id FROM resource_link WHERE org_id = $1 AND connection_id = $2 LIMIT $3)`, c, mostForgotten)
	return err
}

func forget(ctx context.Context, tx *tenant.Tx, sql string, args ...any) (n int, err error) {
	rows, err := tx.Query(ctx, sql+` RETURNING person_id, subject_id, id`, append([]any{tx.Org}, args...)...)
	if err != nil {
		return 0, err
	}
	var k Key
	_, err = pgx.ForEachRow(rows, []any{&k.Person, &k.Subject, &k.ID}, func() error {
		tx.Touch("resource_link", k.Person, k.Subject, k.ID)
		n++
		return nil
	})
	return n, err
}
