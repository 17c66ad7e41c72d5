package subject

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const columns = `id, portal_id, title, kind, state, place, definition, edition, draft_version, published_version, published_at,
	created_at, updated_at, archived_at`

func scan(row pgx.CollectableRow) (Subject, error) { return pgx.RowToStructByPos[Subject](row) }

const selectOne = `SELECT ` + columns + ` FROM subject WHERE org_id = $1 AND id = $2`

// Get finds a subject, an archived one too. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Subject) (Subject, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(s), selectOne, org, s)
}

// Find finds a subject in a transaction, an archived one too. The error is errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, s id.Subject) (Subject, error) {
	return find(ctx, tx, selectOne, s)
}

// Lock is Find for a transaction that will change the subject: nobody else does
// until the commit. The error is errdefs.NotFound or errdefs.Archived.
func Lock(ctx context.Context, tx *tenant.Tx, s id.Subject) (Subject, error) {
	found, err := find(ctx, tx, selectOne+` FOR UPDATE`, s)
	if err == nil && found.State == Archived {
		err = Noun.Archived(s)
	}
	return found, err
}

func find(ctx context.Context, tx *tenant.Tx, sql string, s id.Subject) (Subject, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(s), sql, tx.Org, s)
}

// OfPortal lists the subjects of a portal that are not archived, in their order.
// It rides subject_by_portal.
func OfPortal(ctx context.Context, tx *tenant.Tx, p id.Portal) ([]Subject, error) {
	return tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM subject WHERE org_id = $1 AND portal_id = $2 AND archived_at IS NULL ORDER BY place, id`, tx.Org, p)
}

const versionColumns = `version, base_version, content, changed_sections, change_note, saved_at, saved_by, published_at, published_by`

// FindVersion finds a content that was saved. The error is errdefs.NotFound.
func FindVersion(ctx context.Context, tx *tenant.Tx, s id.Subject, version int64) (Version, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+versionColumns+` FROM subject_version WHERE org_id = $1 AND subject_id = $2 AND version = $3`, tx.Org, s, version)
	if err != nil {
		return Version{}, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Version])
	if errors.Is(err, pgx.ErrNoRows) {
		err = errdefs.NotFound{Noun: VersionNoun, ID: strconv.FormatInt(version, 10)}
	}
	return v, err
}
