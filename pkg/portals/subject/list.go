package subject

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Summary is a subject with what a list shows of its portal and its draft.
type Summary struct {
	Subject
	// Languages are the portal's, and DefaultLanguage is one of them.
	Languages       []string
	DefaultLanguage string
	// Questions counts those of the draft.
	Questions int64
}

// summaryColumns are those of a Summary, of subject.
const summaryColumns = columns + `,
	(SELECT p.definition->'languages' FROM portal p WHERE p.org_id = subject.org_id AND p.id = subject.portal_id),
	(SELECT p.definition->>'defaultLanguage' FROM portal p WHERE p.org_id = subject.org_id AND p.id = subject.portal_id),
	(SELECT CASE jsonb_typeof(v.content->'questions') WHEN 'array' THEN jsonb_array_length(v.content->'questions') ELSE 0 END
		FROM subject_version v
		WHERE v.org_id = subject.org_id AND v.subject_id = subject.id AND v.version = subject.draft_version)`

func scanSummary(row pgx.CollectableRow) (Summary, error) { return pgx.RowToStructByPos[Summary](row) }

const selectSummary = `SELECT ` + summaryColumns + ` FROM subject WHERE org_id = $1 AND id = $2`

// GetSummary finds a subject, an archived one too. The error is errdefs.NotFound.
func GetSummary(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Subject) (Summary, error) {
	found, err := tenant.All(ctx, t, org, scanSummary, selectSummary, org, s)
	return oneSummary(s, found, err)
}

// Summarize is GetSummary in a transaction.
func Summarize(ctx context.Context, tx *tenant.Tx, s id.Subject) (Summary, error) {
	found, err := tenant.AllIn(ctx, tx, scanSummary, selectSummary, tx.Org, s)
	return oneSummary(s, found, err)
}

func oneSummary(s id.Subject, found []Summary, err error) (Summary, error) {
	if err == nil && len(found) == 0 {
		err = Noun.NotFound(s)
	}
	if err != nil {
		return Summary{}, err
	}
	return found[0], nil
}

// Position is where a subject stands in the list of a portal's.
type Position struct {
	Place int64      `json:"p"`
	ID    id.Subject `json:"i"`
}

// List is a page of the subjects of a portal that are not archived, in their
// order, after one of them; the zero position for the first page. It rides
// subject_by_portal.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal, after Position, limit int) ([]Summary, error) {
	return tenant.All(ctx, t, org, scanSummary, `
		SELECT `+summaryColumns+` FROM subject
		WHERE org_id = $1 AND portal_id = $2 AND archived_at IS NULL AND ($4::UUID IS NULL OR (place, id) > ($3, $4))
		ORDER BY place, id LIMIT $5`, org, p, after.Place, after.ID, limit)
}

// Versions is a page of a subject's versions, newest first, before one of them;
// zero for the first page. It rides subject_version_pkey.
func Versions(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Subject, before int64, limit int) ([]Version, error) {
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Version], `
		SELECT version, base_version, '{}'::JSONB, changed_sections, change_note, saved_at, saved_by, published_at, published_by
		FROM subject_version
		WHERE org_id = $1 AND subject_id = $2 AND ($3::BIGINT = 0 OR version < $3) ORDER BY version DESC LIMIT $4`,
		org, s, before, limit)
}

// GetContent finds a subject with a version of its content, the draft for zero.
// The error is errdefs.NotFound.
func GetContent(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Subject, version int64) (Subject, Version, error) {
	var (
		subjects []Subject
		versions []Version
	)
	// One trip: the version is that of the subject as it was just then.
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			subjects, err = pgx.CollectRows(rows, scan)
			return err
		}, selectOne, org, s)
		r.Query(func(rows pgx.Rows) (err error) {
			versions, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Version])
			return err
		}, `
			SELECT `+versionColumns+` FROM subject_version WHERE org_id = $1 AND subject_id = $2 AND version =
				CASE WHEN $3::BIGINT > 0 THEN $3 ELSE (SELECT draft_version FROM subject WHERE org_id = $1 AND id = $2) END`, org, s, version)
	})
	switch {
	case err != nil:
		return Subject{}, Version{}, err
	case len(subjects) == 0:
		return Subject{}, Version{}, Noun.NotFound(s)
	case len(versions) == 0:
		return subjects[0], Version{}, errdefs.NotFound{Noun: VersionNoun, ID: strconv.FormatInt(version, 10)}
	}
	return subjects[0], versions[0], nil
}
