// Package statement keeps what learning record stores have statements of, or are to have (xAPI): results
// that are released, assignments that are completed and certificates that are issued. Telling the
// stores is package recordstore's.
package statement

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// Kind is what a statement is of.
type Kind string

// The kinds.
const (
	Result      Kind = "result"
	Assignment  Kind = "assignment"
	Certificate Kind = "certificate"
)

// Object is something of somebody's.
type Object struct {
	Kind Kind
	// ID is that of the result, the assignment or the certificate.
	ID uuid.UUID
	// Person is zero once they are erased.
	Person id.Person
}

// Noun is what errors call what a store is told.
const Noun errdefs.Noun = "statement"

// Key names what a store is told of an object.
type Key struct {
	Connection id.Connection `json:"connectionId"`
	ID         uuid.UUID     `json:"id"`
}

// String is the key in few words.
func (k Key) String() string { return k.Connection.String() + "/" + k.ID.String() }

// Record is what a store is told of an object.
type Record struct {
	Key
	Object Object
	// Edition counts the changes that are to be told. Sending is the one that is being told, zero
	// for none: what was begun is known after a crash. Told is the last that was, and Stands says that
	// its statement is in the store whose address is Store, and not voided.
	Edition, Sending, Told int64
	Stands                 bool
	Store                  string
	// Said tells what the statement that stands says from others, or the one that is being told; empty
	// where it is not known.
	Said string
	// Trouble is why what is untold is not being told; empty while it is.
	Trouble string
	// Job tells it; zero for none.
	Job       id.Job
	ChangedAt time.Time
}

// Statement is the id of the statement of an edition: the same however often it is made, and
// another's for any other organization, connection, object or edition.
func (r *Record) Statement(org id.Org, edition int64) uuid.UUID {
	return r.named(org, "statement", edition)
}

// Void is the id of the statement that voids it.
func (r *Record) Void(org id.Org, edition int64) uuid.UUID { return r.named(org, "void", edition) }

func (r *Record) named(org id.Org, what string, edition int64) uuid.UUID {
	return uuid.NewSHA1(uuid.UUID(org), []byte(what+" "+r.String()+" "+strconv.FormatInt(edition, 10)))
}

const columns = `connection_id, id, kind, object_id, person_id, edition, sending, told, stands, store, said, trouble, job_id, changed_at`

func scan(row pgx.CollectableRow) (r Record, err error) {
	err = row.Scan(&r.Connection, &r.ID, &r.Object.Kind, &r.Object.ID, &r.Object.Person, &r.Edition, &r.Sending, &r.Told, &r.Stands, &r.Store, &r.Said,
		&r.Trouble, &r.Job, &r.ChangedAt)
	return r, err
}

// Follow has every record store of the organization told, with the commit, that something changed. What
// is told is read when it is. It rides connection_pkey and record_statement_pkey.
func Follow(ctx context.Context, tx *tenant.Tx, o Object, now time.Time) error {
	which := uuid.NewSHA1(uuid.UUID(tx.Org), []byte(string(o.Kind)+" "+o.ID.String()+" "+o.Person.String()))
	stores, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Connection], `
		SELECT id FROM connection WHERE org_id = $1 AND kind = 'lms' AND provider = 'xapi' AND deleted_at IS NULL ORDER BY id`, tx.Org)
	for _, store := range stores {
		tx.Touch("record_statement", store, which)
		r, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(Key{store, which}), `
			INSERT INTO record_statement (org_id, connection_id, id, kind, object_id, person_id, edition, sending, told, stands, store, said, trouble,
				changed_at, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, 1, 0, 0, false, '', '', '', $7, $7)
			ON CONFLICT (org_id, connection_id, id) DO UPDATE SET edition = record_statement.edition + 1, changed_at = EXCLUDED.changed_at
			RETURNING `+columns, tx.Org, store, which, o.Kind, o.ID, o.Person, now)
		if err != nil {
			return err
		}
		if err := r.send(ctx, tx, now); err != nil {
			return err
		}
	}
	return err
}

// send queues the telling, unless it is: a job that ends looks at the row first, which is locked.
func (r *Record) send(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if queued, err := job.Waits(ctx, tx, r.Job); err != nil || queued {
		return err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.StatementSend, ResourceKind: "connection", ResourceID: r.Connection.String(), Connection: r.Connection, Scope: scope.ResultsRead,
		CreatedBy: "platform", CreatedAt: now,
	}, r.Key)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE record_statement SET job_id = $4, trouble = '' WHERE org_id = $1 AND connection_id = $2 AND id = $3`, tx.Org, r.Connection, r.ID, j.ID)
	return err
}

// ResumeSome takes up some of what is stopped of a connection, and says whether there may be more. It
// rides record_statement_untold.
func ResumeSome(ctx context.Context, tx *tenant.Tx, c id.Connection, now time.Time) (bool, error) {
	stopped, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM record_statement
		WHERE org_id = $1 AND connection_id = $2 AND edition > told AND trouble <> '' ORDER BY changed_at LIMIT $3 FOR UPDATE`, tx.Org, c, mostOfOne)
	for _, r := range stopped {
		tx.Touch("record_statement", r.Connection, r.ID)
		if err := r.send(ctx, tx, now); err != nil {
			return false, err
		}
	}
	return len(stopped) == mostOfOne, err
}

// Get finds what a store is told of an object. It rides record_statement_pkey. The error is
// errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, k Key) (Record, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(k), `
		SELECT `+columns+` FROM record_statement WHERE org_id = $1 AND connection_id = $2 AND id = $3`, org, k.Connection, k.ID)
}

// MaxUntold bounds what Untold answers.
const MaxUntold = 100

// Untold is what a connection's store was not told yet, what changed last first. It rides
// record_statement_untold.
func Untold(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection) ([]Record, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM record_statement
		WHERE org_id = $1 AND connection_id = $2 AND edition > told ORDER BY changed_at DESC LIMIT $3`, org, c, MaxUntold)
}

// Claim notes that the newest edition is about to be told, unless one is, and what its statement says.
func Claim(ctx context.Context, tx *tenant.Tx, k Key, said string) error {
	tx.Touch("record_statement", k.Connection, k.ID)
	_, err := tx.Exec(ctx, `
		UPDATE record_statement SET sending = CASE sending WHEN 0 THEN edition ELSE sending END, said = $4
		WHERE org_id = $1 AND connection_id = $2 AND id = $3 AND edition > told`, tx.Org, k.Connection, k.ID, said)
	return err
}

// Settle notes that a store was told what was read of an object, and whether a statement stands there
// now. It answers false where there is more to tell. Of somebody who is erased nothing is left then.
func Settle(ctx context.Context, tx *tenant.Tx, r Record, stands bool, store string) (bool, error) {
	tx.Touch("record_statement", r.Connection, r.ID)
	told := r.Edition
	if r.Sending > 0 {
		told = r.Sending
	}
	now, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(r.Key), `
		UPDATE record_statement SET told = $4, sending = 0, stands = $5, store = $6, trouble = '', job_id = CASE WHEN edition > $4 THEN job_id END
		WHERE org_id = $1 AND connection_id = $2 AND id = $3 RETURNING `+columns, tx.Org, r.Connection, r.ID, told, stands, store)
	switch {
	case errdefs.IsNotFound(err, Noun):
		return true, nil // the connection is gone
	case err != nil, now.Edition > now.Told:
		return false, err
	case now.Object.Person.IsZero() && !now.Stands:
		return true, Forget(ctx, tx, r.Key)
	}
	return true, nil
}

// Same notes that an edition says what stands already: it is none then, as nothing was sent of it. It
// answers false where there is a later one.
func Same(ctx context.Context, tx *tenant.Tx, r Record) (bool, error) {
	tx.Touch("record_statement", r.Connection, r.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE record_statement SET edition = told, trouble = '', job_id = NULL
		WHERE org_id = $1 AND connection_id = $2 AND id = $3 AND edition = $4 AND sending = 0 AND stands`,
		tx.Org, r.Connection, r.ID, r.Edition)
	return err == nil && tag.RowsAffected() > 0, err
}

// Stop notes why an edition is not told. It answers false where there is a later one, which may be.
func Stop(ctx context.Context, tx *tenant.Tx, r Record, why string) (bool, error) {
	tx.Touch("record_statement", r.Connection, r.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE record_statement SET trouble = $5, job_id = NULL WHERE org_id = $1 AND connection_id = $2 AND id = $3 AND edition = $4`,
		tx.Org, r.Connection, r.ID, r.Edition, why)
	return err == nil && tag.RowsAffected() > 0, err
}

// Abandon notes why something is told by a job no more. Of somebody who is erased, another job tries on.
func Abandon(ctx context.Context, tx *tenant.Tx, k Key, by id.Job, why string, now time.Time) error {
	tx.Touch("record_statement", k.Connection, k.ID)
	r, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(k), `
		UPDATE record_statement SET trouble = $5, job_id = NULL WHERE org_id = $1 AND connection_id = $2 AND id = $3 AND job_id = $4
		RETURNING `+columns, tx.Org, k.Connection, k.ID, by, why)
	switch {
	case errdefs.IsNotFound(err, Noun):
		return nil
	case err != nil, !r.Object.Person.IsZero():
		return err
	}
	return r.send(ctx, tx, now)
}

// Forget lets go what a store was told of an object.
func Forget(ctx context.Context, tx *tenant.Tx, k Key) error {
	tx.Touch("record_statement", k.Connection, k.ID)
	_, err := tx.Exec(ctx, `DELETE FROM record_statement WHERE org_id = $1 AND connection_id = $2 AND id = $3`, tx.Org, k.Connection, k.ID)
	return err
}

// ForgetPerson takes somebody who is erased out of what stores were told, as much of it as one commit
// should have, and answers how much that was. What a store has of them, or may have, is voided; the
// rest is let go. It rides record_statement_by_person.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, who id.Person) (int, error) {
	all, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM record_statement WHERE org_id = $1 AND person_id = $2 AND person_id IS NOT NULL
		ORDER BY connection_id, id LIMIT $3 FOR UPDATE`, tx.Org, who, mostOfOne)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	var now time.Time
	if err := tx.QueryRow(ctx, `SELECT COALESCE(max(erased_at), max(updated_at), $3) FROM person WHERE org_id = $1 AND id = $2`, tx.Org, who, all[0].ChangedAt).Scan(&now); err != nil {
		return 0, err
	}
	for _, r := range all {
		if !r.Stands && r.Sending == 0 {
			if err := Forget(ctx, tx, r.Key); err != nil {
				return 0, err
			}
			continue
		}
		tx.Touch("record_statement", r.Connection, r.ID)
		if _, err := tx.Exec(ctx, `
			UPDATE record_statement SET person_id = NULL, said = '', edition = edition + 1, changed_at = $4 WHERE org_id = $1 AND connection_id = $2 AND id = $3`,
			tx.Org, r.Connection, r.ID, now); err != nil {
			return 0, err
		}
		if err := r.send(ctx, tx, now); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// ForgetConnection lets go what the store of a connection that is deleted was told, as much of it as
// one commit should have; the rest goes with Sweep. It rides record_statement_pkey.
func ForgetConnection(ctx context.Context, tx *tenant.Tx, c id.Connection) error {
	gone, err := tenant.AllIn(ctx, tx, pgx.RowTo[uuid.UUID], `
		DELETE FROM record_statement WHERE org_id = $1 AND connection_id = $2 AND id IN (
			SELECT id FROM record_statement WHERE org_id = $1 AND connection_id = $2 LIMIT $3)
		RETURNING id`, tx.Org, c, mostForgotten)
	for _, which := range gone {
		tx.Touch("record_statement", c, which)
	}
	return err
}
